"""Between forms, pydantic models and JSON Schema."""

from __future__ import annotations

import re
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from lionagi._errors import ConfigurationError, short_repr

from ._constraints import model_constraints
from .fill import fits

if TYPE_CHECKING:
    from .form import FieldSpec

__all__ = ("declarations_of", "json_schema_of", "model_of")

_NAMES: dict[Any, str] = {str: "str", int: "int", float: "float", bool: "bool", list: "list", dict: "dict"}
_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list[Any],
    "dict": dict[str, Any],
}
_JSON = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}


def declarations_of(model: Any, constraints: str) -> list[dict[str, Any]]:
    """Return the keywords of a FieldSpec for each field of a pydantic model class.

    Raises:
        TypeError: It is no such class, or a field cannot be one of a form.
        ConfigurationError: `constraints` is neither "refuse" nor "drop".
    """
    if constraints not in ("refuse", "drop"):
        raise ConfigurationError(f"constraints must be 'refuse' or 'drop', not {short_repr(constraints)}")
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"a form is made of a pydantic model class, not of {short_repr(cast(Any, model))}")
    made = [_declaration(model, name, info) for name, info in model.model_fields.items()]
    if constraints == "refuse" and (lost := model_constraints(model)):
        raise TypeError(
            f"no form can hold the constraint {lost[0]}; say constraints='drop', and take RuleSet.from_model beside it"
        )
    return made


def _declaration(model: type[BaseModel], name: str, info: FieldInfo) -> dict[str, Any]:
    kind, optional = _kind(info.annotation)
    place = f"{model.__name__}.{name}"
    if kind is None:
        raise TypeError(
            f"{place} is of type {short_repr(info.annotation)}, which no field of a form has; "
            f"use str, int, float, bool, list or dict, each with or without None"
        )
    default = None if info.is_required() else _default(place, info)
    if default is not None and not fits(kind, default):
        raise TypeError(f"{place} has the default {short_repr(default)}, which is no {kind}; give one that is")
    described = {"description": info.description} if info.description else {}
    return {"name": name, "type": kind, "required": not optional, "default": default, **described}


def _default(place: str, info: FieldInfo) -> Any:
    if info.default_factory_takes_validated_data:
        raise TypeError(f"{place} has a default that is made of other fields, which no form can do; leave it out")
    default = info.get_default(call_default_factory=True)
    if info.default_factory is not None and info.get_default(call_default_factory=True) != default:
        raise TypeError(f"{place} has a default that is another each time, which no form can do; leave it out")
    return default


def _kind(annotation: Any) -> tuple[str | None, bool]:
    """Return the field type of an annotation, None where it has none, and whether it takes None."""
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(members[0])
    if origin in (Union, types.UnionType):
        others = [member for member in members if member is not type(None)]
        kind = _kind(others[0])[0] if len(others) == 1 else None
        return kind, len(others) < len(members)
    return _NAMES.get(origin if origin in (list, dict) else annotation), False


def model_of(name: str | None, title: str, fields: Sequence[FieldSpec]) -> type[BaseModel]:
    """Return a pydantic model class of these fields.

    Raises:
        ConfigurationError: A field's name cannot be one of a model; it is a ValueError.
    """
    made: dict[str, Any] = {}
    for spec in fields:
        if spec.name.startswith("_") or hasattr(BaseModel, spec.name):
            raise ConfigurationError(f"the field {spec.name!r} cannot be one of a pydantic model; rename it")
        kind = _TYPES[spec.type] if spec.required else _TYPES[spec.type] | None
        default = ... if spec.required and spec.default is None else spec.default
        made[spec.name] = (kind, Field(default, description=spec.description or None))
    config = ConfigDict(extra="forbid", title=title) if title else ConfigDict(extra="forbid")
    model: Any = create_model(name or _class_name(title), __config__=config, **made)
    return cast("type[BaseModel]", model)


def _class_name(title: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", title)
    made = "".join(word[:1].upper() + word[1:] for word in words)
    return made if made[:1].isalpha() else f"Form{made}"


def json_schema_of(title: str, fields: Sequence[FieldSpec]) -> dict[str, Any]:
    """Return the JSON Schema of an object with these fields and no others."""
    properties: dict[str, Any] = {}
    for spec in fields:
        kind: Any = _JSON[spec.type] if spec.required else [_JSON[spec.type], "null"]
        described = {"description": spec.description} if spec.description else {}
        default = {"default": spec.default} if spec.default is not None else {}
        properties[spec.name] = {"type": kind, **described, **default}
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": [spec.name for spec in fields if spec.required and spec.default is None],
        "additionalProperties": False,
    }
    return {**schema, "title": title} if title else schema
