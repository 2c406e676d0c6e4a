"""What a tool call leaves behind: a pair of messages and an audit record."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from lionagi.ln.jsons import json_dumps
from lionagi.operations.act._call import Outcome, ToolCall
from lionagi.protocols.generic.log import Log
from lionagi.protocols.messages.action_request import ActionRequest, ActionRequestContent
from lionagi.protocols.messages.action_response import ActionResponse, ActionResponseContent

if TYPE_CHECKING:
    from lionagi.operations._turn import Turn
    from lionagi.operations.types import ActionParam
    from lionagi.session.branch import Branch

__all__ = ("action_pair", "log_attempt")

_logger = logging.getLogger(__name__)
_CLIP = 64 * 1024
_PREVIEW = 50


def action_pair(branch: Branch, call: ToolCall) -> tuple[ActionRequest, ActionResponse]:
    """Return the linked request and response messages of a call; the history's output is clipped at 64 KiB."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    recipient = call.tool.id if call.tool is not None else branch.id
    request = ActionRequest(
        content=ActionRequestContent(function=str(call.function or ""), arguments=arguments),
        sender=branch.id,
        recipient=recipient,
    )
    response = ActionResponse(
        content=ActionResponseContent(
            function=str(call.function or ""),
            arguments=arguments,
            output=_clip(call.outcome.output),
            action_request_id=str(request.id),
        ),
        sender=recipient,
        recipient=branch.id,
    )
    request.content.action_response_id = str(response.id)
    return request, response


def _clip(output: Any) -> Any:
    """Return the output, or the start of its text where that is longer than the history keeps."""
    if output is None or isinstance(output, bool | int | float):
        return output
    if isinstance(output, str):
        text = output
    else:
        try:
            text = json_dumps(output)
        except (TypeError, ValueError):
            text = repr(output)
    if len(text) <= _CLIP:
        return output if isinstance(output, str) else _plain(output, text)
    return f"{text[:_CLIP]}… ({len(text) - _CLIP} more characters)"


def _plain(output: Any, text: str) -> Any:
    """Return what the history keeps of an object: itself where it is plain data, else its JSON form."""
    if isinstance(output, dict | list):
        return output  # pyright: ignore[reportUnknownVariableType]
    try:
        return json.loads(text)
    except ValueError:
        return text


async def log_attempt(
    branch: Branch,
    turn: Turn,
    param: ActionParam,
    call: ToolCall,
    outcome: Outcome,
    number: int,
    request_id: str,
) -> None:
    """Leave the audit record of one attempt in ``branch.logs`` and show it to the observers."""
    if param.verbose_action:
        _logger.debug("tool %s(%s): %s", call.function, str(call.arguments)[:_PREVIEW], outcome.status)
    if outcome.status == "error":
        _logger.info("tool %s failed: %s", call.function, outcome.reason)
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
    await branch.emit_and_log(Log(content=content))
