"""Reading what a branch has recorded: its log records by kind, its name, its tools. Duck-typed; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from ._format import clip

__all__ = ("Record", "is_branch", "mapping", "number", "records", "subject", "tool_names", "words")

Record = Mapping[str, Any]


def is_branch(value: object) -> bool:
    """Tell whether `value` keeps logs as a branch does."""
    return hasattr(value, "logs") and not isinstance(value, type | Mapping)


def records(branch: Any) -> list[Record]:
    """Return the log records that have a kind, oldest first; other log entries are passed over."""
    found: list[Record] = []
    for log in cast("Iterable[Any]", branch.logs):
        content = mapping(log) or mapping(getattr(log, "content", None))
        if "kind" in content:
            found.append(content)
    return found


def subject(branch: Any) -> str:
    """Return the branch's name, "" where it has none: an id would change from run to run."""
    return words(getattr(branch, "name", None))


def tool_names(source: Any) -> tuple[str, ...]:
    """Return the names of the tools in a branch, a list of tools, functions or names, or one of these."""
    held: Any = getattr(source, "tools", None) if is_branch(source) else source
    if held is None or isinstance(held, bool):
        return ()
    if isinstance(held, Mapping):
        return tuple(words(name) for name in cast("Mapping[Any, Any]", held))
    items = cast("Iterable[Any]", held) if isinstance(held, list | tuple | set) else (held,)
    return tuple(_tool_name(item) for item in items)


def _tool_name(tool: Any) -> str:
    if isinstance(tool, str):
        return clip(tool, 200)
    return words(getattr(tool, "function", None) or getattr(tool, "__name__", None) or type(tool).__name__)


def words(value: object, limit: int = 200) -> str:
    """Return a name or short text from a record as a string, "" for None, cut at `limit`."""
    return "" if value is None else clip(value if isinstance(value, str) else str(value), limit)


def mapping(value: object) -> Record:
    """Return `value` where it is a mapping, else an empty one."""
    return cast("Record", value) if isinstance(value, Mapping) else {}


def number(value: object) -> float | None:
    """Return a finite number from a record, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if value == value and abs(value) < 1e15 else None
