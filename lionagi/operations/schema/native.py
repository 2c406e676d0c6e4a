"""The request as a provider's JSON schema, with tool calls narrowed to the tools that exist."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final, cast

from pydantic import BaseModel

from lionagi.ln.types import Operable
from lionagi.operations.schema.generated import generated_pair, pair_of
from lionagi.operations.schema.structure import Structure
from lionagi.protocols.messages.formats import request_json_schema

__all__ = ("is_object_schema", "is_strict_compatible", "native_schema", "provider_schema", "schema_name")

_CACHE: Final = "__lionagi_schemas__"
_MOST_CACHED: Final = 16
_REQUESTS: Final = "action_requests"
# Classes of this package that a request may refer to; their objects take no further keys.
_OWN_DEFS: Final = ("ActionRequestModel", "Reason")
# What the strict modes of the providers do not understand.
_NOT_STRICT: Final = frozenset(
    {"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"}
    | {"unevaluatedProperties", "propertyNames", "minProperties", "maxProperties", "prefixItems", "contains"}
    | {"uniqueItems"}
)


def schema_name(structure: Structure | type[BaseModel]) -> str:
    """Return the format's name as providers take it: at most 64 ASCII letters, digits, ``_`` and ``-``."""
    form: Any = structure.request_type if isinstance(structure, Structure) else structure
    name = form.__name__ if form is not None else "Answer"
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64].strip("_") or "Answer"


def native_schema(
    form: Structure | type[BaseModel],
    tool_schemas: Sequence[dict[str, Any]] | None = None,
    max_calls: int = 64,
    *,
    strict: bool = False,
) -> dict[str, Any]:
    """Return the JSON schema that constrains a model to this format; shared, not to be changed.

    Where the format has generated action fields, ``action_requests`` is required, may be empty, holds at most
    ``max_calls`` items, and each item is one of the tools on offer: its name as a constant, its own parameters.
    The runtime's own fields are never in it. The result is kept with the class.

    Args:
        form: A structure or its request or response class.
        tool_schemas: ``{"type": "function", "function": {"name", "parameters", ...}}`` for each tool on offer.
        max_calls: Tool calls left in this turn.
        strict: Write it for a provider's strict mode: all properties required, no further ones. Ask
            `is_strict_compatible` whether the provider will take it.
    """
    return _kept(form, tool_schemas, max_calls, strict)[0]


