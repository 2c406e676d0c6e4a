"""Dicts out of whatever was given."""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, cast

from lionagi._errors import ValidationError, short_repr
from lionagi.ln.jsons import fuzzy_json, loads_json
from lionagi.ln.types import Undefined, Unset

__all__ = ("to_dict",)


def to_dict(
    x: Any,
    /,
    *,
    fuzzy_parse: bool = False,
    recursive: bool = False,
    recursive_python_only: bool = True,
    max_recursive_depth: int = 5,
    str_type: Literal["json"] = "json",
    suppress: bool = False,
    use_model_dump: bool = True,
    use_enum_values: bool = False,
) -> dict[Any, Any]:
    """Return ``x`` as a new dict.

    None and sentinels give an empty dict; text is read as JSON; an enum class gives its members by name; a model, an
    object with ``to_dict`` and a dataclass give their fields; a set gives each item as its own key; another iterable
    gives its items by position; any other object gives its attributes.

    Args:
        x: The value.
        fuzzy_parse: Repair JSON that is not valid.
        recursive: Convert mappings, lists and tuples inside as well.
        recursive_python_only: Leave models, dataclasses and JSON text inside as they are.
        max_recursive_depth: How many levels below the top are converted.
        str_type: Only "json" is known.
        suppress: Give an empty dict instead of an error.
        use_model_dump: Dump a pydantic model's whole tree rather than take its fields' own values.
        use_enum_values: Give an enum class's values rather than its members.

    Raises:
        ValidationError: ``x`` cannot be a dict, or is text without a JSON object; it is a ValueError.
    """
    if str_type != "json":
        raise ValidationError(f"str_type must be 'json', not {str_type!r}")

    def convert(value: Any) -> dict[Any, Any]:
        if isinstance(value, str):
            return _from_text(value, fuzzy_parse)
        return _convert(value, use_model_dump, use_enum_values)

    try:
        data = convert(x)
    except ValueError:
        if suppress:
            return {}
        raise
    if not recursive:
        return data
    inner = None if recursive_python_only else convert
    return {key: _deeper(value, inner, max_recursive_depth - 1) for key, value in data.items()}


def _from_text(text: str, fuzzy_parse: bool) -> dict[Any, Any]:
    value = fuzzy_json(text) if fuzzy_parse else loads_json(text)
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value)
    raise ValidationError(f"the text is JSON but no object: {short_repr(text)}")


def _convert(x: Any, use_model_dump: bool, use_enum_values: bool) -> dict[Any, Any]:
    if x is None or x is Unset or x is Undefined:
        return {}
    if isinstance(x, Mapping):
        return dict(cast("Mapping[Any, Any]", x))
    if isinstance(x, type):
        return _of_class(x, use_enum_values)
    if _is_model(x):
        return x.model_dump() if use_model_dump else dict(x)
    if callable(method := getattr(x, "to_dict", None)):
        return dict(cast("Mapping[Any, Any]", method()))
    if dataclasses.is_dataclass(x):
        return {each.name: getattr(x, each.name) for each in dataclasses.fields(x)}
    return _of_items(x)


def _of_class(x: type[Any], use_enum_values: bool) -> dict[Any, Any]:
    if issubclass(x, enum.Enum):
        return {name: member.value if use_enum_values else member for name, member in x.__members__.items()}
    raise ValidationError(f"a class cannot be a dict: {short_repr(x)}")


def _of_items(x: Any) -> dict[Any, Any]:
    if isinstance(x, set | frozenset):
        return {item: item for item in cast("Iterable[Any]", x)}
    if isinstance(x, Iterable) and not isinstance(x, bytes | bytearray):
        return dict(enumerate(cast("Iterable[Any]", x)))
    if hasattr(x, "__dict__") and not isinstance(x, enum.Enum):
        return dict(vars(x))
    raise ValidationError(f"cannot be converted to a dict: {short_repr(x)}")


def _is_model(x: Any) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(x, pydantic.BaseModel)


def _deeper(x: Any, convert: Callable[[Any], dict[Any, Any]] | None, levels: int) -> Any:
    if levels < 1:
        return x
    if convert is not None and (isinstance(x, str) or _is_model(x) or _is_dataclass(x)):
        try:
            x = convert(x)
        except ValueError:
            return x
    if isinstance(x, Mapping):
        return {key: _deeper(value, convert, levels - 1) for key, value in cast("Mapping[Any, Any]", x).items()}
    if isinstance(x, list | tuple):
        return [_deeper(item, convert, levels - 1) for item in cast("Iterable[Any]", x)]
    return x


def _is_dataclass(x: Any) -> bool:
    return dataclasses.is_dataclass(x) and not isinstance(x, type)
