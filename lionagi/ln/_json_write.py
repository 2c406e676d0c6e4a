"""The JSON writer; public through :mod:`lionagi.ln.jsons`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, Literal, cast, overload

from lionagi._errors import ValidationError, short_repr

from ._json_read import loads_json

__all__ = ("json_dumpb", "json_dumps")


def json_dumpb(
    obj: Any, *, indent: int | None = None, sort_keys: bool = False, default: Callable[[Any], Any] | None = None
) -> bytes:
    """Return ``obj`` as UTF-8 JSON, compact unless ``indent`` is given.

    UUIDs, dates, paths, enums, sets, decimals, dataclasses and pydantic models have their usual text forms; bytes are
    taken as UTF-8; not a number and infinities become null; lone surrogates become U+FFFD.

    Args:
        obj: The value; dict keys may be of any of those kinds too.
        indent: Spaces per level.
        sort_keys: Order the keys of every object.
        default: Gives a value that can be written for one that cannot.

    Raises:
        ValidationError: A value cannot be written, refers to itself or is nested too deeply.
    """
    data = _to_json(obj, indent, default)
    if not sort_keys:
        return data
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(json.loads(data), indent=indent, sort_keys=True, ensure_ascii=False, separators=separators)
    return text.encode()


def _to_json(obj: Any, indent: int | None, default: Callable[[Any], Any] | None) -> bytes:
    from pydantic_core import PydanticSerializationError, to_json

    def fallback(value: Any) -> Any:
        # pydantic knows the paths of the running system only
        if isinstance(value, os.PathLike):
            return os.fspath(cast("os.PathLike[str]", value))
        if default is None:
            raise TypeError(f"{type(value).__name__} has no JSON form")
        return default(value)

    try:
        return to_json(obj, indent=indent, fallback=fallback, inf_nan_mode="null")
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as error:
        if "surrogates not allowed" in str(error):
            return to_json(_cleaned_copy(obj, fallback), indent=indent, inf_nan_mode="null")
        raise ValidationError(f"cannot be written as JSON: {error}; the value is {short_repr(obj)}") from error


def _cleaned_copy(obj: Any, fallback: Callable[[Any], Any]) -> Any:
    from pydantic import BaseModel
    from pydantic_core import to_jsonable_python

    def plain(value: Any) -> Any:
        if isinstance(value, BaseModel):
            return value.model_dump()
        return to_jsonable_python(value, fallback=fallback)

    try:
        return loads_json(json.dumps(obj, default=plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationError(f"cannot be written as JSON: {error}; the value is {short_repr(obj)}") from error


@overload
def json_dumps(
    obj: Any,
    *,
    indent: int | None = None,
    sort_keys: bool = False,
    default: Callable[[Any], Any] | None = None,
    decode: Literal[True] = True,
) -> str: ...
@overload
def json_dumps(
    obj: Any,
    *,
    indent: int | None = None,
    sort_keys: bool = False,
    default: Callable[[Any], Any] | None = None,
    decode: Literal[False],
) -> bytes: ...
def json_dumps(
    obj: Any,
    *,
    indent: int | None = None,
    sort_keys: bool = False,
    default: Callable[[Any], Any] | None = None,
    decode: bool = True,
) -> str | bytes:
    """Return :func:`json_dumpb` as text, or as it is with ``decode=False``."""
    data = json_dumpb(obj, indent=indent, sort_keys=sort_keys, default=default)
    return data.decode() if decode else data
