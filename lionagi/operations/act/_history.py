"""What a tool call leaves behind: a pair of messages and an audit record."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lionagi.operations.act._call import Outcome, ToolCall
from lionagi.protocols.generic.log import Log
from lionagi.protocols.messages.create import create_action_request, create_action_response

if TYPE_CHECKING:
    from lionagi.operations._turn import Turn
    from lionagi.operations.types import ActionParam
    from lionagi.protocols.messages.action_request import ActionRequest
    from lionagi.protocols.messages.action_response import ActionResponse
    from lionagi.session.branch import Branch

__all__ = ("action_pair", "log_attempt")

_logger = logging.getLogger(__name__)
_PREVIEW = 50


def action_pair(branch: Branch, call: ToolCall) -> tuple[ActionRequest, ActionResponse]:
    """Return the linked request and response messages of a call; later prompts carry at most 64 KiB of the output."""
    name = str(call.function or "")
    recipient = call.tool.id if call.tool is not None else branch.id
    request = create_action_request(function=name, arguments=call.asked, sender=branch.id, recipient=recipient)
    response = create_action_response(
        action_request=request, action_output=call.outcome.output, sender=recipient, recipient=branch.id
    )
    if call.outcome.status != "ok":
        response.metadata["status"] = call.outcome.status
    return request, response


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
