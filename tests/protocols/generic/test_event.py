from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from lionagi._errors import ExecutionError
from lionagi.protocols.generic.event import Event, EventStatus, Execution


class Doubling(Event):
    value: Any = None
    runs: int = 0

    async def _invoke(self) -> Any:
        self.runs += 1
        await asyncio.sleep(0)
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value * 2

    async def _stream(self) -> AsyncGenerator[Any, None]:
        yield 1
        if isinstance(self.value, Exception):
            raise self.value
        yield 2


async def test_an_event_runs_once():
    event = Doubling(value=2)
    await event.invoke()
    await event.invoke()
    assert (event.response, event.status, event.runs) == (4, EventStatus.COMPLETED, 1)
    assert isinstance(event.execution.duration, float)


async def test_an_ordinary_failure_is_kept_not_raised():
    error = ValueError("no")
    event = Doubling(value=error)
    await event.invoke()
    assert event.status is EventStatus.FAILED
    assert event.execution.error is error
    with pytest.raises(ExecutionError, match="failed"):
        event.assert_completed()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), asyncio.CancelledError()])
async def test_T2_exits_and_cancellation_pass_untouched(error: BaseException):
    event = Doubling(value=error)
    with pytest.raises(type(error)):
        await event.invoke()
    assert event.status is EventStatus.CANCELLED


async def test_a_failing_stream_ends_and_keeps_the_error():
    event = Doubling(value=ValueError("no"))
    assert [item async for item in event.stream()] == [1]
    assert event.status is EventStatus.FAILED


async def test_the_completion_event_wakes_whoever_waits():
    event = Doubling(value=1)
    waiter = asyncio.create_task(event.completion_event.wait())
    await event.invoke()
    assert await asyncio.wait_for(waiter, 1)


async def test_the_dump_holds_the_execution_as_json():
    event = Doubling(value=ValueError("no"))
    await event.invoke()
    assert event.to_dict("json")["execution"]["error"] == {"error": "ValueError", "message": "no"}


def test_a_response_that_json_does_not_know_is_named_so():
    assert Execution(response=object()).to_dict()["response"] == "<unserializable>"


def test_several_errors_become_a_group():
    execution = Execution()
    execution.add_error(ValueError("a"))
    execution.add_error(TypeError("b"))
    assert isinstance(execution.error, BaseExceptionGroup)
    assert len(execution.error.exceptions) == 2


async def test_a_fresh_event_is_pending_and_names_the_original():
    event = Doubling(value=3)
    await event.invoke()
    fresh = event.as_fresh_event()
    assert (fresh.status, fresh.value, fresh.id == event.id) == (EventStatus.PENDING, 3, False)
    assert fresh.metadata["original"]["id"] == str(event.id)


def test_an_event_cannot_be_restored():
    with pytest.raises(NotImplementedError):
        Doubling.from_dict({})
