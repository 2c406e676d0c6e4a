from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pydantic import BaseModel

from lionagi._errors import ExecutionError
from lionagi.ln.clock import ManualClock
from lionagi.protocols.generic.element import Element
from lionagi.protocols.generic.event import EventStatus
from lionagi.protocols.graph.node import Node
from lionagi.testing import (
    AsyncTestHelpers,
    IModelKwargCaptor,
    LionAGIMockFactory,
    MockClaudeCode,
    MockElement,
    TestDataHelpers,
    ValidationHelpers,
)

# --- waiting


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def helpers(clock: ManualClock) -> type[AsyncTestHelpers]:
    """The helpers on a clock that nobody waits for."""
    return type("OnManualClock", (AsyncTestHelpers,), {"clock": clock})


async def for_ever() -> None:
    await asyncio.Event().wait()


async def endless() -> AsyncGenerator[int]:
    number = 0
    while True:
        yield number
        number += 1
        await asyncio.sleep(0)


@pytest.mark.record("0052-D6-04")
async def test_assert_eventually_polls_every_tenth_of_a_second_for_five(
    helpers: type[AsyncTestHelpers], clock: ManualClock
) -> None:
    with pytest.raises(AssertionError, match=r"did not hold within 5\.0 seconds"):
        await helpers.assert_eventually(lambda: False)
    assert clock.sleeps == pytest.approx([0.1] * 50)
    assert clock.monotonic() == pytest.approx(5.0)


@pytest.mark.record("0052-D6-04")
async def test_assert_eventually_returns_as_soon_as_it_holds(
    helpers: type[AsyncTestHelpers], clock: ManualClock
) -> None:
    await helpers.assert_eventually(lambda: len(clock.sleeps) == 3)
    assert clock.sleeps == pytest.approx([0.1] * 3)


@pytest.mark.record("0052-D6-04")
async def test_assert_eventually_looks_before_it_waits(helpers: type[AsyncTestHelpers], clock: ManualClock) -> None:
    await helpers.assert_eventually(lambda: True, timeout=0)
    assert clock.sleeps == []


async def test_assert_eventually_awaits_a_coroutine_condition(helpers: type[AsyncTestHelpers]) -> None:
    async def never() -> bool:
        return False

    with pytest.raises(AssertionError, match="the queue never emptied"):
        await helpers.assert_eventually(never, error_message="the queue never emptied")


@pytest.mark.record("0052-D6-05")
async def test_a_hundred_results_are_collected(helpers: type[AsyncTestHelpers]) -> None:
    helpers.clock = AsyncTestHelpers.clock
    source = endless()
    assert await helpers.collect_async_results(source) == list(range(100))
    with pytest.raises(StopAsyncIteration):
        await anext(source)


@pytest.mark.record("0052-D6-05")
async def test_collecting_ends_after_ten_seconds_with_what_came(
    helpers: type[AsyncTestHelpers], clock: ManualClock
) -> None:
    async def two_and_then_silence() -> AsyncGenerator[str]:
        yield "a"
        yield "b"
        await for_ever()

    assert await helpers.collect_async_results(two_and_then_silence()) == ["a", "b"]
    assert clock.sleeps == [10.0]


async def test_collecting_passes_on_what_the_source_raises() -> None:
    async def broken() -> AsyncGenerator[int]:
        yield 1
        raise TimeoutError("the source's own")

    with pytest.raises(TimeoutError, match="the source's own"):
        await AsyncTestHelpers.collect_async_results(broken())


async def test_collecting_none_asks_for_none() -> None:
    assert await AsyncTestHelpers.collect_async_results(endless(), limit=0) == []


@pytest.mark.record("0052-D6-06")
async def test_a_coroutine_may_run_for_five_seconds(helpers: type[AsyncTestHelpers], clock: ManualClock) -> None:
    cancelled: list[bool] = []

    async def slow() -> None:
        try:
            await for_ever()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    with pytest.raises(TimeoutError, match=r"slow.* ran past 5\.0 seconds"):
        await helpers.run_with_timeout(slow)
    assert (clock.sleeps, cancelled) == ([5.0], [True])


async def test_what_is_in_time_gives_its_result_and_its_own_errors() -> None:
    async def divide(a: int, *, by: int) -> float:
        return a / by

    assert await AsyncTestHelpers.run_with_timeout(divide, 5.0, 6, by=3) == 2
    with pytest.raises(ZeroDivisionError):
        await AsyncTestHelpers.run_with_timeout(divide, 5.0, 6, by=0)


