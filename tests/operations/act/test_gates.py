"""Who is asked before a tool runs, how long they have, and that nothing runs meanwhile."""

from __future__ import annotations

import asyncio
import copy
import threading
from typing import Any

import pytest
from support.roads import Bench, Road, request, requests
from support.virtual_time import run_virtually

from lionagi.hooks.bus import Denial, HookBus
from lionagi.operations.act.act import act
from lionagi.operations.types import ActionParam
from lionagi.protocols.control import HookPoint, ToolInvocation


class Person:
    """A gate that asks somebody who thinks for a while, with a deadline of its own where one is given."""

    def __init__(self, thinks: float, says: Any = True, deadline: float | None = None) -> None:
        self.thinks = thinks
        self.says = says
        self.asked: list[str] = []
        if deadline is not None:
            self.deadline = deadline

    async def __call__(self, invocation: ToolInvocation) -> Any:
        self.asked.append(invocation.function)
        await asyncio.sleep(self.thinks)
        return self.says


async def one(bench: Bench) -> Any:
    (found,) = await act(bench.branch, [request("safe", n=1)], ActionParam())
    return found.output


# -- deadlines


@pytest.mark.record("DEC-11-3")
@pytest.mark.parametrize(
    ("own", "thinks", "allowed"),
    [(None, 9.9, True), (None, 10.1, False), (300, 299, True), (300, 301, False), (2, 1.9, True), (2, 2.1, False)],
)
def test_A2_a_gate_has_ten_seconds_or_as_long_as_it_says(
    bench: Bench, own: float | None, thinks: float, allowed: bool
) -> None:
    bench.branch.gate = Person(thinks, deadline=own)
    output, took = run_virtually(one(bench))
    assert (output == 2) == allowed == bool(bench.events)
    assert took == pytest.approx(thinks if allowed else own or 10)
    assert bench.audit[0]["status"] == ("ok" if allowed else "denied")
    if not allowed:
        assert output["error"] == "denied"
        assert f"{own or 10:g} s" in output["message"]


def _handler(how: str, thinks: float = 0) -> Any:
    async def handler(**_: Any) -> Any:
        if how == "raises":
            raise RuntimeError("no")
        if how == "cancels":
            raise asyncio.CancelledError
        await asyncio.sleep(thinks)
        return {"false": False, "denial": Denial("no")}.get(how)

    return handler


@pytest.mark.record("DEC-11-8")
@pytest.mark.parametrize(
    ("how", "thinks", "settings", "allowed", "took"),
    [
        ("raises", 0, {}, False, 0),
        ("cancels", 0, {}, False, 0),
        ("false", 1, {}, False, 1),
        ("denial", 1, {}, False, 1),
        ("none", 9.9, {}, True, 9.9),
        ("none", 10.1, {}, False, 10),
        ("none", 2.9, {"deadline": 3}, True, 2.9),
        ("none", 3.1, {"deadline": 3}, False, 3),
        ("none", 20, {"deadline": 21}, True, 20),
    ],
)
def test_A2_a_hook_denies_by_every_way_but_none_and_has_ten_seconds_unless_set(
    bench: Bench, how: str, thinks: float, settings: Any, allowed: bool, took: float
) -> None:
    bench.branch.hooks = HookBus(**settings)
    bench.branch.hooks.on(HookPoint.TOOL_PRE, _handler(how, thinks))
    output, seconds = run_virtually(one(bench))
    assert seconds == pytest.approx(took)
    assert (output == 2) == allowed == bool(bench.events)
    assert allowed or output["error"] == "denied"
    assert bench.audit[0]["status"] == ("ok" if allowed else "denied")


async def test_A2_a_plain_hook_that_hangs_is_a_denial_as_well(bench: Bench) -> None:
    bench.branch.hooks = HookBus(deadline=0.02)
    release = threading.Event()
    bench.branch.hooks.on(HookPoint.TOOL_PRE, lambda **_: release.wait(30))
    output = await one(bench)
    release.set()
    assert output["error"] == "denied"
    assert bench.events == []


async def cancelled(_: ToolInvocation) -> bool:
    raise asyncio.CancelledError


async def test_A2_a_gate_that_raises_cancelled_error_denies_that_request_alone(bench: Bench) -> None:
    async def gate(invocation: ToolInvocation) -> bool:
        return invocation.arguments["n"] == 2 or await cancelled(invocation)

    bench.branch.gate = gate
    found = await act(bench.branch, [request("safe", n=1), request("safe", n=2)], ActionParam())
    assert found[0].output["error"] == "denied"
    assert found[1].output == 3
    assert [record["status"] for record in bench.audit] == ["denied", "ok"]


# -- a person is asked


