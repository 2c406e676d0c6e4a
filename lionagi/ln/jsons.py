"""Reading and writing JSON, also as models write it.

Every reader here is total and takes linear time: whatever the text, it returns a value or raises a ParseError, never a
RecursionError. Strings that come out hold no lone surrogates, which no file or request could carry. Not a number and
infinities are refused, spelled out or by overflow, since they are not JSON and no provider takes them back.
"""

from __future__ import annotations

from typing import Any

from lionagi._errors import ParseError
from lionagi.ln.patterns import late_pattern

from ._json_read import TOKEN, clean_surrogates, decode_at, loads_json
from ._json_repair import REPAIR_MAX_BYTES, REPAIR_MAX_DEPTH, fuzzy_json
from ._json_write import json_dumpb, json_dumps

__all__ = (
    "REPAIR_MAX_BYTES",
    "REPAIR_MAX_DEPTH",
    "clean_surrogates",
    "extract_json",
    "fuzzy_json",
    "json_dumpb",
    "json_dumps",
    "loads_json",
)

_FENCE = late_pattern(r"```[jJ][sS][oO][nN][5cC]?\s*")
_MOST_BLOCKS = 1000
_MOST_REGIONS = 10_000
_MOST_READS_PAST_A_FENCE = 32
# A square bracket opens a value in prose only when an object follows: "[1]" is a citation.
_OPENING = late_pattern(r"\{|\[\s*\{")


def extract_json(text: str | list[str], /, *, fuzzy_parse: bool = False, return_one_if_single: bool = True) -> Any:
    """Find JSON in a model's answer: the whole text, else each fenced json block (the first
    1,000), else the first object in prose.

    Args:
        text: The answer, or its parts, which are joined by newlines.
        fuzzy_parse: Where nothing is valid JSON, repair the blocks and then the objects in prose.
        return_one_if_single: Return a single value itself instead of a list of one.

    Returns:
        The value, a list of values when there are several blocks, or ``[]`` when there is none. A text that is one
        JSON value gives that value, also a number or a string. An object that breaks off is never replaced by a
        smaller one inside it.
    """
    source = clean_surrogates("\n".join(text) if isinstance(text, list) else text)
    values = _extract(source, fuzzy_parse)
    return values[0] if return_one_if_single and len(values) == 1 else values


def _extract(source: str, fuzzy_parse: bool) -> list[Any]:
    try:
        return [loads_json(source)]
    except ParseError:
        pass
    values, broken = _fenced(source)
    if values:
        return values
    value, unreadable = _in_prose(source)
    if value is not None:
        return [value]
    return _repaired(broken, many=True) or _repaired(unreadable, many=False) if fuzzy_parse else []


def _fenced(source: str) -> tuple[list[Any], list[str]]:
    """Return the values of the fenced blocks and the text of those that are not JSON."""
    values: list[Any] = []
    broken: list[str] = []
    position = 0
    while (fence := _FENCE.search(source, position)) and len(values) + len(broken) < _MOST_BLOCKS:
        close = source.find("```", fence.end())
        position = close if close >= 0 else len(source)
        block = source[fence.end() : position]
        try:
            values.append(loads_json(block))
        except ParseError:
            broken.append(block)
            # A fence inside a string ends the block too early. Reading on is tried for a few blocks, else a text of
            # nothing but fences would take quadratic time.
            if len(broken) <= _MOST_READS_PAST_A_FENCE:
                position = _read_past(source, fence.end(), values, broken) or position
    return values, broken


def _read_past(source: str, start: int, values: list[Any], broken: list[str]) -> int | None:
    try:
        value, end = decode_at(source, start)
    except ParseError:
        return None
    values.append(value)
    broken.pop()
    return end


def _in_prose(source: str) -> tuple[Any, list[str]]:
    """Return the first balanced object, or None and the regions that look like objects but are not JSON."""
    unreadable: list[str] = []
    position = 0
    while (opening := _OPENING.search(source, position)) and len(unreadable) < _MOST_REGIONS:
        end = _region_end(source, opening.start())
        region = source[opening.start() : end]
        try:
            return loads_json(region), []
        except ParseError:
            unreadable.append(region)
        position = end
    return None, unreadable


def _region_end(source: str, start: int) -> int:
    depth = 0
    for token in TOKEN.finditer(source, start):
        mark = token.group()
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return len(source)


def _repaired(parts: list[str], *, many: bool) -> list[Any]:
    values: list[Any] = []
    spent = 0
    for part in parts:
        spent += len(part)
        if spent > REPAIR_MAX_BYTES or (values and not many):
            break
        try:
            value = fuzzy_json(part)
        except ParseError:
            continue
        if value:
            values.append(value)
    return values
