"""What the hooks of a branch hear about a tool call, and how they refuse one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionagi._errors import TimeoutError
from lionagi.protocols.control import HookPoint

if TYPE_CHECKING:
    from lionagi.hooks.bus import HookBus

__all__ = ("ask_hooks", "tell_hooks")

_SUMMARY = 200


async def ask_hooks(hooks: HookBus, function: str, arguments: dict[str, Any], call_id: str) -> tuple[str, str] | None:
    """Emit TOOL_PRE; return reason and refuser where a handler refuses, raises or hangs, else None."""
    facts = {"tool_name": function, "call_id": call_id, "args_summary": str(arguments)[:_SUMMARY]}
    try:
        answers = await hooks.emit(HookPoint.TOOL_PRE, **facts)
    except TimeoutError:
        return f"a hook gave no answer in {hooks.deadline:g} s", "hook"
    except Exception as error:
        return f"a hook raised {type(error).__name__}: {error}", "hook"
    for answer in answers:
        if answer is False:
            return "a hook returned False", "hook"
        if (reason := getattr(answer, "reason", None)) is not None and getattr(answer, "decision", "deny") != "allow":
            return str(reason), "hook"
    return None


async def tell_hooks(hooks: HookBus, function: str, call_id: str, output: Any, error: BaseException | None) -> None:
    """Emit TOOL_POST or, where the tool failed, TOOL_ERROR; handlers that fail are logged by the bus."""
    if error is None:
        facts: dict[str, Any] = {"result_summary": str(output)[:_SUMMARY]}
        await hooks.emit(HookPoint.TOOL_POST, tool_name=function, call_id=call_id, **facts)
    else:
        await hooks.emit(HookPoint.TOOL_ERROR, tool_name=function, call_id=call_id, error=error)
