"""Data written as YAML that reads back as the very same data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from lionagi._errors import ValidationError, short_repr
from lionagi.ln.yamls import dump_yaml

__all__ = ("exact_yaml",)

T = TypeVar("T")


def exact_yaml(data: Any, what: str, read: Callable[[str], T]) -> tuple[str, T]:
    """Return data as YAML, and what the reader makes of that.

    Args:
        data: Of the types that JSON has.
        what: What to call it in errors.
        read: The reader, which gives equal data of its own class.

    Raises:
        ValidationError: Something in it is of another type, or would read back differently.
    """
    _require_plain(data, what)
    text = dump_yaml(data)
    found = read(text)
    plain: Any = found
    if isinstance(plain, dict):
        plain = dict(cast("dict[str, Any]", plain))
    if not _same(plain, data):
        raise ValidationError(f"{what} cannot be written so that it reads back exactly; look for unusual texts in it")
    return text, found


def _require_plain(value: Any, place: str) -> None:
    """Refuse what YAML would turn into something else."""
    if type(value) is dict:
        for key, member in cast("dict[Any, Any]", value).items():
            if type(key) is not str:
                raise ValidationError(f"{place} has a key that is no text: {short_repr(key)}")
            _require_plain(member, f"{place} under {short_repr(key)}")
    elif type(value) is list:
        for member in cast("list[Any]", value):
            _require_plain(member, place)
    elif value is not None and type(value) not in (str, int, float, bool):
        raise ValidationError(
            f"{place} holds {short_repr(value)} of type {type(value).__name__}, which no file can hold"
        )


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        first, second = cast("dict[str, Any]", a), cast("dict[str, Any]", b)
        return list(first) == list(second) and all(_same(first[key], second[key]) for key in first)
    if isinstance(a, list):
        ours, theirs = cast("list[Any]", a), cast("list[Any]", b)
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return a == b
