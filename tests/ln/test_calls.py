from __future__ import annotations

import asyncio
import builtins
import functools
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionagi import _errors
from lionagi.ln.calls import AlcallParams, BcallParams, alcall, bcall, is_coro_func, lcall
from lionagi.ln.clock import ManualClock
from lionagi.ln.types import Unset


async def double(x: int) -> int:
    await asyncio.sleep(0)
    return x * 2


class Failing:
    """Fails a number of times for each item, then gives the item."""

    def __init__(self, failures: int, error: type[BaseException] = ValueError) -> None:
        self.failures = failures
        self.error = error
        self.attempts: dict[Any, int] = {}

    async def __call__(self, item: Any) -> Any:
        self.attempts[item] = self.attempts.get(item, 0) + 1
        if self.attempts[item] <= self.failures:
            raise self.error(item)
        return item


@given(st.lists(st.integers()), st.none() | st.integers(1, 5))
def test_results_come_in_input_order(items: list[int], limit: int | None):
    async def slow_first(x: int) -> int:
        await asyncio.sleep(0.0001 if x % 2 else 0)
        return x

    assert asyncio.run(alcall(items, slow_first, max_concurrent=limit)) == items


async def test_keyword_arguments_reach_the_function():
    async def add(x: int, *, by: int) -> int:
        return x + by

    assert await alcall([1, 2], add, by=10) == [11, 12]


@pytest.mark.parametrize("value", [5, "text", {"a": 1}])
async def test_a_single_value_is_a_list_of_one(value: Any):
    async def same(x: Any) -> Any:
        return x

    assert await alcall(value, same) == [value]


async def test_the_given_list_is_left_alone():
    items = [1, 2, 3]
    assert await alcall(items, double) == [2, 4, 6]
    assert items == [1, 2, 3]


async def test_sync_functions_run_beside_the_loop_at_the_same_time():
    barrier = threading.Barrier(3, timeout=5)

    def meet(x: int) -> int:
        barrier.wait()
        return x

    assert await alcall([1, 2, 3], meet) == [1, 2, 3]


async def test_a_sync_function_may_return_an_awaitable():
    assert await alcall([1, 2], lambda x: double(x)) == [2, 4]


