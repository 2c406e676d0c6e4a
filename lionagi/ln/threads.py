"""Running synchronous functions beside the event loop, in daemon threads of our own.

The loop's default executor joins its threads at exit, so one function that never returns would hold up the end of the
program; and its size is fixed, so a few such functions would stop all others. Here each call has its own thread.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from lionagi._errors import ExecutionError

__all__ = ("call_in_thread", "run_in_thread")

P = ParamSpec("P")
T = TypeVar("T")


async def run_in_thread(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return ``fn(*args, **kwargs)``, run in a daemon thread with the caller's context variables.

    Cancelling returns at once; the thread goes on (Python cannot stop it) and its result is dropped. Exceptions pass
    through as they are, save StopIteration and CancelledError, which would break or end the caller's task: they
    become an ExecutionError with the original as its cause.
    """
    return await call_in_thread(lambda: fn(*args, **kwargs))


async def call_in_thread(
    call: Callable[[], T], *, on_late: Callable[[T | None, BaseException | None], object] | None = None
) -> T:
    """Do the same for a function without arguments, and report a result that nobody waits for any more.

    Args:
        call: The function.
        on_late: Called on the event loop's thread with (result, error) when the call ends after the caller was
            cancelled; not called when that loop has closed by then.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(result: T | None, error: BaseException | None) -> None:
        if future.done():
            if on_late is not None:
                on_late(result, error)
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # pyright: ignore[reportArgumentType]

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(call)
        except (StopIteration, asyncio.CancelledError) as raised:
            message = (
                f"the function raised {type(raised).__name__}, which has no meaning in a thread; raise another error"
            )
            error = ExecutionError(message, cause=raised)
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(deliver, result, error)
        except RuntimeError:
            return  # the loop has closed: nobody is left to take the result

    threading.Thread(target=work, name="lionagi-call", daemon=True).start()
    return await future
