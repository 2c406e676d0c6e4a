"""The records that the verbs leave in ``branch.logs``: model calls, tool calls and turns.

Each is a mapping with a ``kind``. They hold facts for people and views; message lists are shared, never copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionagi._errors import ExecutionError, ProviderError
from lionagi.protocols.generic.event import EventStatus
from lionagi.protocols.generic.log import Log

if TYPE_CHECKING:
    from lionagi.operations._turn import Turn
    from lionagi.operations.chat._prepare import Prepared
    from lionagi.service.api_calling import APICalling
    from lionagi.session.branch import Branch

__all__ = ("error_record", "failed_call", "log_model_call", "log_turn")

_STATUS = {EventStatus.COMPLETED: "ok", EventStatus.CANCELLED: "cancelled"}


def error_record(error: BaseException) -> dict[str, str]:
    """Return an error as ``{"type", "message"}``."""
    return {"type": type(error).__name__, "message": str(error)}


async def log_model_call(prepared: Prepared, call: APICalling) -> None:
    """Record one finished model call and show it to the observers."""
    model, execution = prepared.model, call.execution
    config = model.endpoint.config
    content = {
        "kind": "model_call",
        "turn": prepared.turn.id,
        "verb": prepared.turn.verb,
        "provider": config.provider,
        "model": model.model_name,
        "endpoint": config.endpoint,
        "endpoint_kind": "agentic" if model.is_cli else "api",
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
    await prepared.branch.emit_and_log(Log(content=content))


async def log_turn(branch: Branch, turn: Turn, **facts: Any) -> None:
    """Record how a turn ended: which result, which tools, and why requests did not run."""
    await branch.emit_and_log(Log(content={"kind": "turn", "turn": turn.id, "verb": turn.verb, **facts}))


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
