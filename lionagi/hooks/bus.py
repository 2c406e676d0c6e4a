"""HookBus: ordered handlers for the points of :class:`~lionagi.protocols.control.HookPoint`."""

from __future__ import annotations

import logging
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from lionagi._errors import ConfigurationError, short_repr
from lionagi.hooks._patience import Patience
from lionagi.ln._guarded import call_guarded
from lionagi.ln.types.records import FrozenRecord
from lionagi.protocols.control import HookPoint

__all__ = ("BLOCKING_POINTS", "Denial", "HookBus", "StopHook", "hook")

_logger = logging.getLogger(__name__)
Handler = Callable[..., Any]
H = TypeVar("H", bound=Handler)

BLOCKING_POINTS = frozenset({HookPoint.TOOL_PRE, HookPoint.USER_PROMPT_SUBMIT})
"""Points whose handlers can stop what is about to happen."""


class StopHook(Exception):
    """Raised by a handler to skip the handlers behind it."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Denial(FrozenRecord):
    """What a handler of a blocking point returns to refuse, with its reason."""

    reason: str = "denied by a hook"


def hook(point: HookPoint | str) -> Callable[[H], H]:
    """Mark a function as a handler of ``point``; ``HookBus.on`` then needs no point."""
    found = _point(point)

    def mark(function: H) -> H:
        function.__hook_point__ = found  # pyright: ignore[reportFunctionMemberAccess]
        return function

    return mark


def _point(point: HookPoint | str) -> HookPoint:
    try:
        return HookPoint(point)
    except ValueError:
        known = ", ".join(HookPoint)
        raise ConfigurationError(f"There is no hook point {short_repr(point)}; known are {known}.") from None


class HookBus:
    """Handlers by point, called one after the other in the order of registration; plain functions in a thread.

    At most points a handler that fails or hangs is logged once and passed over; one that hung is not called again. At
    the blocking points (:data:`BLOCKING_POINTS`) its failure reaches the caller, who refuses.

    Args:
        observer: Carried along for handlers that want it.
        deadline: Seconds that one handler may take.
    """

    def __init__(self, observer: Any = None, *, deadline: float = 10.0) -> None:
        self.observer = observer
        self.deadline = deadline
        self._handlers: defaultdict[HookPoint, list[Handler]] = defaultdict(list)
        self._patience = Patience(_logger, StopHook)

    def on(self, point: HookPoint | str | Handler, handler: Handler | None = None) -> Handler:
        """Register a handler; with a function marked by :func:`hook` alone, at its own point. Returns the handler."""
        if handler is None:
            if not callable(point) or not hasattr(point, "__hook_point__"):
                raise ConfigurationError(f"on() needs a point and a handler; got {short_repr(point)}.")
            return self.on(point.__hook_point__, point)  # pyright: ignore[reportFunctionMemberAccess, reportUnknownMemberType, reportUnknownArgumentType]
        found = _point(point)  # pyright: ignore[reportArgumentType]
        if found is HookPoint.ARTIFACT_CREATED:
            warnings.warn(f"Nothing emits {found.value} yet.", UserWarning, stacklevel=2)
        self._handlers[found].append(handler)
        return handler

    def off(self, point: HookPoint | str, handler: Handler) -> bool:
        """Remove a handler; return whether it was there."""
        handlers = self._handlers[_point(point)]
        if handler not in handlers:
            return False
        handlers.remove(handler)
        return True

    def handlers_for(self, point: HookPoint | str) -> list[Handler]:
        """Return the handlers of a point, in order."""
        return list(self._handlers[_point(point)])

    async def emit(self, point: HookPoint | str, **facts: Any) -> list[Any]:
        """Call the handlers of a point with ``facts`` as keywords and return what they returned.

        Raises:
            Exception: A handler of a blocking point failed (a TimeoutError where it hung); the others are not called.
        """
        found = _point(point)
        answers: list[Any] = []
        for handler in self.handlers_for(found):
            try:
                if found in BLOCKING_POINTS:
                    answers.append(await call_guarded(partial(handler, **facts), deadline=self.deadline))
                else:
                    answers += await self._patience.call(handler, deadline=self.deadline, **facts)
            except StopHook:
                break
        return answers
