"""Types and constraints in words, from annotations and JSON schemas."""

from __future__ import annotations

import enum
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from lionagi_nb._format import clip
from lionagi_nb._json import inline
from lionagi_nb._pieces import Piece, Pieces, separator

__all__ = ("constraint_words", "default_pieces", "listed", "resolve", "type_words")

Schema = Mapping[str, Any]

_OURS = {"ActionRequestModel": "ActionRequest", "ActionResponseModel": "ActionResponse"}
_ENUM = 8  # values of an enumeration that are listed


def type_words(annotation: Any) -> str:
    """Return an annotation as it is written: ``list[str]``, ``float | None``; a Literal is the type of its values."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return type_words(get_args(annotation)[0])
    if origin is Literal:
        return " | ".join(dict.fromkeys(type_words(type(value)) for value in get_args(annotation)))
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(type_words(part) for part in get_args(annotation)))
    if annotation is None or annotation is type(None):
        return "None"
    if annotation is Ellipsis:
        return "..."
    if isinstance(origin, type):
        inner = ", ".join(type_words(part) for part in get_args(annotation))
        return f"{origin.__name__}[{inner}]"
    name = getattr(annotation, "__name__", None)
    return _OURS.get(name, name) if isinstance(name, str) else str(annotation).removeprefix("typing.")


def resolve(prop: Schema, defs: Schema) -> Schema:
    """Return the schema that holds the constraints: references followed, ``null`` left out of a choice."""
    for _ in range(8):
        choice = [part for part in prop.get("anyOf", prop.get("allOf", ())) if part.get("type") != "null"]
        reference = prop.get("$ref")
        if len(choice) == 1:
            prop = {**prop, **choice[0]}
            prop = {key: value for key, value in prop.items() if key not in ("anyOf", "allOf")}
        elif isinstance(reference, str):
            prop = cast("Schema", defs.get(reference.rsplit("/", 1)[-1], {}))
        else:
            break
    return prop


def constraint_words(prop: Schema) -> list[str]:
    """Return what a JSON schema allows, one fragment for each constraint: ``1 to 5``, ``at most 120 characters``."""
    said = [
        _range(prop, "minimum", "maximum", ""),
        f"more than {prop['exclusiveMinimum']}" if "exclusiveMinimum" in prop else "",
        f"less than {prop['exclusiveMaximum']}" if "exclusiveMaximum" in prop else "",
        f"a multiple of {prop['multipleOf']}" if "multipleOf" in prop else "",
        _range(prop, "minLength", "maxLength", "character"),
        _range(prop, "minItems", "maxItems", "item"),
        "no item twice" if prop.get("uniqueItems") else "",
        f"one of {_values(prop['enum'])}" if prop.get("enum") else "",
        f"always {_value(prop['const'])}" if "const" in prop else "",
        f"matches {clip(str(prop['pattern']), 60)}" if prop.get("pattern") else "",
        f"format {prop['format']}" if prop.get("format") else "",
    ]
    return [fragment for fragment in said if fragment]


def _range(prop: Schema, low: str, high: str, unit: str) -> str:
    least, most = prop.get(low), prop.get(high)
    if least is None and most is None:
        return ""
    words = f"at least {least}" if most is None else f"at most {most}" if least is None else f"{least} to {most}"
    if least is not None and least == most:
        words = f"exactly {least}"
    if not unit:
        return words
    return f"{words} {unit}{'' if (most if most is not None else least) == 1 else 's'}"


def _values(values: Sequence[Any]) -> str:
    shown = ", ".join(_value(value) for value in values[:_ENUM])
    return shown if len(values) <= _ENUM else f"{shown}, … {len(values) - _ENUM:,} more"


def _value(value: Any) -> str:
    return clip(value, 40) if isinstance(value, str) else inline(value, 40)


def default_pieces(default: Any) -> Pieces:
    """Return ``default`` and the value as JSON."""
    shown = default.value if isinstance(default, enum.Enum) else default
    return (Piece("dim", "default "), Piece("code", inline(shown, 60)))


def listed(fragments: Sequence[Pieces]) -> Pieces:
    """Return fragments with separators between them."""
    out: list[Piece] = []
    for i, fragment in enumerate(fragments):
        out += [separator()] if i else []
        out += fragment
    return tuple(out)
