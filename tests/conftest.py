"""Every test runs without network, with a clean environment, an empty HOME and an empty working directory."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.guard import GUARD

pytest_plugins = ("pytester", "support.fixtures_server", "support.roads")

ROOT = Path(__file__).resolve().parents[1]
STRAY_PREFIXES = ("LIONAGI_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "XDG_", "OTEL_")
STRAY_NAMES = ("PYTHONPATH", "PYTHONSTARTUP", "COLUMNS", "NO_COLOR", "FORCE_COLOR")
STRAY_SUFFIXES = ("_API_KEY", "_PROXY", "_proxy")
COUNTER = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """Keep hypothesis from writing its database into the working directory, and asyncio from making a stray loop.

    Where no loop was ever set, pytest-asyncio's look for one makes it; nobody closes it, and the warning about that
    fails whichever test happens to run when it is collected.
    """
    asyncio.set_event_loop(None)
    import hypothesis
    from hypothesis.configuration import set_hypothesis_home_dir

    set_hypothesis_home_dir(Path(tempfile.gettempdir()) / f"lionagi-hypothesis-{os.getuid()}")
    hypothesis.settings.register_profile("lionagi", deadline=None, database=None)
    hypothesis.settings.load_profile("lionagi")


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory of this run; numbered folders in it stand in for HOME and the working directory."""
    path = tmp_path_factory.mktemp("scratch")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def model_cache(scratch: Path) -> Path:
    """The cache directory that all live tests of a run share, so that the model file is put together once."""
    path = scratch / "cache"
    path.mkdir()
    return path


@pytest.fixture(autouse=True)
def clean_surroundings(request: pytest.FixtureRequest, scratch: Path) -> Iterator[None]:
    """Give the test an empty HOME and working directory and an environment without keys; fail it if it litters."""
    place = scratch / str(next(COUNTER))
    home, here = place / "home", place / "cwd"
    home.mkdir(parents=True)
    here.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(STRAY_PREFIXES) or name in STRAY_NAMES or name.endswith(STRAY_SUFFIXES):
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        if request.node.get_closest_marker("live") is not None:
            patch.setenv("XDG_CACHE_HOME", str(request.getfixturevalue("model_cache")))
        patch.chdir(here)
        yield
    litter = sorted(str(path.relative_to(here)) for path in here.rglob("*"))
    shutil.rmtree(place, ignore_errors=True)
    assert not litter, f"written into the working directory: {litter}"


@pytest.fixture(autouse=True)
def network_guard(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse every socket and name look-up beyond this machine, and fail the test even if the error was swallowed."""
    GUARD.begin(request.node.nodeid)
    yield
    refused = GUARD.end()
    assert not refused, f"reached for the network: {refused}"


@pytest.fixture
def blocked_sockets(network_guard: None) -> Iterator[None]:
    """Refuse loopback as well; sockets of the AF_UNIX family still work."""
    GUARD.loopback = False
    yield
    GUARD.loopback = True
