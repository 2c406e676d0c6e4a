"""Calling those who only listen: whatever they do, what they listen to goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from lionagi._errors import TimeoutError
from lionagi.ln._guarded import call_guarded

__all__ = ("Patience",)

Listener = Callable[..., Any]


class Patience:
    """Calls listeners and keeps those in mind that failed, so that each is logged once and none waited for twice.

    Args:
        logger: Where failures go.
        signal: An exception that is no failure and passes.
    """

    def __init__(self, logger: logging.Logger, signal: type[Exception] | tuple[()] = ()) -> None:
        self._logger = logger
        self._signal = signal
        self._failed: dict[int, Listener] = {}
        self._hung: dict[int, Listener] = {}

    async def call(self, listener: Listener, *args: Any, deadline: float, **facts: Any) -> list[Any]:
        """Return the listener's answer in a list; an empty one where it failed, hangs, or hung before."""
        if id(listener) in self._hung:
            return []
        try:
            return [await call_guarded(partial(listener, *args, **facts), deadline=deadline)]
        except self._signal:
            raise
        except TimeoutError:
            self._hung[id(listener)] = listener
            self._logger.warning("%s gave no answer in %g s and is not called any more", _name(listener), deadline)
        except Exception as error:
            self.note(listener, error)
        return []

    def note(self, listener: Listener, error: Exception) -> None:
        """Log a failure, the first of each listener as a warning."""
        level = logging.DEBUG if id(listener) in self._failed else logging.WARNING
        self._failed[id(listener)] = listener
        self._logger.log(level, "%s failed (logged once): %r", _name(listener), error)


def _name(listener: Listener) -> str:
    return getattr(listener, "__qualname__", None) or type(listener).__name__
