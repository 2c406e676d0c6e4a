"""What the core would send and return for a format: its classes, its schemas, the tools on offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel

from lionagi.operations.operate.step import Step
from lionagi.operations.schema.generated import pair_of
from lionagi.operations.schema.json_structure import JsonStructure
from lionagi.operations.schema.native import is_object_schema, provider_schema
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.messages.formats import request_json_schema
from lionagi_nb._records import is_branch, mapping, words

__all__ = ("MAX_CALLS", "SchemaSource", "of_format", "of_operative")

MAX_CALLS = 64
_ACTION_FIELDS = frozenset({"action_required", "action_requests", "action_responses"})

ToolSchemas = list[dict[str, Any]]


@dataclass(frozen=True)
class SchemaSource:
    """The classes and schemas of one call.

    `own` are the caller's fields. `request_schema` decides what is required and hidden, `shown` is what a person sees:
    the same, or the schema before it is narrowed to tools where it is not known which tools there are.
    `native` tells whether the branch's endpoint takes the schema itself (it is then the very schema that is sent), None
    where no branch is given; `prompt` is the text that stands in the prompt where it does not. `offered` is what is
    sent in the schema's place where the endpoint takes tools itself and nothing but tool calls is asked for.
    """

    subject: str
    response: type[BaseModel]
    own: tuple[str, ...]
    request_schema: dict[str, Any]
    shown: dict[str, Any]
    tools: tuple[str, ...]
    native: bool | None
    prompt: str
    offered: dict[str, Any]


def of_format(
    form: type[BaseModel] | dict[str, Any], *, reason: bool, actions: Any, max_calls: int = MAX_CALLS
) -> SchemaSource:
    """Return the source for a model class or a dict format, with the fields that `reason` and `actions` add.

    A class that ``operate`` generated has them already.
    """
    base = form if isinstance(form, type) else None
    pair = pair_of(base)
    if pair is not None:
        asked = pair.base.model_fields if pair.base is not None else pair.mapping or {}
        return _source(pair.name, pair.response, tuple(asked), actions, max_calls)
    own = tuple(base.model_fields) if base is not None else tuple(str(key) for key in cast("dict[str, Any]", form))
    wanted = actions is not None and actions is not False
    name = base.__name__ if base is not None else "dict"
    if base is not None and not (reason or wanted):
        return _source(name, base, own, actions, max_calls)
    operative = Step.request_operative(
        base_type=base, reason=reason, actions=wanted, dict_format=None if base is not None else cast("Any", form)
    )
    return _source(name, Step.respond_operative(operative).response_type, own, actions, max_calls)


def of_operative(operative: Any, *, actions: Any, max_calls: int = MAX_CALLS) -> SchemaSource:
    """Return the source for an Operative; its flags are already in its classes."""
    base = getattr(operative, "base_type", None)
    own = tuple(base.model_fields) if base is not None else ()
    name = base.__name__ if base is not None else words(operative.name)
    return _source(name, operative.response_type, own, actions, max_calls)


def _source(name: str, response: type[BaseModel], own: tuple[str, ...], actions: Any, max_calls: int) -> SchemaSource:
    tools = _tool_schemas(actions)
    names = tuple(words(cast("Mapping[str, Any]", tool["function"]).get("name")) for tool in tools)
    structure = JsonStructure(response)
    endpoint: Any = getattr(getattr(actions, "chat_model", None), "endpoint", None) if is_branch(actions) else None
    able: Any = getattr(endpoint, "capabilities", None)
    native = None if able is None else bool(able.structured_output)
    strict = bool(able.strict_schema) if able is not None else False
    schema, _ = provider_schema(structure, tools, max_calls, strict_mode=strict)
    if native and not is_object_schema(schema):
        native = False
    if native is False:  # the prompt shows the request as it is, not narrowed to the tools
        schema = request_json_schema(response)
    shown = schema if tools or native else request_json_schema(response)
    prompt = structure.render() if native is False else ""
    alone = response.model_fields.keys() <= _ACTION_FIELDS
    offered: dict[str, Any] = {}
    if tools and alone and able is not None and able.native_tools:
        offered = endpoint.tools_payload(tools)
    return SchemaSource(name, response, own, schema, shown, names, native, prompt, offered)


def _tool_schemas(actions: Any) -> ToolSchemas:
    """Return the schemas of a branch's tools, or of a list of tools or functions; [] for True and False."""
    if is_branch(actions):
        found = cast("Mapping[str, Any]", actions.acts.get_tool_schema(tools=True))
        return cast("ToolSchemas", found["tools"])
    if actions is None or isinstance(actions, bool):
        return []
    items = cast("Sequence[Any]", actions) if isinstance(actions, list | tuple) else (actions,)
    return [_schema_of(item) for item in items]


def _schema_of(item: object) -> dict[str, Any]:
    kind = type(item).__name__
    if isinstance(item, Tool):
        return item.tool_schema or {}
    if "function" in mapping(item):
        return dict(mapping(item))
    if not callable(item):
        raise TypeError(f"actions= takes a branch, True, or tools and functions, not {kind}")
    return Tool(func_callable=cast("Callable[..., Any]", item)).tool_schema or {}
