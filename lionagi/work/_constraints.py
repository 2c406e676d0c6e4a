"""What a pydantic model asks of its fields beyond their types, and the rules that say the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, get_args, get_origin

from annotated_types import BaseMetadata, Ge, GroupedMetadata, Le
from pydantic import BaseModel, TypeAdapter
from pydantic import ValidationError as SchemaError
from pydantic.fields import FieldInfo

from lionagi._errors import short_repr

__all__ = ("constraints_of", "model_constraints", "rules_of")


def constraints_of(info: FieldInfo) -> list[Any]:
    """Return the constraints of a field, in order, those inside ``X | None`` too; types of members are none."""
    return [each for each in _flat([*info.metadata, *_nested(info.annotation)]) if _constrains(each)]


def _flat(metadata: list[Any]) -> Iterator[Any]:
    for each in metadata:
        if isinstance(each, FieldInfo):
            yield from _flat(each.metadata)
        elif isinstance(each, GroupedMetadata):
            yield from each
        else:
            yield each


def _nested(annotation: Any) -> list[Any]:
    members = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return [*members[1:], *_nested(members[0])]
    if get_origin(annotation) in (list, dict):
        return []
    return [each for member in members for each in _nested(member)]


def _constrains(each: Any) -> bool:
    return isinstance(each, BaseMetadata) or hasattr(each, "__get_pydantic_core_schema__")


def model_constraints(model: type[BaseModel]) -> list[str]:
    """Return in words what no field of a form can hold: "Model.field: constraint", functions that validate included."""
    fields = model.model_fields
    found = [f"{model.__name__}.{name}: {short_repr(each)}" for name in fields for each in constraints_of(fields[name])]
    return found + [f"{model.__name__}.{place}: the validator {name!r}" for place, name in _functions(model)]


def _functions(model: type[BaseModel]) -> list[tuple[str, str]]:
    decorated = model.__pydantic_decorators__
    found = [(field, name) for name, each in decorated.field_validators.items() for field in each.info.fields]
    return found + [("*", name) for name in decorated.model_validators]


def rules_of(model: type[BaseModel]) -> list[dict[str, Any]]:
    """Return the keywords of a Rule for each constraint of a model's fields.

    Bounds that are inclusive and patterns are rules of those kinds; all others, and the types of members of lists and
    dicts, are one custom rule of each field.

    Raises:
        TypeError: A function of the model validates a field or the whole; the text names it.
    """
    if functions := _functions(model):
        place, name = functions[0]
        raise TypeError(f"{model.__name__}.{place} has the validator {name!r}, which no rule can call; add one by hand")
    return [rule for name, info in model.model_fields.items() for rule in _rules(name, info)]


def _rules(name: str, info: FieldInfo) -> Iterator[dict[str, Any]]:
    bounds: dict[str, Any] = {}
    others: list[Any] = []
    for each in constraints_of(info):
        pattern = getattr(each, "pattern", None)
        if isinstance(each, Ge):
            bounds["min"] = each.ge
        elif isinstance(each, Le):
            bounds["max"] = each.le
        elif pattern is not None:
            yield _rule(name, "pattern", _pattern(pattern))
        else:
            others.append(each)
    if bounds:
        yield _rule(name, "range", bounds)
    if others or _typed_members(info.annotation):
        wanted = ", ".join(short_repr(each) for each in others) or short_repr(info.annotation)
        special: Any = Annotated  # which takes at least one piece of metadata
        accepts = partial(_accepts, TypeAdapter(special[(info.annotation, *others, None)]))
        yield _rule(name, "custom", {"callable": accepts, "error": f"Field {name!r} does not meet {wanted}."})


def _rule(name: str, check: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"rule_id": f"{name}.{check}", "field": name, "check": check, "params": params}


def _pattern(pattern: str | re.Pattern[str]) -> dict[str, Any]:
    if isinstance(pattern, str):
        return {"pattern": pattern}
    return {"pattern": pattern.pattern, "flags": int(pattern.flags)}


def _typed_members(annotation: Any) -> bool:
    origin, members = get_origin(annotation), get_args(annotation)
    if origin in (list, dict):
        return members not in ((Any,), (Any, Any), (str, Any))
    return any(_typed_members(member) for member in members)


def _accepts(adapter: TypeAdapter[Any], value: Any) -> bool:
    if value is None:  # whether it may be missing is the field's matter
        return True
    validate: Callable[[Any], Any] = adapter.validate_python
    try:
        validate(value)
    except SchemaError:
        return False
    return True