@pytest.mark.record("0052-D6-07")
async def test_tasks_have_ten_seconds_and_are_cancelled_then(
    helpers: type[AsyncTestHelpers], clock: ManualClock
) -> None:
    tasks = [asyncio.create_task(for_ever()) for _ in range(2)]
    done = asyncio.create_task(asyncio.sleep(0, "done"))
    await done
    with pytest.raises(TimeoutError, match=r"2 of 3 tasks did not end within 10\.0 seconds"):
        await helpers.wait_for_all([*tasks, done])
    assert clock.sleeps == [10.0]
    assert all(task.cancelled() for task in tasks)


async def test_finished_tasks_give_their_results_in_order() -> None:
    tasks = [asyncio.sleep(0, 1), asyncio.sleep(0, 2)]
    assert await AsyncTestHelpers.wait_for_all(tasks) == [1, 2]


@pytest.mark.record("0052-D6-08")
async def test_left_tasks_are_counted_after_the_grace(helpers: type[AsyncTestHelpers], clock: ManualClock) -> None:
    @helpers.assert_async_context_cleanup
    async def leaves_one() -> str:
        asyncio.create_task(for_ever(), name="left behind")  # noqa: RUF006
        return "result"

    with pytest.warns(UserWarning, match="leaves_one left 1 tasks running: left behind"):
        assert await leaves_one() == "result"
    assert clock.sleeps == [0.01]
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


@pytest.mark.record("0052-D6-08")
async def test_a_task_that_ends_within_the_grace_is_not_counted(helpers: type[AsyncTestHelpers]) -> None:
    tasks: list[asyncio.Task[None]] = []

    async def short() -> None:
        return None

    @helpers.assert_async_context_cleanup
    async def tidy() -> None:
        tasks.append(asyncio.create_task(short()))

    await tidy()
    assert tasks[0].done()


async def test_the_tasks_of_a_failing_function_are_cancelled(helpers: type[AsyncTestHelpers]) -> None:
    tasks: list[asyncio.Task[None]] = []

    @helpers.assert_async_context_cleanup
    async def fails() -> None:
        tasks.append(asyncio.create_task(for_ever()))
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        await fails()
    assert tasks[0].cancelled()


# --- checking


def test_a_node_is_valid_and_other_things_are_not() -> None:
    ValidationHelpers.assert_valid_node(Node(content="x"), Node)
    with pytest.raises(AssertionError, match="a Node was expected"):
        ValidationHelpers.assert_valid_node(Element(), Node)
    with pytest.raises(AssertionError, match="a Element was expected, not 'text'"):
        ValidationHelpers.assert_valid_node("text")


def test_id_and_time_of_a_node_are_checked_unless_told_not_to() -> None:
    broken = Element.model_construct(id="no id", created_at=-1.0)
    with pytest.raises(AssertionError, match="'no id' is not a valid id"):
        ValidationHelpers.assert_valid_node(broken)
    with pytest.raises(AssertionError, match=r"created_at is -1\.0"):
        ValidationHelpers.assert_valid_node(broken, check_id=False)
    ValidationHelpers.assert_valid_node(broken, check_id=False, check_timestamp=False)
    for stamp in ("soon", True):
        with pytest.raises(AssertionError, match=f"created_at is {stamp!r}"):
            ValidationHelpers.assert_valid_node(Element.model_construct(created_at=stamp), check_id=False)


def test_the_structure_of_a_response_is_checked() -> None:
    check = ValidationHelpers.assert_api_response_structure
    check({"id": 1, "choices": []}, ["id", "choices"])
    check(LionAGIMockFactory.create_api_calling_mock({"id": 1}), ["id"])
    with pytest.raises(AssertionError, match=r"lacks \['usage'\]"):
        check({"id": 1}, ["id", "usage"])
    with pytest.raises(AssertionError, match="the response is an error: 'broken'"):
        check({"error": "broken"})
    with pytest.raises(AssertionError, match="there is no response"):
        check(None)


def test_the_status_of_a_call_is_checked_unless_told_not_to() -> None:
    failed = LionAGIMockFactory.create_error_response_mock()
    with pytest.raises(AssertionError, match="failed, not completed"):
        ValidationHelpers.assert_api_response_structure(failed)
    ValidationHelpers.assert_api_response_structure(failed, ["error"], check_status=False)


class Point(BaseModel):
    x: int
    y: int = 0


