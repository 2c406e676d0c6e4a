"""One model call without any effect on the branch's history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionagi._errors import ExecutionError, ProviderError
from lionagi.ln.trace import span
from lionagi.operations._records import failed_call, log_model_call
from lionagi.operations._turn import Turn, turn_for, under_way
from lionagi.operations.chat._prepare import Prepared, add_context, prepare_request
from lionagi.operations.types import ChatParam
from lionagi.protocols.generic.event import EventStatus
from lionagi.protocols.messages.assistant_response import AssistantResponse, AssistantResponseContent

if TYPE_CHECKING:
    from lionagi.protocols.messages.instruction import Instruction
    from lionagi.service.api_calling import APICalling
    from lionagi.service.imodel import iModel
    from lionagi.service.types import Answer
    from lionagi.session.branch import Branch

__all__ = ("answer_message", "ask", "chat", "prepare_chat_kw")


def prepare_chat_kw(
    branch: Branch,
    instruction: Any = None,
    *,
    sender: Any = None,
    recipient: Any = None,
    request_fields: Any = None,
    response_format: Any = None,
    imodel: iModel | None = None,
    return_ins_res_message: bool = False,
    kwargs: dict[str, Any] | None = None,
    **param: Any,
) -> dict[str, Any]:
    """Return the arguments of :func:`chat` for the public call.

    Args:
        branch: Gives the sender, the recipient and the model where they are omitted.
        instruction: What to ask; "" when omitted.
        sender: Of the instruction.
        recipient: Of the instruction.
        request_fields: The format, as ``response_format``.
        response_format: What the answer has to look like.
        imodel: A model for this call.
        return_ins_res_message: As of :func:`chat`.
        kwargs: Further options for the model.
        **param: Further fields of the ChatParam.
    """
    return {
        "instruction": "" if instruction is None else instruction,
        "chat_param": ChatParam(
            sender=sender or branch.user or "user",
            recipient=recipient or branch.id,
            response_format=request_fields if response_format is None else response_format,
            imodel=imodel or branch.chat_model,
            imodel_kw=kwargs or {},
            **param,
        ),
        "return_ins_res_message": return_ins_res_message,
    }


async def chat(
    branch: Branch, instruction: Any, chat_param: ChatParam, return_ins_res_message: bool = False
) -> str | tuple[Instruction, AssistantResponse]:
    """Ask the model once and return its text; the branch's messages stay as they are.

    Args:
        branch: Gives system message, history and the default model.
        instruction: Text, mapping, list or Instruction.
        chat_param: The call's parameters.
        return_ins_res_message: Return the two messages of the exchange instead of the text.

    Raises:
        ExecutionError: The call failed ("API call failed: …"); ``__cause__`` is the provider's own error.
        ScriptExhaustedError: A scripted model has no answer left.
    """
    with span("chat", branch=branch.id, branch_name=branch.name):
        prepared, response = await ask(branch, instruction, chat_param, turn_for(branch, "chat"))
    return (prepared.instruction, response) if return_ins_res_message else response.response


async def ask(
    branch: Branch, instruction: Any, chat_param: ChatParam, turn: Turn, *, recorded: bool = False, bare: bool = False
) -> tuple[Prepared, AssistantResponse]:
    """Send one call within ``turn`` and return what was sent beside the answer; nothing is added to the history.

    ``recorded`` says that the caller is going to add it: until then the exchange is under way. ``bare`` leaves out the
    context providers.
    """
    prepared = prepare_request(branch, instruction, chat_param, turn)
    if branch.context_providers and not bare:
        await add_context(prepared, chat_param)
    with span("model call", provider=prepared.model.endpoint.config.provider, model=prepared.model.model_name) as step:
        call = prepared.model.create_api_calling(**prepared.request)
        if recorded:
            under_way[prepared] = None
        try:
            await prepared.model.invoke(call)
            answer = _answer_of(call)
        finally:
            under_way.pop(prepared, None)
            await log_model_call(prepared, call)
        step.set(usage=answer.usage, finish_reason=answer.finish_reason)
        step.keep(messages=call.payload["messages"], answer=answer.text)
    return prepared, answer_message(prepared, answer)


def _answer_of(call: APICalling) -> Answer:
    """Return the answer, or raise the verbs' one error for a failed call; an unreadable answer is a failed call."""
    error: Any = call.execution.error
    if call.status == EventStatus.COMPLETED:
        try:
            return call.answer
        except ProviderError as unreadable:
            call.execution.status, call.execution.error = EventStatus.FAILED, unreadable
            error = unreadable
    raise failed_call(error if isinstance(error, BaseException) else ExecutionError(str(error)))


def answer_message(prepared: Prepared, answer: Answer) -> AssistantResponse:
    """Return the AssistantResponse that holds an answer: its text, its native tool calls, its refusal."""
    metadata: dict[str, Any] = {"model_response": answer.raw}
    if answer.tool_calls:
        metadata["tool_calls"] = [
            {"function": call.function, "arguments": call.arguments, "id": call.id} for call in answer.tool_calls
        ]
    if answer.refusal:
        metadata["refusal"] = answer.refusal
    return AssistantResponse(
        content=AssistantResponseContent(assistant_response=answer.text or answer.refusal or ""),
        sender=prepared.branch.id,
        recipient=prepared.instruction.sender,
        metadata=metadata,
    )