@pytest.mark.parametrize("limit", [1, 3])
async def test_the_limit_is_exact(limit: int):
    running = 0
    most = 0

    async def count(_: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1

    await alcall(list(range(12)), count, max_concurrent=limit)
    assert most == limit


async def test_tasks_are_made_only_when_there_is_room():
    before = len(asyncio.all_tasks())
    seen: list[int] = []

    async def look(_: int) -> None:
        seen.append(len(asyncio.all_tasks()) - before)
        await asyncio.sleep(0)

    await alcall(list(range(500)), look, max_concurrent=2)
    assert max(seen) <= 3


async def test_a_limit_below_one_is_refused():
    with pytest.raises(_errors.ValidationError, match="max_concurrent"):
        await alcall([1, 2], double, max_concurrent=0)


async def test_something_that_is_no_function_is_refused():
    with pytest.raises(ValueError, match="function"):
        await alcall([1], "no function")  # pyright: ignore[reportArgumentType]


async def test_one_error_comes_as_itself_and_cancels_the_others():
    cancelled: list[int] = []

    async def work(x: int) -> None:
        if x == 1:
            await asyncio.sleep(0)
            raise KeyError("one")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(x)
            raise

    with pytest.raises(KeyError, match="one"):
        await alcall([0, 1, 2], work)
    assert sorted(cancelled) == [0, 2]


async def test_several_errors_at_once_come_as_a_group():
    async def fail(x: int) -> None:
        raise ValueError(x)

    with pytest.raises(ExceptionGroup) as caught:
        await alcall([1, 2], fail)
    assert len(caught.value.exceptions) == 2


async def test_an_error_stops_what_has_not_started():
    started: list[int] = []

    async def work(x: int) -> None:
        started.append(x)
        raise ValueError(x)

    with pytest.raises(ValueError, match="0"):
        await alcall([0, 1, 2, 3], work, max_concurrent=1)
    assert started == [0]


async def test_errors_can_be_results():
    async def fail_odd(x: int) -> int:
        if x % 2:
            raise ValueError(x)
        return x

    results = await alcall([0, 1, 2], fail_odd, return_exceptions=True)
    assert [results[0], str(results[1]), results[2]] == [0, "1", 2]


async def test_delays_follow_the_back_off():
    clock = ManualClock()
    call = Failing(3)
    result = await alcall(["x"], call, retry_attempts=3, retry_initial_delay=1, retry_backoff=1.85, clock=clock)
    assert result == ["x"]
    assert clock.sleeps == pytest.approx([1, 1.85, 3.4225])


async def test_attempts_are_one_more_than_retries():
    call = Failing(10)
    with pytest.raises(ValueError, match="x"):
        await alcall(["x"], call, retry_attempts=2, clock=ManualClock())
    assert call.attempts == {"x": 3}


async def test_a_default_replaces_the_error_after_the_last_attempt():
    call = Failing(10)
    assert await alcall(["x", "y"], call, retry_attempts=1, retry_default=None, clock=ManualClock()) == [None, None]
    assert call.attempts == {"x": 2, "y": 2}


@pytest.mark.parametrize("error", [asyncio.CancelledError, KeyboardInterrupt, SystemExit])
async def test_what_is_no_exception_is_neither_retried_nor_swallowed(error: type[BaseException]):
    call = Failing(10, error)
    with pytest.raises(error):
        await alcall(["x"], call, retry_attempts=5, retry_default="d", return_exceptions=True, clock=ManualClock())
    assert call.attempts == {"x": 1}


async def test_cancelling_the_call_cancels_every_item():
    cancelled: list[int] = []

    async def work(x: int) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(x)
            raise

    task = asyncio.create_task(alcall([1, 2, 3], work, retry_attempts=3, max_concurrent=2))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(cancelled) == [1, 2]


async def test_the_deadline_is_for_each_attempt():
    attempts = 0

    async def slow_once(x: int) -> int:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            await asyncio.sleep(60)
        return x

    assert await alcall([7], slow_once, retry_timeout=0.05, retry_attempts=1) == [7]
    assert attempts == 2


async def test_a_passed_deadline_is_our_timeout_error_and_names_the_item():
    with pytest.raises(_errors.TimeoutError, match=r"60 did not end within 0\.02 s") as caught:
        await alcall([60], asyncio.sleep, retry_timeout=0.02)
    assert isinstance(caught.value, builtins.TimeoutError)


async def test_the_functions_own_timeout_error_passes_through():
    async def fail(_: int) -> None:
        raise builtins.TimeoutError("mine")

    with pytest.raises(builtins.TimeoutError, match="mine"):
        await alcall([1], fail, retry_timeout=5)


async def test_a_hung_sync_function_does_not_hold_up_its_deadline():
    release = threading.Event()
    start = time.monotonic()
    with pytest.raises(_errors.TimeoutError):
        await alcall([10], release.wait, retry_timeout=0.05)
    release.set()
    assert time.monotonic() - start < 2


async def test_starts_are_throttled_and_delayed():
    clock = ManualClock()
    starts: list[float] = []

    async def note(_: int) -> None:
        starts.append(clock.monotonic())

    await alcall([1, 2, 3], note, delay_before_start=5, throttle_period=2, clock=clock)
    assert clock.sleeps == [5, 2, 2]
    assert starts == sorted(starts)


async def test_input_and_output_options_are_those_of_to_list():
    async def pair(x: int) -> list[int | None]:
        return [x, None]

    found = await alcall(
        [[1, [2]], None, 1], pair, input_flatten=True, input_dropna=True, input_unique=True, output_flatten=True,
        output_dropna=True,
    )  # fmt: skip
    assert found == [1, 2]


async def test_params_left_out_stay_unset():
    assert AlcallParams().to_dict() == {}
    assert AlcallParams().retry_attempts is Unset


async def test_params_call_with_their_options():
    params = AlcallParams(output_dropna=True, max_concurrent=1, kw={"by": 1})

    async def add(x: int, *, by: int) -> int | None:
        return x + by if x else None

    assert await params([0, 1], add) == [2]
    assert await params([0, 1], add, by=5) == [6]


async def test_params_take_a_clock():
    clock = ManualClock()
    params = AlcallParams(retry_attempts=1, retry_initial_delay=4)
    assert await params(["x"], Failing(1), clock=clock) == ["x"]
    assert clock.sleeps == [4]


async def test_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter"):
        AlcallParams(retries=3)


async def test_batches_come_one_after_the_other():
    assert [each async for each in bcall([1, 2, 3], double, 2)] == [[2, 4], [6]]
    params = BcallParams(batch_size=2, output_dropna=True)
    assert [each async for each in params([1, 2, 3], double)] == [[2, 4], [6]]


async def test_a_batch_size_below_one_is_refused():
    with pytest.raises(ValueError, match="batch_size"):
        await anext(bcall([1], double, 0))


def test_lcall_maps_in_order():
    assert lcall([1, [2, None]], lambda x, y: x * y, 3, input_flatten=True, input_dropna=True) == [3, 6]


def test_coroutine_functions_are_known_in_every_shape():
    assert is_coro_func(double)
    assert is_coro_func(functools.partial(double, 1))
    assert is_coro_func(Failing(0))
    assert not is_coro_func(len)


def test_without_retries_tenacity_is_not_loaded():
    code = (
        "import asyncio, sys\n"
        "from lionagi.ln.calls import alcall\n"
        "asyncio.run(alcall([1, 2], asyncio.sleep))\n"
        "print('tenacity' in sys.modules, 'pydantic' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code.replace("[1, 2]", "[0, 0]")], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.split()[0] == "False"
