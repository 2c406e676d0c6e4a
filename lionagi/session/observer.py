"""SessionObserver: what happens on a session's branches, for those who want to know, and its gate."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from lionagi.hooks._patience import Patience
from lionagi.operations.act._gate import Gate, decide
from lionagi.protocols.control import ToolInvocation

__all__ = ("SessionObserver",)

_logger = logging.getLogger(__name__)
Handler = Callable[..., Any]
Condition = type | Callable[[Any], bool]


class SessionObserver:
    """Shows events to handlers and asks one gate about tool calls.

    Plain functions are called in a thread. A handler that fails or hangs is logged once and never changes what it
    observes; one that hung is not called again.

    Args:
        deadline: Seconds that one handler may take.
    """

    def __init__(self, *, deadline: float = 10.0) -> None:
        self.deadline = deadline
        self._patience = Patience(_logger)
        self._handlers: list[tuple[tuple[Condition, ...], Handler]] = []
        self._gate: Gate | None = None

    def observe(self, *conditions: Condition, handler: Handler | None = None) -> Handler:
        """Call ``handler`` with each event that meets all conditions; without a handler, a decorator.

        Args:
            *conditions: Classes that the event is an instance of, or predicates.
            handler: Takes the event; may be asynchronous.
        """
        if handler is None:
            return partial(self._decorate, conditions)
        self._handlers.append((conditions, handler))
        return handler

    def _decorate(self, conditions: tuple[Condition, ...], handler: Handler) -> Handler:
        return self.observe(*conditions, handler=handler)

    def unobserve(self, handler: Handler) -> bool:
        """Remove a handler; return whether it was there."""
        kept = [entry for entry in self._handlers if entry[1] is not handler]
        found = len(kept) != len(self._handlers)
        self._handlers = kept
        return found

    async def emit(self, event: Any) -> list[Any]:
        """Show an event to the handlers, in the order of registration, and return what they returned."""
        results: list[Any] = []
        for conditions, handler in list(self._handlers):
            if self._concerns(handler, event, conditions):
                results += await self._patience.call(handler, event, deadline=self.deadline)
        return results

    def _concerns(self, handler: Handler, event: Any, conditions: tuple[Condition, ...]) -> bool:
        try:
            return all(_meets(event, condition) for condition in conditions)
        except Exception as error:
            self._patience.note(handler, error)
            return False

    def gate(self, check: Gate) -> Gate:
        """Ask ``check`` before each tool call on the session's branches; it replaces the one before."""
        self._gate = check
        return check

    def clear_gate(self) -> None:
        """Ask nobody any more."""
        self._gate = None

    @property
    def gates(self) -> list[Gate]:
        """The gate in a list, empty where there is none."""
        return [self._gate] if self._gate is not None else []

    async def authorize(self, action: ToolInvocation) -> bool:
        """Return whether the gate allows a tool call; True where there is none."""
        return (await decide(self.gates, action)).allowed


def _meets(event: Any, condition: Condition) -> bool:
    return isinstance(event, condition) if isinstance(condition, type) else bool(condition(event))
