"""From parameters to one request: the instruction, the payload, and what the answer has to look like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from lionagi.ln.trace import span
from lionagi.operations._turn import Turn
from lionagi.operations.chat._output import OutputPlan, plan_output
from lionagi.protocols.messages.instruction import Instruction, InstructionContent
from lionagi.protocols.messages.render import WireCache, render_payload

if TYPE_CHECKING:
    from lionagi.operations.types import ChatParam
    from lionagi.service.imodel import iModel
    from lionagi.session.branch import Branch

__all__ = ("Prepared", "prepare_request")


@dataclass(slots=True, frozen=True)
class Prepared:
    """One model call, ready to be sent."""

    branch: Branch
    turn: Turn
    instruction: Instruction
    model: iModel
    request: dict[str, Any]
    plan: OutputPlan


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
        plan = plan_output(param, model.endpoint, turn.calls_left)
        message = _instruction(instruction, param, plan)
        own = param.progression is None
        messages = render_payload(
            branch.wire_cache if own else WireCache(),
            turn.ids() if own else list(param.progression),
            branch.messages.collections,
            message,
            system_text=branch.system.rendered if branch.system is not None else "",
            system_role=model.endpoint.capabilities.system_role,
        )
        step.set(messages=len(messages), output=plan.mode)
    request: dict[str, Any] = {**(param.imodel_kw or {}), **plan.payload, "messages": messages}
    if param.include_token_usage_to_model:
        request["include_token_usage_to_model"] = True
    return Prepared(branch, turn, message, model, request, plan)


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
