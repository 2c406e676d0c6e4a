"""The hooks of the pytest plugin: the marker ``lionagi_script``, the options, the guard against real models."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

import pytest

from lionagi._errors import ConfigurationError

from ._guard import ModelGuard
from ._record import RECORD_MODES, RecordMode, ScriptBlock
from ._recording import Match

__all__ = (
    "block_of",
    "guard_of",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_call",
    "pytest_runtest_protocol",
)

_MARKER = "lionagi_script"
_HELP = (
    f"{_MARKER}(path=None, mode=None, match='prompt', mask=()): record the test's model calls in a file beside it "
    "where there is none yet, and else replay it (mode 'auto'); see lionagi.testing.record"
)
_BLOCK = pytest.StashKey[ScriptBlock | None]()
_GUARD = pytest.StashKey[ModelGuard]()
_WRITTEN = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--lionagi-record``, ``--lionagi-offline`` and the ini option ``lionagi_offline``."""
    group = parser.getgroup("lionagi", "language models in tests")
    group.addoption("--lionagi-record", choices=RECORD_MODES, help=f"the mode of tests marked {_MARKER}")
    group.addoption("--lionagi-offline", action="store_true", help="make every real model call an error")
    parser.addini("lionagi_offline", "make every real model call in a test an error", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", _HELP)
    config.stash[_WRITTEN] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Guard the whole test, its fixtures included, where an option says so."""
    if not (item.config.getoption("lionagi_offline", False) or item.config.getini("lionagi_offline")):
        return (yield)
    with guard_of(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run the test in its block; one that passes although it asked a real model under guard fails."""
    block = block_of(item)
    if block is None:
        result = yield
    else:
        _claim(item, block)
        with block:
            result = yield
    if (guard := item.stash.get(_GUARD, None)) is not None:
        guard.check()
    return result


def guard_of(item: pytest.Item) -> ModelGuard:
    """Return the test's guard; it is not yet in force."""
    return item.stash.setdefault(_GUARD, ModelGuard(item.nodeid))


def block_of(item: pytest.Item) -> ScriptBlock | None:
    """Return the block that the test's marker or its fixture asks for, None where there is neither."""
    if _BLOCK not in item.stash:
        marker = item.get_closest_marker(_MARKER)
        asked = marker is not None or _MARKER in getattr(item, "fixturenames", ())
        item.stash[_BLOCK] = _make_block(item, *(marker.args if marker else ()), **(marker.kwargs if marker else {}))
        if not asked:
            item.stash[_BLOCK] = None
    return item.stash[_BLOCK]


def _make_block(
    item: pytest.Item,
    path: str | None = None,
    mode: RecordMode | None = None,
    *,
    match: Match = "prompt",
    mask: tuple[str, ...] = (),
) -> ScriptBlock:
    if path is None:
        path = f"scripts/{item.path.stem}/{re.sub(r'[^0-9A-Za-z_.-]+', '_', item.name)}.yaml"
    chosen = mode or item.config.getoption("lionagi_record", None)
    return ScriptBlock(item.path.parent / path, chosen, "auto", match, mask)


def _claim(item: pytest.Item, block: ScriptBlock) -> None:
    """See to it that no two tests of a run record into one file, where only the last one's calls would remain."""
    if block.planned() == "record":
        writer = item.config.stash[_WRITTEN].setdefault(str(block.path), item.nodeid)
        if writer != item.nodeid:
            raise ConfigurationError(
                f"{item.nodeid} and {writer} both record into {str(block.path)!r}; give each its own file"
            )
