"""Values as JSON text: a snapshot that cannot change under a view, one short line, and a laid-out body."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, cast

from ._format import clip

__all__ = ("byte_size", "freeze", "inline", "pretty", "thaw")

_STRING = 24  # characters of a nested string that is cut
_WHOLE = 40  # characters up to which a nested string is left whole
_FLAT = 72  # columns up to which a list of plain values stays on one line
_DEPTH = 60  # levels that are laid out; deeper ones are an ellipsis


def freeze(value: object) -> str:
    """Return `value` as JSON text; models are dumped, what JSON cannot say becomes its repr. Never raises."""
    try:
        return _encoder().encode(value)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return json.dumps(_plain(value, 0), ensure_ascii=False)
    except Exception:  # a value that breaks its own protocol must not take the view down
        return json.dumps(_repr(value), ensure_ascii=False)


def thaw(text: str) -> Any:
    """Return the JSON-compatible value that `freeze` wrote; nesting too deep for the parser comes back as the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def byte_size(text: str) -> int:
    """Return the length of `text` in bytes of UTF-8, lone surrogates counted as three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@cache
def _encoder() -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False, default=_default)


def _repr(value: object) -> str:
    try:
        return clip(repr(value), 1000)
    except Exception:
        return f"<{type(value).__name__}>"


def _default(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        try:
            return dump(mode="json")
        except Exception:
            return _repr(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, set | frozenset | tuple):
        return list(cast("Iterable[Any]", value))
    if isinstance(value, bytes | bytearray):
        return clip(value.decode("utf-8", "replace"), 10_000)
    return _repr(value)


def _plain(value: Any, depth: int) -> Any:
    if depth > 60:
        return "…"
    if isinstance(value, Mapping):
        return {str(k): _plain(v, depth + 1) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(v, depth + 1) for v in cast("Iterable[Any]", value)]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    made = _default(value)
    return made if isinstance(made, str) else _plain(made, depth + 1)


def inline(value: Any, limit: int = 80) -> str:
    """Return `value` on one line of at most about `limit` characters: nested lists as counts, long strings cut."""
    if isinstance(value, dict):
        return _inline_object(cast("dict[str, Any]", value), limit)
    if isinstance(value, list):
        return _inline_list(cast("list[Any]", value), limit)
    if isinstance(value, str):
        return _quoted(clip(value, limit - 2) if len(value) > limit - 2 else value)
    return clip(json.dumps(value), limit)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _inline_object(value: dict[str, Any], limit: int) -> str:
    parts: list[str] = []
    left = limit - 2
    for i, (key, member) in enumerate(value.items()):
        part = f"{_quoted(clip(key, _WHOLE))}: {_nested(member)}"
        last = i == len(value) - 1
        if parts and len(part) + (0 if last else 3) > left:
            parts.append("…")
            break
        parts.append(part)
        left -= len(part) + 2
    return "{" + ", ".join(parts) + "}"


def _inline_list(value: list[Any], limit: int) -> str:
    parts: list[str] = []
    left = limit - 2
    for i, item in enumerate(value):
        part = _item(item, left if not parts else min(left, _WHOLE + 20))
        last = i == len(value) - 1
        if parts and len(part) + (0 if last else 12) > left:
            parts.append(f"… {len(value) - i:,} more")
            break
        parts.append(part)
        left -= len(part) + 2
    return "[" + ", ".join(parts) + "]"


def _item(value: Any, limit: int) -> str:
    return _inline_object(cast("dict[str, Any]", value), limit - 12) if isinstance(value, dict) else _nested(value)


def _nested(value: Any) -> str:
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        n = len(cast("list[Any]", value))
        return f"[{n:,} item{'' if n == 1 else 's'}]" if n else "[]"
    if isinstance(value, str):
        return _quoted(value if len(value) <= _WHOLE else clip(value, _STRING + len(f" … ({len(value):,} chars)") - 7))
    return clip(json.dumps(value), _WHOLE)


def pretty(value: Any, budget: int = 40_000) -> str:
    """Return `value` laid out with two spaces a level, plain lists on one line; it ends past `budget` characters."""
    out: list[str] = []
    _lay(value, 0, out, [budget])
    return "".join(out)


def _lay(value: Any, depth: int, out: list[str], left: list[int]) -> None:
    flat = "…" if depth > _DEPTH else _flat(value, _FLAT - 2 * depth)
    if flat is not None:
        _put(flat, out, left)
        return
    inner = "  " * (depth + 1)
    is_object = isinstance(value, dict)
    _put("{" if is_object else "[", out, left)
    pairs: Iterable[tuple[str, Any]]
    pairs = cast("dict[str, Any]", value).items() if is_object else (("", v) for v in cast("list[Any]", value))
    for i, (key, member) in enumerate(pairs):
        if left[0] <= 0:
            return
        _put(("," if i else "") + "\n" + inner + (f"{_quoted(key)}: " if is_object else ""), out, left)
        _lay(member, depth + 1, out, left)
    _put("\n" + "  " * depth + ("}" if is_object else "]"), out, left)


def _put(text: str, out: list[str], left: list[int]) -> None:
    if left[0] > 0:
        out.append(text)
        left[0] -= len(text)


def _flat(value: Any, room: int) -> str | None:
    """The one-line form where it is one: a plain value, an empty container, or plain values that fit in `room`."""
    members: list[Any] = []
    if isinstance(value, dict):
        members = list(cast("dict[str, Any]", value).values())
    elif isinstance(value, list):
        members = cast("list[Any]", value)
    if not members:
        return json.dumps(value, ensure_ascii=False)
    if len(members) > 12 or any(isinstance(m, dict | list) and len(cast("list[Any]", m)) for m in members):
        return None
    if sum(len(m) for m in members if isinstance(m, str)) > room:
        return None
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= room else None
