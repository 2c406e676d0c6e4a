from __future__ import annotations

import asyncio
import time

import pytest

from lionagi.ln.clock import SYSTEM_CLOCK, Clock, ManualClock, NoWaitClock, SystemClock


@pytest.mark.parametrize("clock", [SystemClock(), NoWaitClock(), ManualClock(), SYSTEM_CLOCK])
def test_every_clock_satisfies_the_protocol(clock: object):
    assert isinstance(clock, Clock)


async def test_system_clock_really_waits():
    start = time.monotonic()
    await SYSTEM_CLOCK.sleep(0.02)
    assert time.monotonic() - start >= 0.015


async def test_system_clock_takes_a_negative_wait_as_none():
    assert await asyncio.wait_for(SYSTEM_CLOCK.sleep(-5), 1) is None


@pytest.mark.parametrize("clock", [NoWaitClock(), ManualClock()])
async def test_clocks_for_tests_do_not_wait_but_let_others_run(clock: Clock):
    ran: list[int] = []
    task = asyncio.create_task(asyncio.sleep(0, ran.append(1)))
    start = time.monotonic()
    await clock.sleep(3600)
    await task
    assert ran
    assert time.monotonic() - start < 1


async def test_manual_clock_moves_by_what_was_slept():
    clock = ManualClock(start=100.0)
    await clock.sleep(2.5)
    clock.advance(1)
    assert (clock.time(), clock.monotonic(), clock.sleeps) == (103.5, 103.5, [2.5])


async def test_manual_clock_never_goes_back():
    clock = ManualClock(start=5.0)
    await clock.sleep(-1)
    clock.advance(-1)
    assert clock.monotonic() == 5.0
