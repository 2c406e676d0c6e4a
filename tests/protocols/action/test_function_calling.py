from __future__ import annotations

import asyncio
import builtins
import time
from typing import Any

import pytest
from pydantic import BaseModel

from lionagi._errors import TimeoutError, ValidationError
from lionagi.protocols.action.function_calling import FunctionCalling
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.generic.event import EventStatus


class Arguments(BaseModel):
    a: int
    b: int = 5


def add(a: int, b: int = 1) -> int:
    return a + b


@pytest.mark.record("DEC-41-3")
def test_arguments_that_do_not_fit_are_refused_when_the_call_is_made():
    with pytest.raises(ValueError, match="arguments must match the function schema"):
        FunctionCalling(func_tool=Tool(func_callable=add), arguments={})


def test_what_is_no_tool_is_refused():
    with pytest.raises(ValidationError, match="must be a Tool"):
        FunctionCalling(func_tool=add, arguments={})  # pyright: ignore[reportArgumentType]


async def test_a_models_set_fields_are_the_arguments():
    call = FunctionCalling(func_tool=Tool(func_callable=add), arguments=Arguments(a=1))
    await call.invoke()
    assert (call.arguments, call.response, call.status) == ({"a": 1}, 2, EventStatus.COMPLETED)


async def test_what_the_function_raises_stays_in_the_event():
    def failing() -> None:
        raise ValueError("no")

    call = FunctionCalling(func_tool=Tool(func_callable=failing), arguments={})
    await call.invoke()
    assert call.status is EventStatus.FAILED
    assert str(call.execution.error) == "no"


def test_the_dump_names_function_and_arguments():
    data = FunctionCalling(func_tool=Tool(func_callable=add), arguments={"a": 1}).to_dict("json")
    assert (data["function"], data["arguments"]) == ("add", {"a": 1})


@pytest.mark.record("DEC-28-1")
@pytest.mark.parametrize(("own", "call"), [(0.02, None), (None, 0.02), (0.02, 9), (9, 0.02)])
async def test_a_deadline_ends_the_call(own: float | None, call: float | None):
    async def slow() -> None:
        await asyncio.sleep(5)

    event = FunctionCalling(func_tool=Tool(func_callable=slow, timeout=own), arguments={}, timeout=call)
    await event.invoke()
    assert isinstance(event.execution.error, TimeoutError)
    assert "deadline" in str(event.execution.error)


async def test_the_functions_own_timeout_error_is_its_failure():
    async def failing() -> None:
        raise builtins.TimeoutError("mine")

    event = FunctionCalling(func_tool=Tool(func_callable=failing, timeout=5), arguments={})
    await event.invoke()
    assert str(event.execution.error) == "mine"


@pytest.mark.record("DEC-28-3")
async def test_a_late_result_is_told_and_changes_nothing():
    late: list[Any] = []

    def slow() -> int:
        time.sleep(0.1)
        return 7

    def on_late(result: Any, error: BaseException | None) -> None:
        late.append(result)

    event = FunctionCalling(func_tool=Tool(func_callable=slow), arguments={}, timeout=0.02, on_late=on_late)
    await event.invoke()
    for _ in range(100):
        if late:
            break
        await asyncio.sleep(0.01)
    assert late == [7]
    assert (event.response, event.status) == (None, EventStatus.FAILED)


async def test_a_fresh_event_calls_again():
    call = FunctionCalling(func_tool=Tool(func_callable=add), arguments={"a": 1})
    await call.invoke()
    fresh = call.as_fresh_event()
    await fresh.invoke()
    assert fresh.response == 2
