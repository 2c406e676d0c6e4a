"""Where the output format of one model call goes: the provider's own field, the prompt, or native tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from lionagi._errors import ConfigurationError
from lionagi.operations.schema.json_structure import structure_for
from lionagi.operations.schema.native import native_schema, schema_name

if TYPE_CHECKING:
    from lionagi.operations.schema.structure import Structure
    from lionagi.operations.types import ChatParam
    from lionagi.service.connections.endpoint import Endpoint

__all__ = ("OutputPlan", "plan_output")

_ACTION_FIELDS = frozenset({"action_required", "action_requests", "action_responses"})
_MODES = ("auto", "native", "prompt", "both")


@dataclass(slots=True, frozen=True)
class OutputPlan:
    """What one call says about its output.

    Attributes:
        structure: Renders and parses the format; None where plain text is asked for.
        payload: Keys for the provider's payload (a native schema or native tools).
        schema_in_prompt: Whether the prompt renders the format.
        tools_in_prompt: Whether the prompt lists the tools.
        free_text: Whether an answer that is no JSON is a legal answer (native tools were offered instead of a schema).
        schema: Name of the format, None for plain text.
        tools: Names of the tools on offer.
        mode: The way that the format took: "text", "native", "prompt", "both" or "tools".
    """

    structure: Structure | None = None
    payload: dict[str, Any] = field(default_factory=dict[str, Any])
    schema_in_prompt: bool = False
    tools_in_prompt: bool = False
    free_text: bool = False
    schema: str | None = None
    tools: tuple[str, ...] = ()
    mode: Literal["text", "native", "prompt", "both", "tools"] = "text"


def plan_output(param: ChatParam, endpoint: Endpoint, calls_left: int) -> OutputPlan:
    """Return the plan for one call.

    Tools go natively exactly when the call asks for no format beyond the generated action fields. A native schema is
    narrowed to the tools on offer and to ``calls_left``, so that a constrained model cannot name another tool.

    Raises:
        ConfigurationError: ``structured_output`` is unknown, or native where the endpoint cannot constrain its output.
    """
    tools: list[dict[str, Any]] = param.tool_schemas or []
    names = tuple(tool["function"]["name"] for tool in tools if "function" in tool)
    form = param.response_format
    if param.structure is not None:
        return OutputPlan(
            param.structure, schema_in_prompt=True, tools_in_prompt=bool(tools), tools=names, mode="prompt",
            schema=param.structure.name,
        )  # fmt: skip
    if tools and endpoint.capabilities.native_tools and (form is None or _actions_only(form)):
        structure = None if form is None else structure_for(form)
        return OutputPlan(structure, endpoint.tools_payload(tools), free_text=True, tools=names, mode="tools")
    if form is None:
        return OutputPlan(tools_in_prompt=bool(tools), tools=names)
    return _schema_plan(param, endpoint, structure_for(form), tools, names, calls_left)


def _schema_plan(
    param: ChatParam,
    endpoint: Endpoint,
    structure: Structure,
    tools: list[dict[str, Any]],
    names: tuple[str, ...],
    calls_left: int,
) -> OutputPlan:
    native, prompted = _channels(param.structured_output, endpoint)
    name = schema_name(structure)
    payload: dict[str, Any] = {}
    if native:
        strict = endpoint.capabilities.strict_schema
        payload = endpoint.schema_payload(name, native_schema(structure, tools, max_calls=calls_left, strict=strict))
    return OutputPlan(
        structure,
        payload,
        schema_in_prompt=prompted,
        tools_in_prompt=prompted and bool(tools),
        schema=name,
        tools=names,
        mode="both" if native and prompted else "native" if native else "prompt",
    )


def _channels(mode: str, endpoint: Endpoint) -> tuple[bool, bool]:
    """Return (natively, in the prompt)."""
    if mode not in _MODES:
        raise ConfigurationError(f"structured_output must be one of {', '.join(_MODES)}; got {mode!r}.")
    able = endpoint.capabilities.structured_output
    if mode in ("native", "both") and not able:
        raise ConfigurationError(
            f"structured_output={mode!r} cannot work: the endpoint {endpoint.config.name!r} has no field that "
            "constrains its output. Use 'auto' or 'prompt'."
        )
    return (able, not able) if mode == "auto" else (mode != "prompt", mode != "native")


def _actions_only(form: Any) -> bool:
    return isinstance(form, type) and issubclass(form, BaseModel) and form.model_fields.keys() <= _ACTION_FIELDS
