"""An accepted request runs once: under every kind of retry, within its budget, and whatever comes too late."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from pydantic import BaseModel
from support.openai_server import Faults, structured
from support.roads import Bench, Road, request, requests, text

from lionagi.ln.calls import AlcallParams
from lionagi.operations.act.act import act
from lionagi.operations.communicate.communicate import communicate
from lionagi.operations.types import ActionParam
from lionagi.protocols.action.tool import Tool
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch


class City(BaseModel):
    name: str


ANSWER = {"name": "Oslo", "action_requests": [request("safe", n=1), request("safe", n=1), request("boom", n=2)]}
NO_JSON = text("no json")


def tools(bench: Bench) -> list[Any]:
    return list(bench.branch.tools.values())


def ran_once(bench: Bench, branch: Branch) -> bool:
    """Whether each of the answer's requests entered its tool once and left one record and one pair."""
    records = [log.content for log in branch.logs if log.content["kind"] == "tool_call"]
    names = [type(message).__name__ for message in branch.messages]
    return (
        sorted(bench.entered) == ["+1", "+1", "+2"]
        and [record["status"] for record in records] == ["ok", "ok", "error"]
        and names.count("ActionRequest") == names.count("ActionResponse") == 3
    )


# -- retries


@pytest.mark.record("DEC-10-2")
@pytest.mark.parametrize(
    ("before", "calls"),
    [
        ([Faults.status(500)], 2),
        ([Faults.status(429), Faults.status(503)], 3),
        ([Faults.reset()], 2),
        (["no json"], 2),
        (["no json", "no json", "no json"], 4),
        ([Faults.status(500), "no json", Faults.reset(), Faults.status(429)], 5),
    ],
    ids=["500", "429, 503", "reset", "reformatting", "three times", "both"],
)
async def test_T8_retries_of_the_model_call_and_reformatting_never_repeat_a_tool(
    api_road: Road, bench: Bench, before: list[Any], calls: int
) -> None:
    branch = api_road.branch(tools=tools(bench))
    words = (structured(said) if isinstance(said, str) else said for said in before)
    api_road.server.script(*words, structured(ANSWER))
    await branch.operate(instruction="a", response_format=City, actions=True)
    assert len(api_road.payloads) == calls
    assert ran_once(bench, branch)


@pytest.mark.parametrize("tries", range(4))
async def test_T8_reformatting_never_repeats_a_tool_on_either_road(road: Road, bench: Bench, tries: int) -> None:
    branch = road.branch(*[NO_JSON] * tries, requests(*ANSWER["action_requests"], name="Oslo"), tools=tools(bench))
    await branch.operate(instruction="a", response_format=City, actions=True)
    assert len(road.payloads) == tries + 1
    assert ran_once(bench, branch)


async def test_T8_a_middle_that_asks_again_runs_only_what_it_returns(road: Road, bench: Bench) -> None:
    branch = road.branch(*[requests(*ANSWER["action_requests"], name="Oslo")] * 3, tools=tools(bench))

    async def thrice(*args: Any, **kwargs: Any) -> Any:
        for _ in range(2):
            await communicate(*args, **kwargs)
        return await communicate(*args, **kwargs)

    await branch.operate(instruction="a", response_format=City, actions=True, middle=thrice)
    assert len(road.payloads) == 3
    assert ran_once(bench, branch)


async def test_T8_a_streamed_answer_runs_once(api_road: Road, bench: Bench) -> None:
    branch = api_road.branch(tools=tools(bench))
    api_road.server.script(structured(ANSWER))
    await branch.operate(instruction="a", response_format=City, actions=True, persist_dir="unused")
    assert api_road.payloads[0]["stream"] is True
    assert ran_once(bench, branch)


@pytest.mark.parametrize("strategy", ["concurrent", "sequential"])
async def test_T8_the_next_turn_repeats_nothing(road: Road, bench: Bench, strategy: Any) -> None:
    branch = road.branch(requests(*ANSWER["action_requests"], name="Oslo"), text("fine"), tools=tools(bench))
    await branch.operate(instruction="a", response_format=City, actions=True, action_strategy=strategy)
    await branch.operate(instruction="b", actions=True)
    assert ran_once(bench, branch)


async def test_T8_two_turns_at_once_run_each_request_once(road: Road, bench: Bench) -> None:
    entries = [requests(request("safe", n=1)), requests(request("safe", n=2))]
    branch = road.branch(*entries, tools=tools(bench))
    await asyncio.gather(*(branch.operate(instruction=words, actions=True) for words in "ab"))
    assert sorted(bench.entered) == ["+1", "+2"]


