from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import pytest

from lionagi._errors import ExecutionError
from lionagi.ln.threads import call_in_thread, run_in_thread

_variable: ContextVar[str] = ContextVar("variable", default="unset")


async def test_the_result_comes_back_with_all_kinds_of_arguments():
    def work(a: int, *, call: int, on_late: int) -> tuple[int, int, int]:
        return a, call, on_late

    assert await run_in_thread(work, 1, call=2, on_late=3) == (1, 2, 3)


async def test_the_function_runs_beside_the_loop_in_a_daemon_thread():
    worker = await run_in_thread(threading.current_thread)
    assert worker is not threading.current_thread()
    assert worker.daemon


async def test_context_variables_are_seen():
    _variable.set("here")
    assert await run_in_thread(_variable.get) == "here"


@pytest.mark.parametrize("error", [ValueError("v"), KeyboardInterrupt(), SystemExit(3)])
async def test_exceptions_pass_through(error: BaseException):
    def work() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await run_in_thread(work)
    assert caught.value is error


@pytest.mark.parametrize("error", [StopIteration(1), asyncio.CancelledError()])
async def test_exceptions_that_would_end_the_task_become_execution_errors(error: BaseException):
    def work() -> None:
        raise error

    with pytest.raises(ExecutionError, match=type(error).__name__) as caught:
        await run_in_thread(work)
    assert caught.value.__cause__ is error


async def test_cancelling_returns_at_once_and_reports_the_late_result():
    release = threading.Event()
    late: asyncio.Queue[tuple[object, BaseException | None]] = asyncio.Queue()

    def work() -> str:
        release.wait(10)
        return "too late"

    task = asyncio.create_task(call_in_thread(work, on_late=lambda *outcome: late.put_nowait(outcome)))
    await asyncio.sleep(0.01)
    start = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - start < 1
    release.set()
    assert await asyncio.wait_for(late.get(), 5) == ("too late", None)


def test_a_loop_that_has_closed_is_no_error_for_the_thread():
    release = threading.Event()
    workers: list[threading.Thread] = []

    def work() -> None:
        workers.append(threading.current_thread())
        release.wait(10)

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run_in_thread(work), 0.05)

    asyncio.run(give_up())
    release.set()
    workers[0].join(5)
    assert not workers[0].is_alive()


async def test_many_hung_calls_do_not_stop_others():
    release = threading.Event()
    hung = [asyncio.create_task(run_in_thread(release.wait, 10)) for _ in range(100)]
    assert await asyncio.wait_for(run_in_thread(lambda: "done"), 5) == "done"
    release.set()
    await asyncio.gather(*hung)


def test_a_function_that_never_returns_does_not_hold_up_the_exit():
    code = (
        "import asyncio, threading\n"
        "from lionagi.ln.threads import run_in_thread\n"
        "async def main():\n"
        "    try:\n"
        "        await asyncio.wait_for(run_in_thread(threading.Event().wait), 0.1)\n"
        "    except TimeoutError:\n"
        "        print('gave up')\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "gave up\n", "")
