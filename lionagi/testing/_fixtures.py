"""The fixtures of the pytest plugin; ``lionagi.testing.pytest_plugin`` makes them known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lionagi.session.branch import Branch

from ._branch import TestBranch
from ._endpoint import ScriptedEndpoint
from ._legacy import LionAGIMockFactory
from .helpers import AsyncTestHelpers, TestDataHelpers, ValidationHelpers
from .loaders import TestDataLoader


@pytest.fixture(name="mock_factory")
def _mock_factory() -> type[LionAGIMockFactory]:
    """The class LionAGIMockFactory."""
    return LionAGIMockFactory


@pytest.fixture(name="async_helpers")
def _async_helpers() -> type[AsyncTestHelpers]:
    """The class AsyncTestHelpers."""
    return AsyncTestHelpers


@pytest.fixture(name="validation_helpers")
def _validation_helpers() -> type[ValidationHelpers]:
    """The class ValidationHelpers."""
    return ValidationHelpers


@pytest.fixture(name="test_data_helpers")
def _test_data_helpers() -> type[TestDataHelpers]:
    """The class TestDataHelpers."""
    return TestDataHelpers


@pytest.fixture(name="test_data_loader")
def _test_data_loader() -> TestDataLoader:
    """A loader of the package's own test data."""
    return TestDataLoader()


@pytest.fixture(name="sample_conversation_data")
def _sample_conversation_data(test_data_loader: TestDataLoader) -> dict[str, Any]:
    """The sample conversation "basic_chat"."""
    return test_data_loader.get_conversation_data("basic_chat")


@pytest.fixture(name="sample_api_responses")
def _sample_api_responses(test_data_loader: TestDataLoader) -> dict[str, Any]:
    """All sample API responses by name."""
    return test_data_loader.load_json("api_responses")


@pytest.fixture(name="sample_error_scenarios")
def _sample_error_scenarios(test_data_loader: TestDataLoader) -> dict[str, Any]:
    """All sample errors by name."""
    return test_data_loader.load_json("error_scenarios")


@pytest.fixture(name="make_mocked_branch")
def _make_mocked_branch() -> Callable[..., Branch]:
    """``LionAGIMockFactory.create_mocked_branch``."""
    return LionAGIMockFactory.create_mocked_branch


@pytest.fixture(name="mocked_branch")
def _mocked_branch() -> Branch:
    """A mocked branch that answers "mocked_response_string"."""
    return LionAGIMockFactory.create_mocked_branch()


@pytest.fixture(name="mocked_branch_with_custom_response")
def _mocked_branch_with_custom_response() -> Callable[..., Branch]:
    """A function ``(response="custom test response", **keywords)`` that makes a mocked branch."""

    def make(response: Any = "custom test response", **keywords: Any) -> Branch:
        return LionAGIMockFactory.create_mocked_branch(response=response, **keywords)

    return make


@pytest.fixture(name="mocked_error_branch")
def _mocked_error_branch() -> Branch:
    """A mocked branch whose every call fails with "Mocked API Error"."""
    return LionAGIMockFactory.create_mocked_branch(response=LionAGIMockFactory.create_error_response_mock())


@pytest.fixture(name="test_messages")
def _test_messages() -> list[dict[str, Any]]:
    """Three messages from the user."""
    return TestDataHelpers.create_test_messages()


@pytest.fixture(name="test_payload")
def _test_payload(test_messages: list[dict[str, Any]]) -> dict[str, Any]:
    """A chat payload that holds ``test_messages``."""
    return TestDataHelpers.create_test_payload(messages=test_messages)


@pytest.fixture(name="scripted_branch_factory")
def _scripted_branch_factory() -> Callable[..., Branch]:
    """``TestBranch.from_responses``."""
    return TestBranch.from_responses


@pytest.fixture(name="scripted_branch")
def _scripted_branch() -> Branch:
    """A scripted branch with one answer, the text "mocked doc response"."""
    return TestBranch.from_text("mocked doc response")


@pytest.fixture(name="scripted_endpoint_for")
def _scripted_endpoint_for() -> Callable[[Branch], ScriptedEndpoint]:
    """``TestBranch.scripted``."""
    return TestBranch.scripted


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


@pytest.fixture(name="performance_benchmark", scope="session")
def _performance_benchmark() -> _Benchmark:
    """What notes figures over a whole session: ``record(name, duration, memory_usage=None)``, ``get_all()``."""
    return _Benchmark()
