"""From parameters to one request: the instruction, the payload, and what the answer has to look like."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel

from lionagi._errors import ConfigurationError
from lionagi.ln.trace import span
from lionagi.operations._turn import Turn
from lionagi.operations.schema.json_structure import structure_for
from lionagi.operations.schema.native import is_object_schema, provider_schema, schema_name
from lionagi.protocols.messages.instruction import Instruction, InstructionContent
from lionagi.protocols.messages.render import WireCache, join_blocks, render_payload

if TYPE_CHECKING:
    from lionagi.operations.schema.structure import Structure
    from lionagi.operations.types import ChatParam
    from lionagi.protocols.messages.message import Message
    from lionagi.service.connections.endpoint import Endpoint
    from lionagi.service.imodel import iModel
    from lionagi.session.branch import Branch

__all__ = ("OutputPlan", "Prepared", "add_context", "plan_output", "prepare_request")

_ACTION_FIELDS = frozenset({"action_required", "action_requests", "action_responses"})
_MODES = ("auto", "native", "prompt", "both")


@dataclass(slots=True, eq=False, repr=False)
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


@dataclass(slots=True, eq=False, repr=False)
class Prepared:
    """One model call, ready to be sent."""

    branch: Branch
    turn: Turn
    instruction: Instruction
    model: iModel
    request: dict[str, Any]
    plan: OutputPlan

    def so_far(self) -> list[Message]:
        """Return what is known of the exchange before its answer: the instruction."""
        return [self.instruction]


def prepare_request(branch: Branch, instruction: Any, param: ChatParam, turn: Turn) -> Prepared:
    """Return the request of one model call; nothing is recorded and nothing is sent.

    Args:
        branch: Gives system message and history.
        instruction: Text, mapping, list or an Instruction message, which is then the one that is used.
        param: The call's parameters.
        turn: The turn whose history the model sees.
    """
    model: iModel = branch.chat_model if param.imodel is None else param.imodel
    with span("render") as step:
        endpoint = model.endpoint
        plan = plan_output(param, endpoint, turn.calls_left)
        message = _instruction(instruction, param, plan)
        messages = _messages(branch, message, param, turn, endpoint)
        if step.name:  # nothing is done where nobody traces
            step.set(messages=len(messages), output=plan.mode)
    request: dict[str, Any] = {**(param.imodel_kw or {}), **plan.payload, "messages": messages}
    if param.include_token_usage_to_model:
        request["include_token_usage_to_model"] = True
    return Prepared(branch, turn, message, model, request, plan)


def _messages(
    branch: Branch, message: Instruction, param: ChatParam, turn: Turn, endpoint: Endpoint, known: str = ""
) -> list[dict[str, Any]]:
    own, role = param.progression is None, endpoint.capabilities.system_role
    system_text = branch.system.rendered if branch.system is not None else ""
    return render_payload(
        # what is known for one call alone must not make the branch's own cache begin again
        branch.wire_cache if own and (role or not known) else WireCache(),
        turn.ids() if own else list(param.progression),
        branch.messages.collections,
        message,
        system_text=join_blocks(system_text, known) if known else system_text,
        system_role=role,
    )


async def add_context(prepared: Prepared, param: ChatParam) -> None:
    """Let what the branch's context providers know follow the system message, in this one request."""
    branch, message = prepared.branch, prepared.instruction
    known = await branch.providers.gather(branch, message)
    if known:
        endpoint = prepared.model.endpoint
        prepared.request["messages"] = _messages(branch, message, param, prepared.turn, endpoint, known)


def _instruction(instruction: Any, param: ChatParam, plan: OutputPlan) -> Instruction:
    if isinstance(instruction, Instruction):
        message = instruction
        message.content = message.content.with_updates(**_given(param, plan, message.content))
    else:
        content = InstructionContent(
            instruction=instruction,
            guidance=param.guidance,
            prompt_context=_context(param.context),
            plain_content=param.plain_content or None,
            tool_schemas=(param.tool_schemas or []) if plan.tools_in_prompt else [],
            response_format=param.response_format,
            structure=plan.structure,
            images=param.images or [],
            image_detail=param.image_detail,
            _render_schema=plan.schema_in_prompt,
        )
        message = Instruction(content=content, sender=param.sender, recipient=param.recipient)
    return message


def _given(param: ChatParam, plan: OutputPlan, content: InstructionContent) -> dict[str, Any]:
    """Return the fields of a caller's own Instruction that the call's parameters set."""
    fields: dict[str, Any] = {
        "structure": plan.structure,
        "response_format": param.response_format,
        "_render_schema": plan.schema_in_prompt,
    }
    if plan.tools_in_prompt:
        fields["tool_schemas"] = param.tool_schemas
    if param.guidance is not None:
        fields["guidance"] = param.guidance
    if param.context is not None:
        fields["prompt_context"] = [*content.prompt_context, *_context(param.context)]
    if param.images:
        fields["images"] = param.images
        fields["image_detail"] = param.image_detail
    return fields


def _context(context: Any) -> list[Any]:
    if context is None:
        return []
    return list(cast("list[Any]", context)) if isinstance(context, list) else [context]


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
    payload: dict[str, Any] = {}
    if native:
        schema, strict = provider_schema(structure, tools, calls_left, strict_mode=endpoint.capabilities.strict_schema)
        if is_object_schema(schema):
            payload = endpoint.schema_payload(schema_name(structure), schema, strict=strict)
        else:
            native, prompted = _without_native(param)
    return OutputPlan(
        structure,
        payload,
        schema_in_prompt=prompted,
        tools_in_prompt=prompted and bool(tools),
        schema=_format_name(param.response_format),
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


def _without_native(param: ChatParam) -> tuple[bool, bool]:
    """Return the channels for a format that cannot go natively: the prompt alone."""
    if param.structured_output == "native":
        raise ConfigurationError(
            f"structured_output='native' cannot work: the format {_format_name(param.response_format)} is no JSON "
            "object at its root. Wrap it in a model with one field, or use 'auto' or 'prompt'."
        )
    return False, True


def _actions_only(form: Any) -> bool:
    return isinstance(form, type) and issubclass(form, BaseModel) and form.model_fields.keys() <= _ACTION_FIELDS


def _format_name(form: Any) -> str:
    """Return what people call the format: the caller's class, not the one generated from it."""
    if isinstance(form, dict):
        return "dict"
    name: str = getattr(form, "__name__", type(form).__name__)
    return name.removesuffix("Response") if "__lionagi_pair__" in vars(form) else name
