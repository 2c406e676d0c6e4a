"""State that belongs to an event loop: locks, limits, HTTP sessions.

Such objects break when a second loop touches them, and one object of ours (a model, a branch) may well be used from
``asyncio.run`` twice or from a thread with a loop of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import ref

if TYPE_CHECKING:
    import asyncio

__all__ = ("PerLoop",)

T = TypeVar("T")

_changing = threading.RLock()  # a factory may ask for a value of another kind


class PerLoop(Generic[T]):
    """One value per running event loop, made by ``factory`` at the first ``get`` on that loop.

    Values of loops that are closed or gone are dropped whenever a new loop comes in. A dropped value is not closed:
    its loop is gone.
    """

    __slots__ = ("_factory", "_values")

    def __init__(self, factory: Callable[..., T]) -> None:
        self._factory = factory
        # Few loops at a time, mostly one: a tuple costs a model object less than a mapping with weak keys would, and
        # is replaced as a whole, so that reading it takes no lock.
        self._values: tuple[tuple[ref[asyncio.AbstractEventLoop], T], ...] = ()

    def get(self, *args: Any) -> T:
        """Return the running loop's value, made of ``args`` if it is new; outside a loop this is a RuntimeError."""
        import asyncio

        loop = asyncio.get_running_loop()
        for known, value in self._values:
            if known() is loop:
                return value
        with _changing:
            others, value = self._others(loop), self._factory(*args)
            self._values = (*others, (ref(loop), value))
        return value

    def pop(self) -> T | None:
        """Take the running loop's value out, or return None where there is none; for closing it."""
        import asyncio

        loop = asyncio.get_running_loop()
        with _changing:
            found = [value for known, value in self._values if known() is loop]
            self._values = self._others(loop)
        return found[0] if found else None

    def _others(self, loop: asyncio.AbstractEventLoop) -> tuple[tuple[ref[asyncio.AbstractEventLoop], T], ...]:
        """Return the entries of all loops that are alive, except one."""
        return tuple(
            entry for entry in self._values if (of := entry[0]()) is not None and of is not loop and not of.is_closed()
        )

    def __len__(self) -> int:
        return len(self._values)
