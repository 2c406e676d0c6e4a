"""Whoever asks for it, a tool is entered from act() alone: counted by the tools, by the gate and by the records."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from support.openai_server import tool_call as wire_call
from support.roads import Road, reply, request, requests, text, tool_call
from support.source import modules

from lionagi.operations.communicate.communicate import communicate
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch

ACT = "lionagi/operations/act/_call.py"
ASKED = [request("add", n=1), request("fail", n=2), request("add", n="three"), request("nosuch"), request("add", n=4)]


class City(BaseModel):
    name: str = "Oslo"


class Meter:
    """Tools that count their runs and look from where they were entered, and a gate that counts what it allowed."""

    def __init__(self) -> None:
        self.entered = 0
        self.strays: list[str] = []
        self.allowed = 0

    def enter(self) -> None:
        self.entered += 1
        frame, files = sys._getframe(), []
        while frame is not None:
            files.append(frame.f_code.co_filename)
            frame = frame.f_back
        if not any(name.endswith(ACT) for name in files):
            self.strays.append("\n".join(files))

    @property
    def tools(self) -> list[Any]:
        async def add(n: int) -> int:
            """Add one."""
            self.enter()
            return n + 1

        async def fail(n: int) -> int:
            """Fail."""
            self.enter()
            raise LookupError(n)

        return [add, fail]

    async def gate(self, _: Any) -> bool:
        self.allowed += 1
        return True


def ran(branch: Branch) -> int:
    """Return how many runs are on record."""
    records = [log.content for log in branch.logs if log.content["kind"] == "tool_call"]
    return sum(record["status"] == "ok" or (record["output"] or {}).get("error") == "LookupError" for record in records)


async def structured_answer(road: Road, branch: Branch, **more: Any) -> None:
    say(road, branch, requests(*ASKED))
    await branch.operate(instruction="a", actions=True, **more)


async def with_a_format(road: Road, branch: Branch) -> None:
    say(road, branch, text("no json"), requests(*ASKED, name="Oslo"))
    await branch.operate(instruction="a", actions=True, response_format=City, reason=True)


async def native_call(road: Road, branch: Branch, **more: Any) -> None:
    say(road, branch, tool_call("add", n=1))
    await branch.operate(instruction="a", actions=True, **more)


async def several_native_calls(road: Road, branch: Branch) -> None:
    if road.name != "api":
        await native_call(road, branch, action_strategy="sequential")
        return
    answer = wire_call("add", {"n": 1})
    answer.tool_calls += wire_call("fail", {"n": 2}, id="call_2").tool_calls
    answer.tool_calls += wire_call("add", '{"n": ', id="call_3").tool_calls
    road.server.script(answer)
    await branch.operate(instruction="a", actions=True)


async def streamed(road: Road, branch: Branch) -> None:
    await structured_answer(road, branch, persist_dir="unused")
    await native_call(road, branch, persist_dir="unused")


async def own_middle(road: Road, branch: Branch) -> None:
    async def middle(*args: Any, **kwargs: Any) -> Any:
        await branch.act(ASKED)
        await communicate(*args, **kwargs)
        return {"action_requests": ASKED}

    say(road, branch, requests(*ASKED))
    await branch.operate(instruction="a", actions=True, middle=middle)


async def direct(road: Road, branch: Branch) -> None:
    await branch.act(ASKED, strategy="sequential")


async def verbs_without_actions(road: Road, branch: Branch) -> None:
    answer, call = requests(*ASKED, name="Oslo"), tool_call("add", n=1)
    say(road, branch, answer, call, answer, answer, answer, call, call)
    await branch.chat("a")
    await branch.chat("a", tool_schemas=[tool.tool_schema for tool in branch.tools.values()])
    await branch.communicate("a", response_format=City)
    await branch.operate(instruction="a", response_format=City)
    await branch.operate(instruction="a", actions=True, invoke_actions=False)
    await branch.operate(instruction="a", tool_schemas=[tool.tool_schema for tool in branch.tools.values()])
    async for _ in branch.run("a"):
        pass


def say(road: Road, branch: Branch, *entries: Any) -> None:
    if road.name == "api":
        road.server.script(*map(reply, entries))
    else:
        TestBranch.attach_script(branch, list(entries))


SOURCES: dict[str, tuple[Callable[..., Any], int | None]] = {
    "structured": (structured_answer, 3),
    "format": (with_a_format, 3),
    "native": (native_call, 1),
    "natives": (several_native_calls, None),
    "streamed": (streamed, 4),
    "own middle": (own_middle, 6),
    "direct": (direct, 3),
    "no actions": (verbs_without_actions, 0),
}


@pytest.mark.parametrize("source", SOURCES)
async def test_A5_every_run_of_a_tool_is_entered_from_act(road: Road, source: str) -> None:
    meter = Meter()
    branch = road.branch(tools=meter.tools)
    branch.gate = meter.gate
    ask, wanted = SOURCES[source]
    await ask(road, branch)
    if wanted is None:
        wanted = 2 if road.name == "api" else 1
    assert meter.strays == []
    assert meter.entered == meter.allowed == ran(branch) == wanted


async def test_A5_all_roads_on_one_branch_count_alike(road: Road) -> None:
    meter = Meter()
    branch = road.branch(tools=meter.tools)
    branch.gate = meter.gate
    for ask, _ in SOURCES.values():
        await ask(road, branch)
    assert meter.strays == []
    assert meter.entered == meter.allowed == ran(branch) > 20


def test_A5_nobody_but_the_tool_itself_reaches_for_its_function() -> None:
    found = {
        module.relative
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr == "func_callable"
    }
    assert found == {"lionagi/protocols/action/tool.py", "lionagi/protocols/action/manager.py"}
