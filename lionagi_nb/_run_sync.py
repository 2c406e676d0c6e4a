"""Running a coroutine from synchronous code, also where an event loop is running; nothing is patched."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import contextvars
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from lionagi._errors import OperationError, TimeoutError, short_repr

__all__ = ("run_sync",)

T = TypeVar("T")

_GRACE = 5.0  # seconds that a cancelled coroutine has for its clean-up
_NAME = "lionagi-run-sync"


class _Background:
    """One daemon thread with its own event loop, started at the first use and kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the running loop of the thread; a thread that is gone (after a fork) is replaced."""
        with self._lock:
            if self._loop is None or self.thread is None or not self.thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self.thread = threading.Thread(target=self._serve, args=(self._loop,), name=_NAME, daemon=True)
                # An empty context: what one caller had set must not reach the coroutines of the next.
                contextvars.Context().run(self.thread.start)
            return self._loop

    @staticmethod
    def _serve(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        loop.run_forever()


_background = _Background()


def run_sync(coro: Coroutine[Any, Any, T], *, timeout: float | None = None) -> T:
    """Run a coroutine to its end and return its result, wherever the caller stands.

    Without a running loop in this thread it is `asyncio.run`. With one (a notebook cell) the coroutine runs as a task
    on one background thread's loop, in a copy of the caller's context, so that what it prints appears in this cell.
    The caller's loop stands still meanwhile. An interrupt cancels the task and raises KeyboardInterrupt.

    Args:
        coro: The coroutine.
        timeout: Seconds after which it is cancelled; None waits without end.

    Raises:
        TimeoutError: The time ran out.
        OperationError: Called from a coroutine that `run_sync` itself is running: it would wait for itself.
        TypeError: `coro` is no coroutine.
    """
    if not asyncio.iscoroutine(coro):
        raise TypeError(f"run_sync() takes a coroutine, not {short_repr(coro)}; call the async function first")
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_limited(coro, timeout))
    if threading.current_thread() is _background.thread:
        coro.close()
        raise OperationError("run_sync() was called from a coroutine that it is running; await the coroutine instead")
    return _in_background(coro, timeout)


async def _limited(coro: Coroutine[Any, Any, T], timeout: float | None) -> T:
    scope = asyncio.timeout(timeout)
    try:
        async with scope:
            return await coro
    except builtins.TimeoutError as error:
        if scope.expired():
            raise TimeoutError(f"run_sync: no result in {timeout:g} s; the coroutine was cancelled") from error
        raise


def _in_background(coro: Coroutine[Any, Any, T], timeout: float | None) -> T:
    loop = _background.loop()
    context = contextvars.copy_context()
    done: Future[T] = Future()
    tasks: list[asyncio.Task[None]] = []

    async def run() -> None:
        try:
            done.set_result(await _limited(coro, timeout))
        except BaseException as error:  # SystemExit would otherwise end the thread's loop, and nobody would be told
            done.set_exception(error)

    def start() -> None:
        task = loop.create_task(run(), context=context)
        tasks.append(task)
        task.add_done_callback(finish)

    def finish(task: asyncio.Task[None]) -> None:
        if not done.done():  # cancelled before its first step
            coro.close()
            done.set_exception(asyncio.CancelledError())

    loop.call_soon_threadsafe(start)
    try:
        return done.result()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
        with contextlib.suppress(BaseException):
            done.exception(_GRACE)
        raise
