"""What of a request decides its answer: the hash by which an answer is found, and the text that shows why not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from ._types import text_of

__all__ = ("fingerprint", "request_text")

_SCHEMA_KEYS = ("response_format", "output_format", "output_config")
_ROLES = {"developer": "system"}


def fingerprint(payload: Mapping[str, Any]) -> str:
    """Return 32 hex digits over messages, schema and tools; model, sampling, ids and times do not count.

    A request has the same fingerprint whether its system text came as a message or as a field of its own, and
    whatever the wire format of schema and tools.
    """
    return hashlib.sha256(_canonical(_essence(payload)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def request_text(payload: Mapping[str, Any]) -> str:
    """Return the same facts to read: one block per message, then a line for the schema and one per tool."""
    messages, schema, tools = _essence(payload)
    blocks = [f"[{role}]\n{content if isinstance(content, str) else _canonical(content)}" for role, content in messages]
    if schema is not None:
        blocks.append(f"[schema]\n{_canonical(schema)}")
    if tools:
        blocks.append("\n".join(["[tools]", *map(_canonical, tools)]))
    return "\n\n".join(blocks).encode("utf-8", "replace").decode()


def _essence(payload: Mapping[str, Any]) -> tuple[list[tuple[str, Any]], Any, list[Any]]:
    messages: list[Any] = payload.get("messages") or []
    found = [_message(cast("Mapping[str, Any]", each)) for each in messages if isinstance(each, Mapping)]
    if payload.get("system"):
        found.insert(0, ("system", text_of(payload["system"]) or ""))
    schema = next((part for key in _SCHEMA_KEYS if (part := _schema_in(payload.get(key))) is not None), None)
    tools: list[Any] = payload.get("tools") or []
    return found, schema, [_tool(each) for each in tools]


def _message(message: Mapping[str, Any]) -> tuple[str, Any]:
    role: str = message.get("role") or ""
    content: Any = message.get("content")
    if not _has_other_parts(content):
        content = text_of(content) or ""
    return _ROLES.get(role, role), content


def _has_other_parts(content: object) -> bool:
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    return any(isinstance(part, Mapping) and _kind_of(part) != "text" for part in parts)


def _kind_of(part: Any) -> object:
    return part.get("type", "text")


def _schema_in(value: object) -> object:
    """Return what stands under the first key "schema", however deep the provider wraps it."""
    if not isinstance(value, Mapping):
        return None
    mapping = cast("Mapping[str, Any]", value)
    if "schema" in mapping:
        return mapping["schema"]
    return next((found for each in mapping.values() if (found := _schema_in(each)) is not None), None)


def _tool(tool: Any) -> Any:
    if not isinstance(tool, Mapping):
        return tool
    entry = cast("Mapping[str, Any]", tool)
    function: Mapping[str, Any] = entry.get("function", entry)
    parameters = function.get("parameters", function.get("input_schema"))
    return {"name": function.get("name"), "description": function.get("description"), "parameters": parameters}


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
