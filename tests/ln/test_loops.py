from __future__ import annotations

import asyncio
import threading

import pytest

from lionagi.ln.loops import PerLoop


async def _get(cell: PerLoop[asyncio.Lock]) -> asyncio.Lock:
    assert cell.get() is cell.get()
    return cell.get()


def test_one_loop_gets_one_value_and_another_loop_another():
    cell = PerLoop(asyncio.Lock)
    assert asyncio.run(_get(cell)) is not asyncio.run(_get(cell))


def test_outside_a_loop_get_is_an_error():
    with pytest.raises(RuntimeError, match="no running event loop"):
        PerLoop(list[int]).get()


async def test_pop_takes_the_value_out():
    cell = PerLoop(list[int])
    value = cell.get()
    assert cell.pop() is value
    assert cell.pop() is None
    assert cell.get() is not value


def test_values_that_refer_to_their_loop_do_not_pile_up():
    cell = PerLoop(asyncio.get_running_loop)

    async def touch() -> None:
        cell.get()

    for _ in range(20):
        asyncio.run(touch())
    assert len(cell) == 1


def test_threads_with_loops_of_their_own_get_their_own_values():
    cell = PerLoop(asyncio.Lock)
    found: list[asyncio.Lock] = []
    barrier = threading.Barrier(8)

    async def work() -> None:
        barrier.wait()
        for _ in range(50):
            found.append(cell.get())
            await asyncio.sleep(0)

    threads = [threading.Thread(target=asyncio.run, args=(work(),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(lock) for lock in found}) == 8
