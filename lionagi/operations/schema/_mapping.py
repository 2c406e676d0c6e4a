"""A caller's dict format as fields: each key becomes a required field of the type that its value stands for."""

from __future__ import annotations

import keyword
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict

from lionagi.ln.types import Meta, Operable, Spec

__all__ = ("freeze", "mapping_specs")

_TYPE_WORDS: Final[dict[str, Any]] = {
    "": str,
    **dict.fromkeys(("str", "string", "text"), str),
    **dict.fromkeys(("int", "integer"), int),
    **dict.fromkeys(("float", "number"), float),
    **dict.fromkeys(("bool", "boolean"), bool),
    **dict.fromkeys(("list", "array"), list[Any]),
    **dict.fromkeys(("dict", "object"), dict[str, Any]),
    "any": Any,
}


class _Closed(BaseModel):
    # Told to the model, not enforced: an extra key in a nested object does no harm.
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})


def freeze(value: Any) -> Any:
    """Return a hashable key for a dict format; the order of keys counts, 1 and True differ."""
    if isinstance(value, dict):
        return dict, tuple((key, freeze(item)) for key, item in cast("dict[str, Any]", value).items())
    if isinstance(value, list | tuple):
        return list, tuple(freeze(item) for item in cast("list[Any]", value))
    return Meta("", value)


def mapping_specs(mapping: Mapping[str, Any]) -> list[Spec]:
    """Return one required field per key.

    A value may be a type, the name of one ("int"), an example (3, "", [3]) or a nested mapping. Any other text is a
    description, and the field then takes any value; so does a field with None.
    """
    return [_spec(index, key, value) for index, (key, value) in enumerate(mapping.items())]


def _spec(index: int, key: str, value: Any) -> Spec:
    facts: dict[str, Any] = {"name": key}
    if not _is_plain_name(key):
        facts = {"name": f"key_{index}", "alias": key}
    if isinstance(value, str) and value.strip().lower() not in _TYPE_WORDS:
        facts["description"] = value
    return Spec(_annotation(key, value), **facts)


def _is_plain_name(key: str) -> bool:
    """Tell whether pydantic takes ``key`` as a field's name without complaint."""
    usable = key.isidentifier() and not keyword.iskeyword(key) and not key.startswith(("_", "model_"))
    return usable and not hasattr(BaseModel, key)


def _annotation(key: str, value: Any) -> Any:
    if isinstance(value, str):
        return _TYPE_WORDS.get(value.strip().lower(), Any)
    if isinstance(value, dict):
        return _nested(key, cast("dict[str, Any]", value)) if value else dict[str, Any]
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return list[_annotation(key, items[0])] if items else list[Any]
    if _is_type(value):
        return value
    if isinstance(value, bool | int | float | BaseModel):
        return type(value)
    return Any


def _is_type(value: Any) -> bool:
    return isinstance(value, type | types.UnionType) or typing.get_origin(value) is not None


def _nested(key: str, value: dict[str, Any]) -> type[BaseModel]:
    name = "".join(part.capitalize() for part in key.split("_") if part.isalnum()) or "Nested"
    return Operable(mapping_specs(value)).create_model(model_name=name, base_type=_Closed)