@pytest.mark.parametrize(("retries", "failures"), [(3, 0), (3, 2), (3, 3), (3, 9), (0, 9)])
async def test_T8_explicit_retries_repeat_what_failed_and_no_more(bench: Bench, retries: int, failures: int) -> None:
    ran: list[int] = []

    async def flaky(n: int) -> int:
        """Fail at first."""
        ran.append(n)
        if len(ran) <= failures:
            raise LookupError(n)
        return n

    bench.branch.register_tools(flaky)
    calls = AlcallParams(retry_attempts=retries, retry_initial_delay=0)
    await act(bench.branch, [request("flaky", n=7), request("safe", n=1)], ActionParam(action_call_params=calls))
    wanted = min(failures, retries) + 1
    assert ran == [7] * wanted
    assert bench.entered == ["+1"]
    assert len([record for record in bench.audit if record["function"] == "flaky"]) == wanted


# -- budgets


@pytest.mark.parametrize(("cap", "asked"), [(None, 200), (3, 7), (0, 2)])
async def test_T9_a_turn_has_its_budget_and_a_refusal_on_record_for_the_rest(
    road: Road, bench: Bench, cap: int | None, asked: int
) -> None:
    branch = road.branch(requests(*(request("safe", n=n) for n in range(asked))), tools=tools(bench))
    more: dict[str, Any] = {} if cap is None else {"max_tool_calls": cap}
    result = await branch.operate(instruction="a", actions=True, **more)
    allowed = 64 if cap is None else cap
    records = [log.content["status"] for log in branch.logs if log.content["kind"] == "tool_call"]
    assert bench.entered == [f"+{n}" for n in range(allowed)]
    assert records == ["ok"] * allowed + ["refused"] * (asked - allowed)
    assert [each.output["error"] for each in result.action_responses[allowed:]] == ["refused"] * (asked - allowed)


async def test_T9_a_middle_that_acts_spends_the_budget_of_its_turn(road: Road, bench: Bench) -> None:
    asked = [request("safe", n=n) for n in range(5)]
    branch = road.branch(requests(*asked, name="Oslo"), tools=tools(bench))

    async def acting(*args: Any, **kwargs: Any) -> Any:
        for _ in range(2):
            await branch.act(asked)
        return await communicate(*args, **kwargs)

    result = await branch.operate(instruction="a", response_format=City, actions=True, max_tool_calls=12, middle=acting)
    assert len(bench.entered) == 12
    assert [each.output == n + 1 for n, each in enumerate(result.action_responses)] == [True, True, False, False, False]


async def test_a_middle_that_acts_shows_the_model_what_came_of_it(road: Road, bench: Bench) -> None:
    branch = road.branch(text("one"), text("two"), tools=tools(bench))

    async def acting(*args: Any, **kwargs: Any) -> Any:
        await communicate(*args, **kwargs)
        await branch.act([request("echo", words="QUOKKA")])
        return await communicate(*args, **kwargs)

    assert await branch.operate(instruction="a", middle=acting) == "two"
    assert "QUOKKA" not in repr(road.payloads[0])
    assert "QUOKKA" in repr(road.payloads[1])
    names = [type(message).__name__ for message in branch.messages]
    exchange = ["Instruction", "AssistantResponse"]
    assert names == [*exchange, "ActionRequest", "ActionResponse", *exchange]


# -- too late


@pytest.mark.record("DEC-28-3")
@pytest.mark.parametrize("fails", [False, True])
async def test_a_result_that_comes_too_late_changes_nothing_and_is_on_record(bench: Bench, fails: bool) -> None:
    release, ended = threading.Event(), threading.Event()

    def slow() -> int:
        """Take long."""
        release.wait(30)
        ended.set()
        if fails:
            raise LookupError("late")
        return 7

    bench.branch.register_tools(Tool(func_callable=slow, timeout=0.02))
    (found,) = await act(bench.branch, [request("slow")], ActionParam())
    (record,) = bench.audit
    assert (found.output["error"], record["status"], record["late"]) == ("timeout", "timeout", {})
    release.set()
    ended.wait(30)
    while not record["late"]:
        await asyncio.sleep(0)
    late = {"error": {"type": "LookupError", "message": "late"}} if fails else {"output": 7}
    assert record["late"] == late
    assert len(bench.audit) == 1
    assert found.output["error"] == "timeout"
    assert [answer.output["error"] for _, answer in bench.pairs] == ["timeout"]
    TestBranch.attach_script(bench.branch, [text("fine")])
    await bench.branch.operate(instruction="b")
    assert "late" not in repr(TestBranch.calls(bench.branch)[-1].payload["messages"])
