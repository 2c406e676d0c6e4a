"""State that belongs to an event loop: locks, limits, HTTP sessions.

Such objects break when a second loop touches them, and one object of ours (a model, a branch) may well be used from
``asyncio.run`` twice or from a thread with a loop of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

__all__ = ("PerLoop",)

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One value per running event loop, made by ``factory`` at the first ``get`` on that loop.

    Values are dropped with their loop. A value usually refers to its loop, which would keep both alive, so values of
    closed loops are also dropped whenever a new loop comes in. A dropped value is not closed: its loop is gone.
    """

    __slots__ = ("_factory", "_lock", "_values")

    def __init__(self, factory: Callable[[], T]) -> None:
        self._factory = factory
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self) -> T:
        """Return the running loop's value; outside a loop this is a RuntimeError."""
        import asyncio

        loop = asyncio.get_running_loop()
        try:
            return self._values[loop]
        except KeyError:
            return self._make(loop)

    def pop(self) -> T | None:
        """Take the running loop's value out, or return None where there is none; for closing it."""
        import asyncio

        with self._lock:
            return self._values.pop(asyncio.get_running_loop(), None)

    def _make(self, loop: asyncio.AbstractEventLoop) -> T:
        value = self._factory()
        with self._lock:
            for old in [known for known in self._values if known.is_closed()]:
                del self._values[old]
            self._values[loop] = value
        return value

    def __len__(self) -> int:
        return len(self._values)
