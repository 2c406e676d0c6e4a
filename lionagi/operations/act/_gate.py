"""Gates: who decides whether a tool may run. They fail closed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any

from lionagi._errors import TimeoutError
from lionagi.ln._guarded import call_guarded
from lionagi.protocols.control import ToolInvocation

__all__ = ("Decision", "Gate", "authorize", "decide", "last_decision")

Gate = Callable[[ToolInvocation], Any] | Callable[[ToolInvocation], Awaitable[Any]]
"""Takes a ToolInvocation; ``True`` itself allows it, anything else denies it."""

_DEADLINE = 10.0

last_decision: ContextVar[Decision | None] = ContextVar("lionagi_last_decision", default=None)
"""How the last ``authorize`` of this task was decided, for the audit record."""


class Decision:
    """Whether a request may run, who said so and why."""

    __slots__ = ("allowed", "by", "reason")

    def __init__(
        self,
        allowed: bool,
        by: str,
        reason: str | None = None,
    ) -> None:
        self.allowed = allowed
        self.by = by
        self.reason = reason


async def decide(gates: Sequence[Gate], invocation: ToolInvocation) -> Decision:
    """Return the first refusal of ``gates``, else an allowance; a gate that fails or does not answer refuses.

    A gate's ``deadline`` attribute, in seconds, replaces the 10 s that it has otherwise. Synchronous gates run in a
    thread of their own.
    """
    for gate in gates:
        name = _name(gate)
        deadline = getattr(gate, "deadline", _DEADLINE)
        try:
            answer = await call_guarded(gate, invocation, deadline=deadline)
        except TimeoutError:
            return Decision(False, name, f"gate {name} gave no answer in {deadline:g} s")
        except Exception as error:
            return Decision(False, name, f"gate {name} raised {type(error).__name__}: {error}")
        if answer is not True:
            said = answer if isinstance(answer, str) and answer else f"gate {name} did not allow it"
            return Decision(False, name, said)
    return Decision(True, _name(gates[-1]) if gates else "no gate")


async def authorize(gate: Gate | None, observer: Any, invocation: ToolInvocation) -> bool:
    """Return whether a branch's own gate and its observer's all allow a call; ``last_decision`` says who decided.

    Args:
        gate: The branch's own, None for none.
        observer: What the branch takes part in, None where it stands alone; ``gates`` lists its gates.
        invocation: The call.
    """
    decision = await decide([*([gate] if gate is not None else []), *(observer.gates if observer else [])], invocation)
    last_decision.set(decision)
    return decision.allowed


def _name(gate: Gate) -> str:
    return getattr(gate, "__name__", None) or type(gate).__name__