def test_a_model_instance_is_checked_with_its_fields() -> None:
    check = ValidationHelpers.assert_pydantic_model_valid
    check(Point(x=1), ["x", "y"])
    check(Point(x=1), {"x": 1})
    with pytest.raises(AssertionError, match="x is 1, not 2"):
        check(Point(x=1), {"x": 2})
    with pytest.raises(AssertionError, match=r"Point has no \['z'\]"):
        check(Point(x=1), ["z"])
    with pytest.raises(AssertionError, match="Point does not accept its own values"):
        check(Point.model_construct(x="one"))
    with pytest.raises(AssertionError, match="a pydantic model was expected"):
        check({"x": 1})


@pytest.mark.parametrize(
    "failure",
    [
        ExecutionError("it broke"),
        {"error": {"type": "ExecutionError", "message": "it broke"}},
        {"error": {"code": "ExecutionError", "message": "it broke"}},
        {"error": "ExecutionError", "message": "It broke."},
    ],
)
def test_an_error_is_checked_in_every_shape(failure: Any) -> None:
    check = ValidationHelpers.assert_error_handling
    check(failure)
    check(failure, ExecutionError, "it BROKE")
    check(failure, "ExecutionError")
    with pytest.raises(AssertionError, match="not 'KeyError'"):
        check(failure, KeyError)
    with pytest.raises(AssertionError, match="'quota' is not in"):
        check(failure, expected_message_contains="quota")


def test_the_error_of_a_failed_call_is_checked() -> None:
    failed = LionAGIMockFactory.create_error_response_mock("no such model", "not_found")
    ValidationHelpers.assert_error_handling(failed, ExecutionError, "no such model")
    with pytest.raises(AssertionError, match="completed, not failed"):
        ValidationHelpers.assert_error_handling(LionAGIMockFactory.create_api_calling_mock())
    with pytest.raises(AssertionError, match="neither an exception nor an error"):
        ValidationHelpers.assert_error_handling(3)
    with pytest.raises(AssertionError, match="there is no error"):
        ValidationHelpers.assert_error_handling({"choices": []})


def test_the_checks_hold_under_python_o() -> None:
    code = "from lionagi.testing import ValidationHelpers as v\nv.assert_api_response_structure(None)"
    done = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=False)
    assert "AssertionError: there is no response" in done.stderr


# --- data and stand-ins


def test_messages_are_numbered_and_stamped() -> None:
    made = TestDataHelpers.create_test_messages()
    assert [(each["role"], each["content"]) for each in made] == [("user", f"Test message {n}") for n in (1, 2, 3)]
    assert made[0]["timestamp"] < made[1]["timestamp"]
    assert TestDataHelpers.create_test_messages(1, "assistant", "Hi")[0]["content"] == "Hi 1"


def test_a_payload_has_a_message_and_takes_more() -> None:
    assert TestDataHelpers.create_test_payload() == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "user", "content": "Hello"}],
    }
    messages = [{"role": "user", "content": "x"}]
    made = TestDataHelpers.create_test_payload("m", messages, temperature=0)
    assert (made["model"], made["temperature"]) == ("m", 0)
    assert made["messages"] == messages
    assert made["messages"][0] is not messages[0]


def test_a_captor_keeps_keywords_and_a_fresh_one_its_own() -> None:
    first, second = IModelKwargCaptor.fresh(), IModelKwargCaptor.fresh()
    first(provider="openai", model="m")
    assert first.captures == [{"provider": "openai", "model": "m"}]
    assert second.captures == []
    assert issubclass(first, IModelKwargCaptor)


def test_a_mock_element_is_an_element_with_a_value() -> None:
    made = MockElement(value={"a": 1})
    assert isinstance(made, Element)
    assert (made.value, MockElement().value) == ({"a": 1}, None)


@pytest.mark.parametrize(
    ("prompt", "key", "value"),
    [
        ("Generate tasks, please", "instruct_model", [f"Research {each}" for each in "ABC"]),
        ("research the tides", "findings", ["finding1", "finding2"]),
        ("hello", "content", "Processed: hello"),
    ],
)
async def test_the_mock_agent_answers_by_words(prompt: str, key: str, value: Any) -> None:
    agent = MockClaudeCode("a")
    answers = [await agent(each) for each in ([{"content": prompt}], ["old", prompt], [Node(content=prompt)])]
    for answer in answers:
        found = answer[key]
        assert [each["instruction"] for each in found] == value if key == "instruct_model" else found == value
    assert agent.call_count == 3


def test_an_event_status_is_what_is_compared() -> None:
    assert LionAGIMockFactory.create_api_calling_mock().status is EventStatus.COMPLETED
