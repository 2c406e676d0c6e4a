"""The strict JSON reader; public through :mod:`lionagi.ln.jsons`."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from lionagi._errors import ParseError, short_repr
from lionagi.ln.patterns import late_pattern

__all__ = ("TOKEN", "clean_surrogates", "decode_at", "loads_json")

# A string (also one that never ends), a bracket or a colon: what it takes to follow structure in any text.
TOKEN = late_pattern(r'"(?:[^"\\]|\\.)*+(?:"|$)|[{}\[\]:]', re.DOTALL)
_SPACE = late_pattern(r"\s*")


def clean_surrogates(text: str) -> str:
    """Return ``text`` with surrogate pairs joined and each lone surrogate replaced by U+FFFD.

    The text itself comes back when there is nothing to replace.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def loads_json(text: str | bytes, *, unique_keys: bool = False, max_depth: int | None = None) -> Any:
    """Return the value of one JSON text.

    Args:
        text: The whole text; a byte order mark is skipped, bytes are read as UTF-8.
        unique_keys: Refuse an object that repeats a key; otherwise the last one wins.
        max_depth: Refuse deeper nesting of arrays and objects; None leaves the parser's own limit of about 900.

    Raises:
        ParseError: The message names the line and column.
    """
    source = _as_text(text).removeprefix("\ufeff")
    if unique_keys or max_depth is not None:
        _check_structure(source, unique_keys, max_depth)
    start = _SPACE.match(source)
    value, end = decode_at(source, start.end() if start else 0, whole=True)
    rest = _SPACE.match(source, end)
    if rest is not None and rest.end() != len(source):
        raise _refusal("unexpected text after the JSON value", source, rest.end())
    return value


def _as_text(text: str | bytes) -> str:
    if isinstance(text, str):
        return clean_surrogates(text)
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise ParseError(
            f"invalid JSON: the bytes are not UTF-8 at byte {error.start}; encode them as UTF-8"
        ) from error


def _finite(literal: str) -> float:
    value = float(literal)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {literal[:40]} is too large")
    return value


def _no_constant(literal: str) -> float:
    raise ValueError(f"{literal} is not JSON")


# A Python function for each float costs seconds in a large text, so only a text with a number that may overflow has it.
_BIG_EXPONENT = late_pattern(r"[eE]\+?[0-9]{3}")
_MANY_DIGITS = late_pattern(r"(?<![0-9])[0-9]{309}")
_DECODER = json.JSONDecoder(parse_constant=_no_constant)
_CAREFUL_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)


def decode_at(source: str, start: int, *, whole: bool = False) -> tuple[Any, int]:
    """Decode the value that begins at ``start``; return it and the position behind it.

    ``whole`` says that the value is expected to fill the text, so that looking through all of it first pays.
    """
    try:
        plain = whole and not (_BIG_EXPONENT.search(source, start) or _MANY_DIGITS.search(source, start))
        value, end = (_DECODER if plain else _CAREFUL_DECODER).raw_decode(source, start)
    except json.JSONDecodeError as error:
        raise _refusal(error.msg, source, error.pos) from None
    except ValueError as error:
        raise _refusal(str(error), source, start) from None
    except RecursionError:
        raise _refusal("nested too deeply", source, start) from None
    if source.find("\\ud", start, end) >= 0 or source.find("\\uD", start, end) >= 0:
        value = _without_surrogates(value)
    return value, end


def _refusal(problem: str, source: str, position: int) -> ParseError:
    line = source.count("\n", 0, position) + 1
    column = position - source.rfind("\n", 0, position)
    found = short_repr(source[max(position - 10, 0) : position + 60])
    message = f"invalid JSON at line {line}, column {column}: {problem}; the text there is {found}"
    return ParseError(message, details={"line": line})


def _without_surrogates(value: Any) -> Any:
    holder = [value]
    stack: list[Any] = [holder]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            members = cast("dict[str, Any]", each)
            items = [(clean_surrogates(key), item) for key, item in members.items()]
            members.clear()
            members.update(items)
        for key, item in _slots_of(each):
            if isinstance(item, str):
                each[key] = clean_surrogates(item)
            elif isinstance(item, list | dict):
                stack.append(item)
    return holder[0]


def _slots_of(container: Any) -> list[tuple[Any, Any]]:
    if isinstance(container, dict):
        return list(cast("dict[str, Any]", container).items())
    return list(enumerate(cast("list[Any]", container)))


def _check_structure(source: str, unique_keys: bool, max_depth: int | None) -> None:
    """Refuse what the decoder would accept: a repeated key, deep nesting. Text that is not JSON passes."""
    open_objects: list[set[str] | None] = []
    previous: re.Match[str] | None = None
    for token in TOKEN.finditer(source):
        mark = token.group()
        if mark in "{[":
            open_objects.append(set() if mark == "{" else None)
            if max_depth is not None and len(open_objects) > max_depth:
                raise _refusal(f"nested more than {max_depth} deep", source, token.start())
        elif mark in "}]":
            del open_objects[-1:]
        elif mark == ":" and unique_keys and open_objects and (keys := open_objects[-1]) is not None:
            _add_key(keys, previous, source)
        previous = token


def _add_key(keys: set[str], token: re.Match[str] | None, source: str) -> None:
    if token is None or token.group()[0] != '"':
        return
    try:
        key = cast("str", json.loads(token.group()))
    except ValueError:
        return
    if key in keys:
        raise _refusal(f"the key {short_repr(key)} is there twice", source, token.start())
    keys.add(key)
