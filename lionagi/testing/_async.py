"""AsyncTestHelpers: waiting in tests, with deadlines that a test can shorten to nothing."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Sequence
from functools import wraps
from inspect import isawaitable
from typing import Any, ClassVar, TypeVar

from lionagi._errors import TimeoutError, short_repr
from lionagi.ln.clock import SYSTEM_CLOCK, Clock

__all__ = ("AsyncTestHelpers",)

T = TypeVar("T")
_CLEAN_UP_GRACE = 0.01
_CANCEL_GRACE = 1.0


class AsyncTestHelpers:
    """Bounded waiting for tests; the defaults are test conveniences and promise nothing about speed.

    Attributes:
        clock: What all deadlines and pauses pass on; set another one in a subclass, so that a test of a deadline
            waits for nothing.
    """

    clock: ClassVar[Clock] = SYSTEM_CLOCK

    @classmethod
    async def assert_eventually(
        cls,
        condition: Callable[[], Any],
        timeout: float = 5.0,
        interval: float = 0.1,
        error_message: str | None = None,
    ) -> None:
        """Return as soon as ``condition()`` is true, awaited where it is a coroutine function.

        Raises:
            AssertionError: It was not true within ``timeout`` seconds, looked at every ``interval`` seconds.
        """
        deadline = cls.clock.monotonic() + timeout
        while True:
            value = condition()
            if await value if isawaitable(value) else value:
                return
            left = deadline - cls.clock.monotonic()
            # what is left after many additions of an interval is a rounding error, not another look
            if left < interval / 1000:
                raise AssertionError(error_message or f"the condition did not hold within {timeout} seconds")
            await cls.clock.sleep(min(interval, left))

    @classmethod
    async def collect_async_results(
        cls, async_gen: AsyncIterable[T], limit: int = 100, timeout: float = 10.0
    ) -> list[T]:
        """Return what arrives, up to ``limit`` items or ``timeout`` seconds; neither is an error."""
        results: list[T] = []

        async def collect() -> None:
            if limit > 0:
                async for item in async_gen:
                    results.append(item)
                    if len(results) >= limit:
                        return

        try:
            if (ended := await _within(collect(), timeout, cls.clock)) is not None:
                ended.result()
        finally:
            close = getattr(async_gen, "aclose", None)
            if close is not None:
                await close()
        return results

    @classmethod
    async def run_with_timeout(
        cls, coro_function: Callable[..., Awaitable[T]], timeout: float = 5.0, *args: Any, **kwargs: Any
    ) -> T:
        """Return ``await coro_function(*args, **kwargs)``.

        Raises:
            TimeoutError: It ran longer than ``timeout`` seconds; it was cancelled.
        """
        ended = await _within(coro_function(*args, **kwargs), timeout, cls.clock)
        if ended is None:
            raise TimeoutError(
                f"{short_repr(coro_function)} ran past {timeout} seconds; allow more time or find what it waits for"
            )
        return ended.result()

    @classmethod
    async def wait_for_all(cls, tasks: Sequence[Awaitable[T]], timeout: float = 10.0) -> list[T]:
        """Return the results of all tasks in their order; the first exception of one of them is raised.

        Raises:
            TimeoutError: Some did not end within ``timeout`` seconds; those were cancelled.
        """
        running = [asyncio.ensure_future(task) for task in tasks]
        ended = await _within(_gathered(running), timeout, cls.clock)
        if ended is None:
            late = sum(task.cancelled() for task in running)
            raise TimeoutError(
                f"{late} of {len(running)} tasks did not end within {timeout} seconds and were cancelled"
            )
        return ended.result()

    @classmethod
    def assert_async_context_cleanup(
        cls, func: Callable[..., Coroutine[Any, Any, T]]
    ) -> Callable[..., Coroutine[Any, Any, T]]:
        """Decorate a coroutine function: a UserWarning says how many tasks it left running, by name.

        They are counted 0.01 s after it returned. Where it raised, the tasks that it started are cancelled.
        """

        @wraps(func)
        async def checked(*args: Any, **kwargs: Any) -> T:
            before = asyncio.all_tasks()
            try:
                result = await func(*args, **kwargs)
            except BaseException:
                await _cancelled(asyncio.all_tasks() - before)
                raise
            await cls.clock.sleep(_CLEAN_UP_GRACE)
            left = asyncio.all_tasks() - before
            if left:
                names = ", ".join(sorted(task.get_name() for task in left))
                warnings.warn(f"{func.__qualname__} left {len(left)} tasks running: {names}", stacklevel=2)
            return result

        return checked


async def _gathered(tasks: Sequence[asyncio.Future[T]]) -> list[T]:
    return list(await asyncio.gather(*tasks))


async def _within(awaitable: Awaitable[T], seconds: float, clock: Clock) -> asyncio.Future[T] | None:
    """Return what ended, None where the deadline came first and it was cancelled."""
    task = asyncio.ensure_future(awaitable)
    timer = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        return task if task.done() else None
    finally:
        await _cancelled({task, timer})


async def _cancelled(tasks: set[Any]) -> None:
    """Cancel what is unfinished and see it end; a task that refuses to be cancelled is left behind."""
    open_ones = {task for task in tasks if not task.done()}
    for task in open_ones:
        task.cancel()
    if open_ones:
        await asyncio.wait(open_ones, timeout=_CANCEL_GRACE)
