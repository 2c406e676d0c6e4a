"""What the verbs leave behind: records of model calls, tool calls and turns in ``branch.logs``, and tool messages.

Each record is a mapping with a ``kind``. They hold facts for people and views; message lists are shared, never copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lionagi._errors import ExecutionError, ProviderError
from lionagi.protocols.generic.event import EventStatus
from lionagi.protocols.generic.log import Log
from lionagi.protocols.messages.action_request import ActionRequest, ActionRequestContent
from lionagi.protocols.messages.action_response import ActionResponse, ActionResponseContent

if TYPE_CHECKING:
    from lionagi.operations._turn import Turn
    from lionagi.operations.act._call import Outcome, ToolRequest
    from lionagi.operations.chat._prepare import Prepared
    from lionagi.operations.types import ActionParam
    from lionagi.service.api_calling import APICalling
    from lionagi.session.branch import Branch

__all__ = ("action_pair", "error_record", "failed_call", "log_attempt", "log_model_call", "log_turn")

_PREVIEW = 50

_STATUS = {EventStatus.COMPLETED: "ok", EventStatus.CANCELLED: "cancelled"}


def error_record(error: BaseException) -> dict[str, str]:
    """Return an error as ``{"type", "message"}``."""
    return {"type": type(error).__name__, "message": str(error)}


async def log_model_call(prepared: Prepared, call: APICalling) -> None:
    """Record one finished model call and show it to the observers."""
    content: dict[str, Any] = {"kind": "model_call", "turn": prepared.turn.id, "verb": prepared.turn.verb}
    log = _log(content)
    model, execution = prepared.model, call.execution
    endpoint = model.endpoint
    config = endpoint.config
    content |= {
        "provider": config.provider,
        "model": model.model_name,
        "endpoint": config.endpoint,
        "endpoint_kind": "agentic" if endpoint.is_cli else "api",
        "streamed": call.streamed,
        "status": _STATUS.get(execution.status, "error"),
        "error": error_record(execution.error) if isinstance(execution.error, BaseException) else None,
        "started_at": call.started_at,
        "duration": call.duration,
        "usage": call.usage,
        "finish_reason": call.finish_reason,
        "chunks": call.chunks,
        "chars": call.chars,
        "messages": call.payload["messages"],
        "tools": list(prepared.plan.tools),
        "schema": prepared.plan.schema,
        "output": prepared.plan.mode,
    }
    await prepared.branch.emit_and_log(log)


async def log_turn(branch: Branch, turn: Turn, **facts: Any) -> None:
    """Record how a turn ended: which result, which tools, and why requests did not run."""
    await branch.emit_and_log(_log({"kind": "turn", "turn": turn.id, "verb": turn.verb, **facts}))


def _log(content: dict[str, Any]) -> Log:
    log = Log(content=content)
    # each record's own set of field names would be larger than the rest of it
    object.__setattr__(log, "__pydantic_fields_set__", Log.all_names)
    return log


def failed_call(error: BaseException, partial_text: str = "") -> ExecutionError:
    """Return the one error with which a failed model call reaches the caller of a verb.

    Errors that are about the script or the recording keep their class and text; any other becomes an ExecutionError
    whose ``__cause__`` is the original.
    """
    if isinstance(error, ExecutionError) and not isinstance(error, ProviderError):
        return error
    text = str(error) or type(error).__name__
    failure = ExecutionError(f"API call failed: {text}", cause=error if isinstance(error, Exception) else None)
    failure.details = {"partial_text": getattr(error, "partial_text", "") or partial_text}
    failure.status_code = getattr(error, "status_code", None) or failure.status_code
    return failure


def action_pair(branch: Branch, call: ToolRequest) -> tuple[ActionRequest, ActionResponse]:
    """Return the linked request and response messages of a call; later prompts carry at most 64 KiB of the output."""
    name = str(call.function or "")
    recipient = call.tool.id if call.tool is not None else branch.id
    ended, arguments = call.outcome, call.asked
    asked, done = uuid4(), uuid4()
    wanted = ActionRequestContent.made(function=name, arguments=arguments, action_response_id=str(done))
    request = ActionRequest(id=asked, content=wanted, sender=branch.id, recipient=recipient)
    outcome = ActionResponseContent.made(
        function=name, arguments=arguments, output=ended.output, action_request_id=str(asked)
    )
    response = ActionResponse(id=done, content=outcome, sender=recipient, recipient=branch.id)
    if ended.status != "ok":
        response.metadata["status"] = ended.status
    return request, response


async def log_attempt(
    branch: Branch,
    turn: Turn,
    param: ActionParam,
    call: ToolRequest,
    outcome: Outcome,
    number: int,
    request_id: str,
) -> None:
    """Leave the audit record of one attempt in ``branch.logs`` and show it to the observers."""
    if param.verbose_action:
        import logging

        logging.getLogger(__name__).debug(
            "tool %s(%s): %s", call.function, str(call.arguments)[:_PREVIEW], outcome.status
        )
    if outcome.status == "error":
        import logging

        logging.getLogger(__name__).info("tool %s failed: %s", call.function, outcome.reason)
    content = {
        "kind": "tool_call",
        "turn": turn.id,
        "request_id": request_id,
        "function": call.function,
        "arguments": call.arguments if call.executed is None else call.executed,
        "output": outcome.output,
        "status": outcome.status,
        "reason": outcome.reason,
        "decided_by": outcome.decided_by,
        "started_at": outcome.started_at,
        "duration": outcome.duration,
        "attempt": number,
        "strategy": param.strategy,
    }
    if outcome.late is not None:
        content["late"] = outcome.late
    await branch.emit_and_log(_log(content))
