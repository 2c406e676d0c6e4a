from __future__ import annotations

import asyncio

import pytest

from lionagi.ln.clock import ManualClock, NoWaitClock
from lionagi.service.limits import Limits


async def test_L4_never_more_at_once_than_allowed_and_first_come_first_started():
    limits, clock = Limits(concurrency=7), NoWaitClock()
    running = most = 0
    order: list[int] = []

    async def work(number: int) -> None:
        nonlocal running, most
        turn = await limits.acquire(clock)
        order.append(number)
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        turn.release()

    await asyncio.gather(*(work(number) for number in range(1000)))
    assert most == 7
    assert order == list(range(1000))


async def test_calls_within_an_interval_never_exceed_the_limit():
    limits, clock = Limits(requests=3, interval=10), ManualClock()
    starts: list[float] = []
    for _ in range(10):
        turn = await limits.acquire(clock)
        starts.append(clock.monotonic())
        turn.release()
    assert starts == [0, 0, 0, 10, 10, 10, 20, 20, 20, 30]


async def test_waiting_calls_start_in_order():
    limits, clock = Limits(requests=1, interval=5), ManualClock()
    order: list[int] = []

    async def work(number: int) -> None:
        turn = await limits.acquire(clock)
        order.append(number)
        turn.release()

    await asyncio.gather(*(work(number) for number in range(20)))
    assert order == list(range(20))
    assert clock.monotonic() == 95


async def test_tokens_reported_within_an_interval_hold_the_next_call_back():
    limits, clock = Limits(tokens=100, interval=10), ManualClock()
    for tokens in (60, 60, 1):
        turn = await limits.acquire(clock)
        turn.spend(tokens, clock)
        turn.release()
    assert clock.sleeps == [10]


async def test_one_call_above_the_token_limit_still_runs():
    limits, clock = Limits(tokens=10, interval=10), ManualClock()
    for _ in range(2):
        turn = await limits.acquire(clock)
        turn.spend(500, clock)
        turn.release()
    assert clock.sleeps == [10]


async def test_a_cancelled_wait_gives_its_turn_back():
    limits, clock = Limits(concurrency=1), NoWaitClock()
    turn = await limits.acquire(clock)
    waiting = asyncio.create_task(limits.acquire(clock))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    turn.release()
    await asyncio.wait_for(limits.acquire(clock), 1)


def test_each_event_loop_counts_for_itself():
    limits = Limits(concurrency=1)

    async def start() -> bool:
        await limits.acquire(NoWaitClock())
        return True  # never released: the next loop starts anew

    assert all(asyncio.run(start()) for _ in range(3))
