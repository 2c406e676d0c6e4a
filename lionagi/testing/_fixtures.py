"""The fixtures of the pytest plugin; ``lionagi.testing.pytest_plugin`` makes them known."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from lionagi.session.branch import Branch

from ._branch import TestBranch
from ._endpoint import ScriptedEndpoint
from ._guard import ModelGuard
from ._legacy import LionAGIMockFactory
from ._pytest_hooks import block_of, guard_of
from ._record import ScriptBlock
from .helpers import AsyncTestHelpers, TestDataHelpers, ValidationHelpers
from .loaders import TestDataLoader

__all__ = (
    "async_helpers",
    "lionagi_script",
    "make_mocked_branch",
    "mock_factory",
    "mocked_branch",
    "mocked_branch_with_custom_response",
    "mocked_error_branch",
    "no_real_models",
    "performance_benchmark",
    "sample_api_responses",
    "sample_conversation_data",
    "sample_error_scenarios",
    "scripted_branch",
    "scripted_branch_factory",
    "scripted_endpoint_for",
    "test_data_helpers",
    "test_data_loader",
    "test_messages",
    "test_payload",
    "validation_helpers",
)


@pytest.fixture
def mock_factory() -> type[LionAGIMockFactory]:
    """The class LionAGIMockFactory."""
    return LionAGIMockFactory


@pytest.fixture
def async_helpers() -> type[AsyncTestHelpers]:
    """The class AsyncTestHelpers."""
    return AsyncTestHelpers


@pytest.fixture
def validation_helpers() -> type[ValidationHelpers]:
    """The class ValidationHelpers."""
    return ValidationHelpers


@pytest.fixture
def test_data_helpers() -> type[TestDataHelpers]:
    """The class TestDataHelpers."""
    return TestDataHelpers


@pytest.fixture
def test_data_loader() -> TestDataLoader:
    """A loader of the package's own test data."""
    return TestDataLoader()


@pytest.fixture
def sample_conversation_data(test_data_loader: TestDataLoader) -> dict[str, Any]:
    """The sample conversation "basic_chat"."""
    return test_data_loader.get_conversation_data("basic_chat")


@pytest.fixture
def sample_api_responses(test_data_loader: TestDataLoader) -> dict[str, Any]:
    """All sample API responses by name."""
    return test_data_loader.load_json("api_responses")


@pytest.fixture
def sample_error_scenarios(test_data_loader: TestDataLoader) -> dict[str, Any]:
    """All sample errors by name."""
    return test_data_loader.load_json("error_scenarios")


@pytest.fixture
def make_mocked_branch() -> Callable[..., Branch]:
    """``LionAGIMockFactory.create_mocked_branch``."""
    return LionAGIMockFactory.create_mocked_branch


@pytest.fixture
def mocked_branch() -> Branch:
    """A mocked branch that answers "mocked_response_string"."""
    return LionAGIMockFactory.create_mocked_branch()


@pytest.fixture
def mocked_branch_with_custom_response() -> Callable[..., Branch]:
    """A function ``(response="custom test response", **keywords)`` that makes a mocked branch."""

    def make(response: Any = "custom test response", **keywords: Any) -> Branch:
        return LionAGIMockFactory.create_mocked_branch(response=response, **keywords)

    return make


@pytest.fixture
def mocked_error_branch() -> Branch:
    """A mocked branch whose every call fails with "Mocked API Error"."""
    return LionAGIMockFactory.create_mocked_branch(response=LionAGIMockFactory.create_error_response_mock())


@pytest.fixture
def test_messages() -> list[dict[str, Any]]:
    """Three messages from the user."""
    return TestDataHelpers.create_test_messages()


@pytest.fixture
def test_payload(test_messages: list[dict[str, Any]]) -> dict[str, Any]:
    """A chat payload that holds ``test_messages``."""
    return TestDataHelpers.create_test_payload(messages=test_messages)


@pytest.fixture
def scripted_branch_factory() -> Callable[..., Branch]:
    """``TestBranch.from_responses``."""
    return TestBranch.from_responses


@pytest.fixture
def scripted_branch() -> Branch:
    """A scripted branch with one answer, the text "mocked doc response"."""
    return TestBranch.from_text("mocked doc response")


@pytest.fixture
def scripted_endpoint_for() -> Callable[[Branch], ScriptedEndpoint]:
    """``TestBranch.scripted``."""
    return TestBranch.scripted


@pytest.fixture
def lionagi_script(request: pytest.FixtureRequest) -> ScriptBlock | None:
    """The block in which the test's calls are recorded or replayed, as its marker says; see ``record``.

    Without the marker the file is ``scripts/<test file>/<test>.yaml`` beside the test file.
    """
    return block_of(request.node)


@pytest.fixture
def no_real_models(request: pytest.FixtureRequest) -> Generator[ModelGuard]:
    """Makes every real model call of the test an error that names the test, also where it is swallowed."""
    with guard_of(request.node) as guard:
        yield guard


class _Benchmark:
    """Figures that the tests of a session note; nothing is judged or written."""

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []

    def record(self, name: str, duration: float, memory_usage: float | None = None) -> None:
        """Note a duration in seconds and, where it was measured, a memory usage."""
        self._records.append({"name": name, "duration": duration, "memory_usage": memory_usage})

    def get_all(self) -> list[dict[str, Any]]:
        """Return what was noted so far, in order."""
        return list(self._records)


@pytest.fixture(scope="session")
def performance_benchmark() -> _Benchmark:
    """What notes figures over a whole session: ``record(name, duration, memory_usage=None)``, ``get_all()``."""
    return _Benchmark()
