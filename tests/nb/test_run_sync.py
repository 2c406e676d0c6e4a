"""run_sync works with and without a running loop, in the caller's context, and can be stopped."""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import os
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

import lionagi_nb as nb
from lionagi._errors import OperationError, TimeoutError

SETTING: contextvars.ContextVar[str] = contextvars.ContextVar("setting", default="unset")


async def double(n: int) -> int:
    await asyncio.sleep(0)
    return 2 * n


def test_without_a_loop_it_returns_the_result() -> None:
    assert nb.run_sync(double(4)) == 8


@pytest.mark.record("DEC-26-2")
async def test_inside_a_running_loop_it_returns_the_result() -> None:
    assert nb.run_sync(double(4)) == 8


async def test_it_runs_in_one_thread_beside_the_callers() -> None:
    async def where() -> int:
        return threading.get_ident()

    seen = {nb.run_sync(where()) for _ in range(3)}
    assert len(seen) == 1
    assert threading.get_ident() not in seen


async def test_the_callers_context_is_seen_and_not_changed() -> None:
    async def change() -> str:
        before = SETTING.get()
        SETTING.set("changed inside")
        return before

    token = SETTING.set("of the caller")
    assert nb.run_sync(change()) == "of the caller"
    assert SETTING.get() == "of the caller"
    SETTING.reset(token)


async def test_an_earlier_callers_context_does_not_leak() -> None:
    async def look() -> str:
        return SETTING.get()

    contextvars.Context().run(lambda: None)
    assert contextvars.Context().run(lambda: SETTING.get()) == "unset"
    token = SETTING.set("first")
    nb.run_sync(look())
    SETTING.reset(token)
    assert nb.run_sync(look()) == "unset"


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), asyncio.CancelledError()])
async def test_errors_reach_the_caller_and_the_thread_lives_on(error: BaseException) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        nb.run_sync(fail())
    assert nb.run_sync(double(1)) == 2


async def test_a_timeout_cancels_the_coroutine() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("cleaned up")

    with pytest.raises(TimeoutError, match=r"no result in 0\.05 s"):
        nb.run_sync(wait(), timeout=0.05)
    assert ended == ["cleaned up"]


def test_a_timeout_without_a_loop() -> None:
    with pytest.raises(TimeoutError):
        nb.run_sync(asyncio.sleep(30), timeout=0.05)


async def test_the_coroutines_own_timeout_is_not_taken_for_ours() -> None:
    async def fail() -> None:
        raise builtins.TimeoutError("its own")

    with pytest.raises(asyncio.TimeoutError, match="its own"):
        nb.run_sync(fail(), timeout=10)


async def test_inside_itself_it_raises() -> None:
    async def again() -> Any:
        return nb.run_sync(double(1))

    with pytest.raises(OperationError, match="await the coroutine instead"):
        nb.run_sync(again())


async def test_a_function_is_refused_with_a_hint() -> None:
    with pytest.raises(TypeError, match="call the async function first"):
        nb.run_sync(double)  # pyright: ignore[reportArgumentType]


async def test_N1_an_interrupt_cancels_and_gives_control_back() -> None:
    ended = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()

    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            nb.run_sync(wait())
    finally:
        signal.signal(signal.SIGINT, before)
        timer.join()
    assert ended.is_set()
    assert nb.run_sync(double(2)) == 4


@pytest.mark.record("DEC-26-1")
def test_N2_importing_patches_nothing() -> None:
    code = """
import asyncio, importlib.util
assert importlib.util.find_spec("nest_asyncio")
names = [n for n in dir(asyncio)] + [n for n in dir(asyncio.BaseEventLoop)]
look = lambda: {**vars(asyncio), **{"loop." + k: v for k, v in vars(asyncio.BaseEventLoop).items()},
                **{"events." + k: v for k, v in vars(asyncio.events).items()}}
before = look()
import lionagi, lionagi_nb
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
between = look()
lionagi_nb.load_ipython_extension(shell)
lionagi_nb.run_sync, lionagi_nb.enable_nested_loops, lionagi_nb.actions
after = look()
assert all(after[k] is between[k] for k in between), "the extension changed asyncio"
assert all(between[k] is before[k] for k in before if "_signature" not in k), "the import changed asyncio"
print("same")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.stdout.strip() == "same", done.stderr