def provider_schema(
    form: Structure | type[BaseModel],
    tool_schemas: Sequence[dict[str, Any]] | None = None,
    max_calls: int = 64,
    *,
    strict_mode: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Return the schema to send and whether it may be called strict: `native_schema` in the form that will be taken.

    Args:
        form: A structure or its request or response class.
        tool_schemas: The tools on offer.
        max_calls: Tool calls left in this turn.
        strict_mode: Whether the provider has a strict mode; a schema that it would refuse is sent unstrict.
    """
    if strict_mode:
        schema, compatible = _kept(form, tool_schemas, max_calls, True)
        if compatible:
            return schema, True
    return _kept(form, tool_schemas, max_calls, False)[0], False


def is_object_schema(schema: dict[str, Any]) -> bool:
    """Tell whether the answer is a JSON object, the only root that providers take; a RootModel of a list is not."""
    if "$ref" in schema:
        schema = schema.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {})
    return schema.get("type") == "object"


def _kept(
    form: Structure | type[BaseModel], tool_schemas: Sequence[dict[str, Any]] | None, max_calls: int, strict: bool
) -> tuple[dict[str, Any], bool]:
    """Return the schema, made at most once, and whether it is one that strict modes take."""
    request = _request_class(form)
    tools = tuple(tool_schemas or ())
    kept: OrderedDict[Any, Any] | None = request.__dict__.get(_CACHE)
    if kept is None:
        kept = OrderedDict()
        type.__setattr__(request, _CACHE, kept)
    key = (*map(id, tools), max_calls, strict)
    held = kept.get(key)
    if held is None:
        # The tools are held as well, so that no other object can take over one of their ids.
        schema = _build(request, tools, max_calls, strict)
        held = kept[key] = (tools, (schema, strict and is_strict_compatible(schema)))
        while len(kept) > _MOST_CACHED:
            kept.popitem(last=False)
    return held[1]


def _request_class(form: Structure | type[BaseModel]) -> type[BaseModel]:
    if isinstance(form, Structure):
        found = form.request_type
        if found is not None:
            return found
        return generated_pair(base=None, name=form.name, operable=Operable(), mapping=form.base_dict or {}).request
    pair = pair_of(form)
    return pair.request if pair is not None else form


def _build(request: type[BaseModel], tools: tuple[dict[str, Any], ...], max_calls: int, strict: bool) -> dict[str, Any]:
    schema = request_json_schema(request)
    definitions: dict[str, Any] = schema.setdefault("$defs", {})
    pair = pair_of(request)
    if pair is not None and "action_responses" in pair.exclude and _REQUESTS in schema.get("properties", {}):
        _narrow(schema, definitions, tools, max_calls)
    for part in (schema, *(definitions[name] for name in _OWN_DEFS if name in definitions)):
        if part.get("type") == "object":
            part.setdefault("additionalProperties", False)
    _prune(schema, definitions)
    if strict:
        _make_strict(schema)
    return schema


def _narrow(
    schema: dict[str, Any], definitions: dict[str, Any], tools: tuple[dict[str, Any], ...], max_calls: int
) -> None:
    present: dict[str, Any] = schema["properties"][_REQUESTS]
    items: Any = {"anyOf": [_variant(tool["function"], definitions) for tool in tools if "function" in tool]}
    if not items["anyOf"]:
        items, max_calls = {"type": "object", "properties": {}, "additionalProperties": False}, 0
    schema["properties"][_REQUESTS] = {
        "type": "array",
        "description": present.get("description", ""),
        "items": items,
        "minItems": 0,
        "maxItems": max(0, max_calls),
    }
    required: list[str] = schema.setdefault("required", [])
    if _REQUESTS not in required:
        required.append(_REQUESTS)


def _variant(function: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    name: str = function["name"]
    parameters: dict[str, Any] = deepcopy(function.get("parameters") or {"type": "object", "properties": {}})
    own: dict[str, Any] = parameters.pop("$defs", {})
    renamed = {f"#/$defs/{each}": f"#/$defs/{name}__{each}" for each in own}
    _rename_refs([parameters, own], renamed)
    definitions.update({f"{name}__{each}": definition for each, definition in own.items()})
    variant: dict[str, Any] = {
        "type": "object",
        "properties": {"function": {"type": "string", "const": name}, "arguments": parameters},
        "required": ["function", "arguments"],
        "additionalProperties": False,
    }
    if function.get("description"):
        variant["description"] = function["description"]
    return variant


def _rename_refs(node: Any, renamed: dict[str, str]) -> None:
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            _rename_refs(item, renamed)
    elif isinstance(node, dict):
        table = cast("dict[str, Any]", node)
        if isinstance(table.get("$ref"), str):
            table["$ref"] = renamed.get(table["$ref"], table["$ref"])
        for item in table.values():
            _rename_refs(item, renamed)


def _refs(node: Any) -> set[str]:
    if isinstance(node, list):
        return set[str]().union(*(_refs(item) for item in cast("list[Any]", node)))
    if not isinstance(node, dict):
        return set()
    table = cast("dict[str, Any]", node)
    found = set[str]().union(*(_refs(item) for item in table.values()))
    if isinstance(table.get("$ref"), str):
        found.add(table["$ref"].rpartition("/")[2])
    return found


def _prune(schema: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Drop the definitions that nothing refers to any more."""
    used: set[str] = set()
    waiting = _refs({key: value for key, value in schema.items() if key != "$defs"})
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting |= _refs(definitions.get(name))
    schema["$defs"] = {name: definition for name, definition in definitions.items() if name in used}
    if not schema["$defs"]:
        del schema["$defs"]


def _make_strict(node: Any) -> None:
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            _make_strict(item)
        return
    if not isinstance(node, dict):
        return
    table = cast("dict[str, Any]", node)
    properties = table.get("properties")
    if table.get("type") == "object" and isinstance(properties, dict):
        table["required"] = list(cast("dict[str, Any]", properties))
        table.setdefault("additionalProperties", False)
    table.pop("default", None)
    if "$ref" in table:  # strict modes refuse a description beside a reference
        reference = table["$ref"]
        table.clear()
        table["$ref"] = reference
    for key, item in table.items():
        if key in ("properties", "$defs"):
            for part in item.values():
                _make_strict(part)
        elif key not in ("enum", "const", "examples"):
            _make_strict(item)


def is_strict_compatible(schema: dict[str, Any]) -> bool:
    """Tell whether a provider's strict mode takes this schema, as `native_schema` wrote it with ``strict``.

    It does not take objects with free keys (a ``dict`` field), values of any type, or the rarer keywords.
    """
    return (
        schema.get("type") == "object"
        and _strict_part(schema)
        and all(_strict_part(part) for part in schema.get("$defs", {}).values())
    )


def _strict_part(node: Any) -> bool:
    if not isinstance(node, dict):
        return False
    table = cast("dict[str, Any]", node)
    if _NOT_STRICT & table.keys():
        return False
    if "$ref" in table or "const" in table or "enum" in table:
        return True
    if "anyOf" in table:
        return all(_strict_part(part) for part in table["anyOf"])
    if table.get("type") == "object":
        properties: dict[str, Any] = table.get("properties", {})
        closed = table.get("additionalProperties") is False and "properties" in table
        return closed and all(_strict_part(part) for part in properties.values())
    if table.get("type") == "array":
        return _strict_part(table.get("items"))
    return "type" in table
