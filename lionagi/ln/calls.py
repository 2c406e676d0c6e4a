"""Calling one function for many inputs: bounded, in input order, safe to cancel.

Sync functions run in threads of our own, so that none of them holds up the loop; see :mod:`lionagi.ln.threads`.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from lionagi._errors import TimeoutError, ValidationError, short_repr
from lionagi.ln.clock import SYSTEM_CLOCK, Clock
from lionagi.ln.lists import to_list
from lionagi.ln.threads import run_in_thread
from lionagi.ln.types import Params, Undefined, Unset

__all__ = ("AlcallParams", "BcallParams", "alcall", "bcall", "is_coro_func", "lcall")

# The fields keep the types that callers give; only the default is of another type.
_UNSET: Any = Unset

_Call = Callable[[Any], Coroutine[Any, Any, Any]]


def is_coro_func(func: object) -> bool:
    """Return whether calling ``func`` gives a coroutine, also for partials and objects with an async ``__call__``."""
    return inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(getattr(func, "__call__", None))  # noqa: B004


async def alcall(
    input_: Any,
    func: Callable[..., Any],
    /,
    *,
    input_flatten: bool = False,
    input_dropna: bool = False,
    input_unique: bool = False,
    input_flatten_tuple_set: bool = False,
    output_flatten: bool = False,
    output_dropna: bool = False,
    output_unique: bool = False,
    output_flatten_tuple_set: bool = False,
    delay_before_start: float = 0,
    retry_initial_delay: float = 0,
    retry_backoff: float = 1,
    retry_default: Any = Unset,
    retry_timeout: float | None = None,
    retry_attempts: int | None = 0,
    max_concurrent: int | None = None,
    throttle_period: float | None = None,
    return_exceptions: bool = False,
    clock: Clock | None = None,
    **kw: Any,
) -> list[Any]:
    """Return ``[await func(item, **kw) for each item]``, run at the same time, in input order.

    Args:
        input_: The items, as :func:`to_list` reads them: a single value is a list of one. ``input_*`` and
            ``output_*`` are that function's options for the items and for the results.
        func: Sync or async.
        delay_before_start: Seconds to wait before the first call.
        retry_initial_delay: Seconds before the second attempt for an item.
        retry_backoff: Factor on that delay from one attempt to the next.
        retry_default: The item's result when every attempt failed; without it the last error is raised.
        retry_timeout: Seconds for each attempt; then it fails with a TimeoutError.
        retry_attempts: Attempts after the first. Only an Exception is retried, never a cancellation.
        max_concurrent: The most calls at one time; no limit by default.
        throttle_period: Seconds from one item's start to the next one's.
        return_exceptions: Put an item's error into the results instead of raising it.
        clock: Does the waiting between attempts and starts.
        **kw: Passed on to ``func``.

    Raises:
        Exception: What a call raised; the other calls are cancelled. Several errors at the same time come as an
            ExceptionGroup.
    """
    if not callable(func):
        raise ValidationError(f"alcall needs a function to call, not {short_repr(func)}")
    waiting = clock or SYSTEM_CLOCK
    items: list[Any] = (
        cast("list[Any]", input_)
        if type(input_) is list and not (input_flatten or input_dropna or input_unique)
        else to_list(
            input_,
            flatten=input_flatten,
            dropna=input_dropna,
            unique=input_unique,
            flatten_tuple_set=input_flatten_tuple_set,
        )
    )
    if delay_before_start > 0:
        await waiting.sleep(delay_before_start)
    call = _one_call(func, kw, retry_timeout)
    if retry_attempts:
        call = _retrying(call, retry_attempts, retry_initial_delay, retry_backoff, waiting)
    if retry_default is not Unset or return_exceptions:
        call = _guarded(call, retry_default)
    results = await _fan_out(items, call, max_concurrent, throttle_period or 0, waiting)
    if not (output_flatten or output_dropna or output_unique):
        return results
    return to_list(
        results,
        flatten=output_flatten,
        dropna=output_dropna,
        unique=output_unique,
        flatten_tuple_set=output_flatten_tuple_set,
    )


def _one_call(func: Callable[..., Any], kw: dict[str, Any], timeout: float | None) -> _Call:
    async def in_thread(item: Any) -> Any:
        result = await run_in_thread(func, item, **kw)
        return await result if inspect.isawaitable(result) else result

    async def on_loop(item: Any) -> Any:
        return await func(item, **kw)

    call = on_loop if is_coro_func(func) else in_thread
    if timeout is None:
        return call

    async def within(item: Any) -> Any:
        import asyncio

        deadline = asyncio.timeout(timeout)
        try:
            async with deadline:
                return await call(item)
        except builtins.TimeoutError:
            if not deadline.expired():
                raise
        raise TimeoutError(
            f"the call for {short_repr(item)} did not end within {timeout} s; allow more or ask for less"
        )

    return within


def _retrying(call: _Call, attempts: int, delay: float, backoff: float, clock: Clock) -> _Call:
    from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_exponential

    retrying = AsyncRetrying(
        stop=stop_after_attempt(1 + attempts),
        wait=wait_exponential(multiplier=delay, exp_base=backoff),
        retry=retry_if_exception_type(Exception),
        sleep=clock.sleep,
        reraise=True,
    )

    async def with_retries(item: Any) -> Any:
        return await retrying.copy()(call, item)

    return with_retries


def _guarded(call: _Call, default: Any) -> _Call:
    async def guarded(item: Any) -> Any:
        try:
            return await call(item)
        except Exception as error:
            return error if default is Unset else default

    return guarded


async def _fan_out(items: list[Any], call: _Call, limit: int | None, period: float, clock: Clock) -> list[Any]:
    if limit is not None and limit < 1:
        raise ValidationError(f"max_concurrent must be at least 1, not {limit}; leave it out for no limit")
    if len(items) == 1:
        return [await call(items[0])]
    try:
        return await _run_all(items, call, limit, period, clock)
    except BaseExceptionGroup as group:
        single = group.exceptions[0] if len(group.exceptions) == 1 else group
    raise single


async def _run_all(items: list[Any], call: _Call, limit: int | None, period: float, clock: Clock) -> list[Any]:
    # Tasks are made only when there is room for them: ten thousand items at two a time are never ten thousand tasks.
    import asyncio

    room = asyncio.Semaphore(limit) if limit is not None and limit < len(items) else None
    tasks: list[asyncio.Task[Any]] = []
    async with asyncio.TaskGroup() as group:
        for item in items:
            if tasks and period > 0:
                await clock.sleep(period)
            if room is not None:
                await room.acquire()
            task = group.create_task(call(item))
            if room is not None:
                task.add_done_callback(lambda _, room=room: room.release())
            tasks.append(task)
    return [task.result() for task in tasks]


async def bcall(
    input_: Any, func: Callable[..., Any], /, batch_size: int, **options: Any
) -> AsyncGenerator[list[Any], None]:
    """Yield :func:`alcall`'s results for one batch of items after the other; the last batch may be smaller.

    ``input_*`` options apply to the whole input, all others to each batch.
    """
    if batch_size < 1:
        raise ValidationError(f"batch_size must be at least 1, not {batch_size}")
    how = {name: options.pop(f"input_{name}", False) for name in ("flatten", "dropna", "unique", "flatten_tuple_set")}
    items = to_list(input_, **how)
    for start in range(0, len(items), batch_size):
        yield await alcall(items[start : start + batch_size], func, **options)


def lcall(
    input_: Any,
    func: Callable[..., Any],
    /,
    *args: Any,
    input_flatten: bool = False,
    input_dropna: bool = False,
    input_unique: bool = False,
    input_flatten_tuple_set: bool = False,
    output_flatten: bool = False,
    output_dropna: bool = False,
    output_unique: bool = False,
    output_flatten_tuple_set: bool = False,
    **kwargs: Any,
) -> list[Any]:
    """Return ``[func(item, *args, **kwargs) for each item]``, one after the other.

    The ``input_*`` and ``output_*`` options are those of :func:`to_list`; the first error ends the work.
    """
    items = to_list(
        input_,
        flatten=input_flatten,
        dropna=input_dropna,
        unique=input_unique,
        flatten_tuple_set=input_flatten_tuple_set,
    )
    return to_list(
        [func(item, *args, **kwargs) for item in items],
        flatten=output_flatten,
        dropna=output_dropna,
        unique=output_unique,
        flatten_tuple_set=output_flatten_tuple_set,
    )


def _supplied(params: AlcallParams, extra: dict[str, Any]) -> dict[str, Any]:
    # Params.default_kw gives the same, at two calls of our own for each of the eighteen fields of every turn.
    names = _field_names(type(params))
    options = {
        name: value for name in names if (value := getattr(params, name)) is not Unset and value is not Undefined
    }
    return {**options, **(params.kw or {}), **extra}


@cache
def _field_names(cls: type[AlcallParams]) -> tuple[str, ...]:
    return tuple(sorted(cls.field_names() - {"kw"}))


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class AlcallParams(Params):
    """The options of :func:`alcall` as a value: ``await params(items, func)`` calls with them.

    An option left out stays ``Unset`` and has alcall's own default; ``kw`` goes to the function.
    """

    input_flatten: bool = _UNSET
    input_dropna: bool = _UNSET
    input_unique: bool = _UNSET
    input_flatten_tuple_set: bool = _UNSET
    output_flatten: bool = _UNSET
    output_dropna: bool = _UNSET
    output_unique: bool = _UNSET
    output_flatten_tuple_set: bool = _UNSET
    delay_before_start: float = _UNSET
    retry_initial_delay: float = _UNSET
    retry_backoff: float = _UNSET
    retry_default: Any = _UNSET
    retry_timeout: float | None = _UNSET
    retry_attempts: int | None = _UNSET
    max_concurrent: int | None = _UNSET
    throttle_period: float | None = _UNSET
    return_exceptions: bool = _UNSET
    kw: dict[str, Any] = _UNSET

    async def __call__(
        self, input_: Any, func: Callable[..., Any], /, *, clock: Clock | None = None, **kw: Any
    ) -> list[Any]:
        """Call :func:`alcall` with these options; ``kw`` adds to them and wins."""
        return await alcall(input_, func, clock=clock, **_supplied(self, kw))


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class BcallParams(AlcallParams):
    """The options of :func:`bcall` as a value: ``async for results in params(items, func)``."""

    batch_size: int = _UNSET

    def __call__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, input_: Any, func: Callable[..., Any], /, *, clock: Clock | None = None, **kw: Any
    ) -> AsyncGenerator[list[Any], None]:
        """Call :func:`bcall` with these options; without a ``batch_size`` there is one batch of one item each."""
        options = _supplied(self, kw)
        return bcall(input_, func, options.pop("batch_size", 1), clock=clock, **options)
