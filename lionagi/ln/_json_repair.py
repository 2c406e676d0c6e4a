"""Repairing what is almost JSON; public through :mod:`lionagi.ln.jsons`."""

from __future__ import annotations

import re
from typing import Any, cast

from lionagi._errors import ParseError, PrimitiveJSONError, short_repr

from ._json_read import loads_json

__all__ = ("REPAIR_MAX_BYTES", "REPAIR_MAX_DEPTH", "fuzzy_json")

REPAIR_MAX_BYTES = 256 * 1024
REPAIR_MAX_DEPTH = 200


def fuzzy_json(text: str, /) -> dict[str, Any] | list[Any]:
    """Return the object or array that a text means: single quotes, trailing commas, bare keys, missing ends.

    Valid JSON is read at any size; repair is tried up to 256 KiB and 200 levels, within a budget of steps that grows
    with the text's length.

    Raises:
        TypeError: ``text`` is no str.
        ParseError: It is empty, a bare number, string, bool or null (then also a TypeError), or beyond repair.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"fuzzy_json takes a str, not {short_repr(text)}")
    if not text.strip():
        raise ParseError("the text is empty, where a JSON object or array was expected")
    try:
        value = loads_json(text)
    except ParseError:
        value = _repair(text)
    if isinstance(value, dict | list):
        return cast("dict[str, Any] | list[Any]", value)
    raise PrimitiveJSONError(f"a JSON object or array was expected, not the primitive {short_repr(value)}")


def _repair(text: str) -> Any:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > REPAIR_MAX_BYTES:
        raise ParseError(
            f"Invalid JSON string of {size} bytes, too large to repair (limit {REPAIR_MAX_BYTES}); "
            f"it begins {short_repr(text[:80])}"
        )
    if _bracket_depth(text) > REPAIR_MAX_DEPTH:
        raise ParseError(f"Invalid JSON string, nested too deeply to repair (limit {REPAIR_MAX_DEPTH} levels)")
    from json_repair import repair_json

    source = _MeteredText(text)
    source.meter = _Meter(20_000 + 8 * len(text))
    try:
        repaired = repair_json(source, skip_json_loads=True)
    except (_OverBudget, ValueError, RecursionError, IndexError) as error:
        raise ParseError(f"Invalid JSON string, beyond repair: {short_repr(text)}", cause=error) from error
    if not repaired.strip():
        raise ParseError(f"Invalid JSON string, nothing in it looks like an object or array: {short_repr(text)}")
    return loads_json(repaired)


def _bracket_depth(text: str) -> int:
    depth = deepest = 0
    for mark in re.findall(r"[{}\[\]]", text):
        depth = depth + 1 if mark in "{[" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest


class _OverBudget(Exception):
    """The repair took more steps than its budget; deliberately no ValueError, which the library would swallow."""


class _Meter:
    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise _OverBudget


class _MeteredText(str):
    """Text that counts how often it is looked at: the repair library takes cubic time on hostile text."""

    meter: _Meter

    def __getitem__(self, key: Any) -> str:
        meter = self.meter
        found = str.__getitem__(self, key)
        if key.__class__ is int:
            meter.left -= 1
            if meter.left < 0:
                raise _OverBudget
            return found
        meter.spend(2 + len(found) // 16)
        return self._same_meter(found)

    def __add__(self, other: str) -> str:
        self.meter.spend(2 + len(self) // 16)
        return self._same_meter(str.__add__(self, other))

    def find(self, *args: Any) -> int:
        start = args[1] if len(args) > 1 else 0
        position = str.find(self, *args)
        self.meter.spend(1 + ((position if position >= 0 else len(self)) - start) // 64)
        return position

    def _same_meter(self, text: str) -> _MeteredText:
        part = _MeteredText(text)
        part.meter = self.meter
        return part
