"""Telling a model in words which JSON to return: the shape of a schema and the demand around it."""

from __future__ import annotations

import json
from typing import Any, cast

from pydantic import BaseModel

from lionagi.protocols.messages.text import plain_data

__all__ = ("RUNTIME_FIELDS", "format_demand", "json_shape", "request_json_schema", "schema_shape")

RUNTIME_FIELDS = ("action_responses",)  # filled after the model answered, so it never sees them

_TYPE_WORDS: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    type(None): "null",
}
_DEEPEST = 8


def request_json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model class's JSON schema without the fields that only a run fills."""
    schema = model.model_json_schema()
    properties: dict[str, Any] = schema.get("properties", {})
    if not any(name in properties for name in RUNTIME_FIELDS):
        return schema
    for name in RUNTIME_FIELDS:
        properties.pop(name, None)
    if "required" in schema:
        schema["required"] = [name for name in schema["required"] if name not in RUNTIME_FIELDS]
    _drop_unused_defs(schema)
    return schema


def _drop_unused_defs(schema: dict[str, Any]) -> None:
    defs: dict[str, Any] = schema.get("$defs", {})
    while defs:
        text = json.dumps(schema)
        unused = [name for name in defs if f'"#/$defs/{name}"' not in text]
        if not unused:
            return
        for name in unused:
            del defs[name]
    schema.pop("$defs", None)


def schema_shape(schema: dict[str, Any]) -> Any:
    """Return the shape of a JSON schema as JSON data: each value is the word for what belongs there."""
    return _shape(schema, schema.get("$defs", {}), 0)


def _shape(schema: Any, defs: dict[str, Any], depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return "any"
    one = cast("dict[str, Any]", schema)
    if "$ref" in one:
        return _shape(defs.get(str(one["$ref"]).rpartition("/")[2]), defs, depth + 1)
    if "const" in one or "enum" in one:
        return " | ".join(str(value) for value in one.get("enum", [one.get("const")]))
    options = one.get("anyOf") or one.get("oneOf") or one.get("allOf")
    if options:
        return _either([_shape(option, defs, depth + 1) for option in options])
    if one.get("properties"):
        return {name: _shape(part, defs, depth + 1) for name, part in one["properties"].items()}
    if one.get("type") == "array":
        return [_shape(one.get("items", {}), defs, depth + 1)]
    return one.get("type", "any")


def _either(shapes: list[Any]) -> Any:
    words = [shape for shape in shapes if isinstance(shape, str)]
    others = [shape for shape in shapes if not isinstance(shape, str)]
    # A shape cannot say "this object or null"; the schema beside it does.
    return others[0] if others else " | ".join(dict.fromkeys(words))


def json_shape(value: Any) -> Any:
    """Return a caller's mapping as JSON data, with a word in place of each Python type."""
    if isinstance(value, type):
        if issubclass(value, BaseModel):
            return schema_shape(request_json_schema(value))
        return _TYPE_WORDS.get(value, value.__name__)
    if isinstance(value, dict):
        return {str(key): json_shape(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [json_shape(item) for item in cast("list[Any]", value)]
    return plain_data(value)


def format_demand(shape: Any) -> str:
    """Return the words that ask for JSON of this shape."""
    block = json.dumps(shape, indent=2, ensure_ascii=False)
    return (
        "**MUST RETURN JSON-PARSEABLE RESPONSE** of this shape:\n"
        f"```json\n{block}\n```\n"
        "Return one JSON value of that shape and nothing else."
    )
