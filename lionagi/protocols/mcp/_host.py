"""The event loop on which all MCP sessions live, in a daemon thread of its own.

A session belongs to the loop and the task that opened it. With a loop of its own, a server keeps its one process and
its state however many loops its tools are called from, and can be ended when the program ends.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

__all__ = ("at_end", "not_at_end", "on_host")

T = TypeVar("T")

# The SDK takes up to six seconds to end a server that ignores the end of its input and SIGTERM.
_END_SECONDS = 10.0


class _Host:
    """A running loop, and what has to be ended before it stops."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.ends: set[Callable[[], Awaitable[Any]]] = set()
        self.thread = threading.Thread(target=self.loop.run_forever, name="lionagi-mcp", daemon=True)
        self.thread.start()
        atexit.register(self.close)

    def close(self) -> None:
        """End everything and the loop; does nothing in a fork, whose copy of the thread does not run."""
        if os.getpid() != self.process:
            return
        done = asyncio.run_coroutine_threadsafe(self._end_all(), self.loop)
        with contextlib.suppress(Exception):
            done.result(_END_SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(1.0)
        if not self.thread.is_alive():
            self.loop.close()

    async def _end_all(self) -> None:
        await asyncio.gather(*(end() for end in self.ends), return_exceptions=True)


_lock = threading.Lock()
_current: _Host | None = None


def _host() -> _Host:
    global _current
    with _lock:
        if _current is None or _current.process != os.getpid():
            _current = _Host()
        return _current


async def on_host(work: Coroutine[Any, Any, T]) -> T:
    """Return what ``work`` returns, run on the host's loop; cancelling the caller cancels it there."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _host().loop))


def at_end(end: Callable[[], Awaitable[Any]]) -> None:
    """Have ``end()`` awaited on the host's loop before the program ends."""
    _host().ends.add(end)


def not_at_end(end: Callable[[], Awaitable[Any]]) -> None:
    """Undo :func:`at_end`."""
    _host().ends.discard(end)
