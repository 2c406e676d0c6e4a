"""Making messages, or updating the ones that are passed, in the way MessageManager offers it."""

from __future__ import annotations

from typing import Any, TypeVar

from lionagi._errors import ValidationError, short_repr
from lionagi.protocols.messages.action_request import ActionRequest, ActionRequestContent
from lionagi.protocols.messages.action_response import ActionResponse, ActionResponseContent
from lionagi.protocols.messages.assistant_response import AssistantResponse
from lionagi.protocols.messages.instruction import Instruction, InstructionContent
from lionagi.protocols.messages.message import Message
from lionagi.protocols.messages.system import System, SystemContent

__all__ = (
    "create_action_request",
    "create_action_response",
    "create_assistant_response",
    "create_instruction",
    "create_message",
    "create_system",
)

M = TypeVar("M", bound=Message)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _updated(message: M, fields: dict[str, Any], sender: Any, recipient: Any) -> M:
    message.update(sender=sender, recipient=recipient, **fields)
    return message


def create_instruction(
    *,
    instruction: Any = None,
    context: Any = None,
    handle_context: str = "extend",
    guidance: Any = None,
    images: Any = None,
    plain_content: str | None = None,
    image_detail: str | None = None,
    response_format: Any = None,
    tool_schemas: Any = None,
    structure: Any = None,
    sender: Any = None,
    recipient: Any = None,
) -> Instruction:
    """Return a new Instruction, or the one passed as ``instruction`` with these fields updated.

    None leaves a field as it is; ``handle_context`` "extend" adds the context to what is there, "replace" replaces it.
    """
    fields = _given(
        context=context,
        guidance=guidance,
        images=images,
        plain_content=plain_content,
        image_detail=image_detail,
        response_format=response_format,
        tool_schemas=tool_schemas,
        structure=structure,
    )
    if handle_context != "extend":
        fields["handle_context"] = handle_context
    if isinstance(instruction, Instruction):
        return _updated(instruction, fields, sender, recipient)
    fields["instruction"] = instruction
    return Instruction(content=InstructionContent(**fields), sender=sender, recipient=recipient)


def create_assistant_response(
    *, sender: Any = None, recipient: Any = None, assistant_response: Any = None
) -> AssistantResponse:
    """Return a new AssistantResponse of a provider's answer, or the one that was passed, its parties updated."""
    if isinstance(assistant_response, AssistantResponse):
        return _updated(assistant_response, {}, sender, recipient)
    return AssistantResponse.from_response(
        "" if assistant_response is None else assistant_response, sender=sender, recipient=recipient
    )


def create_action_request(
    *,
    sender: Any = None,
    recipient: Any = None,
    function: Any = None,
    arguments: Any = None,
    action_request: ActionRequest | None = None,
) -> ActionRequest:
    """Return a new ActionRequest, or the one passed as ``action_request`` with these fields updated."""
    fields = _given(function=function, arguments=arguments)
    if action_request is not None:
        return _updated(action_request, fields, sender, recipient)
    return ActionRequest(content=ActionRequestContent(**fields), sender=sender, recipient=recipient)


def create_action_response(
    *,
    action_request: ActionRequest | None,
    action_output: Any = None,
    action_response: ActionResponse | None = None,
    sender: Any = None,
    recipient: Any = None,
    error: str | None = None,
) -> ActionResponse:
    """Return an ActionResponse linked with its request in both directions.

    Args:
        action_request: The answered request.
        action_output: What the tool returned.
        action_response: A ready response, whose output is updated and which is linked.
        sender: Who ran the tool.
        recipient: Who gets the output.
        error: The error's text where the call failed.
    """
    if not isinstance(action_request, ActionRequest):
        raise ValidationError(
            f"An action response needs its corresponding action request, not {short_repr(action_request)}"
        )
    if action_response is not None:
        fields = _given(output=action_output, error=error, action_request_id=action_request.id)
        _updated(action_response, fields, sender, recipient)
    else:
        content = ActionResponseContent(
            function=action_request.function,
            arguments=action_request.arguments,
            output=action_output,
            action_request_id=action_request.id,
            error=error,
        )
        action_response = ActionResponse(content=content, sender=sender, recipient=recipient)
    # The link is not part of what a model sees, so rendered history stays as it is.
    object.__setattr__(action_request.content, "action_response_id", str(action_response.id))
    return action_response


def create_system(
    *, system: Any = None, system_datetime: bool | str | None = None, sender: Any = None, recipient: Any = None
) -> System:
    """Return a new System of a text, or the one passed as ``system`` with these fields updated."""
    fields = _given(system_datetime=system_datetime)
    if isinstance(system, System):
        return _updated(system, fields, sender, recipient)
    message = System(content=SystemContent(system_message=system, **fields))
    return _updated(message, {}, sender, recipient)


def create_message(
    *,
    sender: Any = None,
    recipient: Any = None,
    instruction: Any = None,
    assistant_response: Any = None,
    system: Any = None,
    system_datetime: bool | str | None = None,
    action_request: ActionRequest | None = None,
    action_response: ActionResponse | None = None,
    action_output: Any = None,
    function: Any = None,
    arguments: Any = None,
    metadata: dict[str, Any] | None = None,
    **instruction_fields: Any,
) -> Message:
    """Return the one message that the arguments describe; see the other functions of this module.

    An ``action_output`` that is not None, or an ``action_response``, makes a response to ``action_request``.
    ``metadata`` is kept in the message's ``metadata["extra"]``.
    """
    is_response = action_output is not None or action_response is not None
    is_request = not is_response and (action_request is not None or function is not None)
    kinds = [instruction is not None, assistant_response is not None, system is not None, is_request]
    if sum(kinds) > 1:
        raise ValidationError(
            "Only one message type can be added at a time: give one of instruction, assistant_response, system, action"
        )
    parties: dict[str, Any] = {"sender": sender, "recipient": recipient}
    message: Message
    if is_response:
        message = create_action_response(
            action_request=action_request, action_output=action_output, action_response=action_response, **parties
        )
    elif is_request:
        message = create_action_request(
            function=function, arguments=arguments, action_request=action_request, **parties
        )
    elif system is not None:
        message = create_system(system=system, system_datetime=system_datetime, **parties)
    elif assistant_response is not None:
        message = create_assistant_response(assistant_response=assistant_response, **parties)
    else:
        message = create_instruction(instruction=instruction, **instruction_fields, **parties)
    if metadata:
        extra: dict[str, Any] = message.metadata.setdefault("extra", {})
        extra.update(metadata)
    return message