@pytest.mark.parametrize("strategy", ["concurrent", "sequential"])
async def test_A3_nothing_runs_while_a_person_is_asked(road: Road, bench: Bench, strategy: Any) -> None:
    branch = road.branch(requests(*(request("safe", n=n) for n in range(3))), tools=list(bench.branch.tools.values()))
    asked, answer = asyncio.Event(), asyncio.Event()

    async def gate(_: ToolInvocation) -> bool:
        asked.set()
        await answer.wait()
        return True

    branch.gate = gate
    turn = asyncio.create_task(branch.operate(instruction="a", actions=True, action_strategy=strategy))
    await asked.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    assert bench.events == []
    assert not turn.done()
    answer.set()
    result = await turn
    assert [each.output for each in result.action_responses] == [1, 2, 3]
    assert len(bench.entered) == 3


@pytest.mark.parametrize("strategy", ["concurrent", "sequential"])
@pytest.mark.parametrize("says", [True, None])
def test_A3_no_answer_within_its_deadline_is_a_no(bench: Bench, strategy: Any, says: Any) -> None:
    bench.branch.gate = person = Person(301, says, deadline=300)

    async def turn() -> Any:
        found = await act(bench.branch, [request("safe", n=n) for n in range(3)], ActionParam(strategy=strategy))
        await asyncio.sleep(3_600)  # what was asked too late stays unheard
        return found

    found, _ = run_virtually(turn())
    assert [each.output["error"] for each in found] == ["denied"] * 3
    assert bench.events == []
    assert person.asked == ["safe"] * 3
    assert {record["decided_by"] for record in bench.audit} == {"Person"}


def test_A3_a_person_who_is_asked_again_for_the_next_may_allow_it(bench: Bench) -> None:
    class Slow(Person):
        async def __call__(self, invocation: ToolInvocation) -> Any:
            self.thinks = 400 if invocation.arguments["n"] == 0 else 200
            return await super().__call__(invocation)

    bench.branch.gate = Slow(0, deadline=300)
    asked = [request("safe", n=n) for n in range(2)]
    found, _ = run_virtually(act(bench.branch, asked, ActionParam(strategy="sequential")))
    assert found[0].output["error"] == "denied"
    assert found[1].output == 2
    assert bench.entered == ["+1"]


async def test_A3_a_turn_that_is_cancelled_while_a_person_is_asked_runs_nothing(bench: Bench) -> None:
    asked = asyncio.Event()

    async def gate(_: ToolInvocation) -> bool:
        asked.set()
        await asyncio.Event().wait()
        return True

    bench.branch.gate = gate
    turn = asyncio.create_task(act(bench.branch, [request("safe", n=1)] * 2, ActionParam()))
    await asked.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert bench.events == []
    assert [record["status"] for record in bench.audit] == ["cancelled"] * 2


# -- what is shown is what runs


@pytest.mark.parametrize("who", ["gate", "hook", "another tool"])
async def test_A4_whoever_changes_the_request_after_it_was_shown_changes_nothing_that_runs(
    road: Road, bench: Bench, who: str
) -> None:
    """The value is one of a Middle of the caller's own, so that others can hold on to it."""
    got: list[Any] = []
    shown: list[Any] = []
    parts: list[Any] = ["a", ["deep"]]
    asked = [request("send", parts=parts), request("send", parts=parts)]

    def spoil() -> None:
        parts.append("evil")
        parts[1].append("evil")

    async def send(parts) -> None:
        """Send parts."""
        got.append(copy.deepcopy(parts))
        if who == "another tool":
            spoil()

    async def gate(invocation: ToolInvocation) -> bool:
        shown.append(copy.deepcopy(invocation.arguments["parts"]))
        invocation.arguments["parts"].append("evil")
        if who == "gate":
            spoil()
        return True

    async def hook(**_: Any) -> None:
        if who == "hook":
            spoil()

    async def middle(*_: Any, **__: Any) -> Any:
        return {"action_requests": asked}

    branch = road.branch(tools=[send])
    branch.gate, branch.hooks = gate, HookBus()
    branch.hooks.on(HookPoint.TOOL_PRE, hook)
    await branch.operate(instruction="a", actions=True, action_strategy="sequential", middle=middle)
    assert got == shown
    assert got[0] == ["a", ["deep"]]
    records = [log.content["arguments"]["parts"] for log in branch.logs if log.content["kind"] == "tool_call"]
    assert records == got


async def test_A4_arguments_that_cannot_be_copied_for_the_gate_are_refused(bench: Bench) -> None:
    def take(lock) -> None:
        """Take a lock."""
        bench.events.append("+")

    bench.branch.register_tools(take)
    bench.branch.gate = Person(0)
    found = await act(bench.branch, [request("take", lock=threading.Lock()), request("safe", n=1)], ActionParam())
    assert found[0].output["error"] == "denied"
    assert "copied" in found[0].output["message"]
    assert found[1].output == 2
    assert bench.entered == ["+1"]
