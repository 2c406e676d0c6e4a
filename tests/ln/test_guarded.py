"""Functions of somebody else can neither hold up nor end their caller."""

from __future__ import annotations

import asyncio
import builtins
import threading

import pytest

from lionagi._errors import ExecutionError, TimeoutError
from lionagi.ln._guarded import call_guarded


@pytest.mark.parametrize("sync", [False, True])
async def test_a_guarded_call_gives_what_the_function_gives(sync: bool) -> None:
    async def add(a: int, b: int) -> int:
        return a + b

    assert await call_guarded((lambda a, b: a + b) if sync else add, 1, b=2, deadline=None) == 3
    assert await call_guarded(lambda a, b: add(a, b), 1, b=2, deadline=1) == 3


async def test_a_guarded_call_ends_at_its_deadline() -> None:
    with pytest.raises(TimeoutError, match=r"no answer in 0\.01 s"):
        await call_guarded(asyncio.Event().wait, deadline=0.01)
    with pytest.raises(TimeoutError, match=r"no answer in 0\.01 s"):
        await call_guarded(threading.Event().wait, 10, deadline=0.01)


async def test_a_guarded_call_lets_the_functions_own_errors_through() -> None:
    async def late() -> None:
        raise builtins.TimeoutError("mine")

    with pytest.raises(builtins.TimeoutError, match="mine"):
        await call_guarded(late, deadline=5)


async def test_a_guarded_function_cannot_cancel_its_caller() -> None:
    async def cancel() -> None:
        raise asyncio.CancelledError

    with pytest.raises(ExecutionError, match="CancelledError"):
        await call_guarded(cancel, deadline=None)
    task = asyncio.create_task(call_guarded(asyncio.Event().wait, deadline=None))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
