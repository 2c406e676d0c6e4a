"""Calling a function that somebody else wrote: a gate, a hook, an observer."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from typing import Any

from lionagi._errors import ExecutionError, TimeoutError, short_repr
from lionagi.ln.calls import is_coro_func
from lionagi.ln.threads import run_in_thread

__all__ = ("call_guarded",)


async def call_guarded(func: Callable[..., Any], /, *args: Any, deadline: float | None, **kw: Any) -> Any:
    """Return ``await func(*args, **kw)`` so that somebody else's function can neither hold up nor end the caller.

    A sync function runs in a thread of its own and may return an awaitable.

    Args:
        func: What to call.
        *args: For it.
        deadline: Seconds that it may take, None for no limit.
        **kw: For it.

    Raises:
        TimeoutError: The deadline passed; a thread that was running goes on.
        ExecutionError: The function raised CancelledError though nobody cancelled it.
    """
    import asyncio

    scope = asyncio.timeout(deadline)
    try:
        async with scope:
            if is_coro_func(func):
                return await func(*args, **kw)
            result = await run_in_thread(func, *args, **kw)
            return await result if inspect.isawaitable(result) else result
    except builtins.TimeoutError as error:
        if not scope.expired():
            raise
        raise TimeoutError(f"{short_repr(func)} gave no answer in {deadline:g} s") from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise ExecutionError(f"{short_repr(func)} raised CancelledError, though nobody cancelled it") from error
