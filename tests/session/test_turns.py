"""Turns on one branch: one after the other, at once, and as they are seen in a trace."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from pydantic import BaseModel
from support.roads import Bench, Road, request, requests, structured, text

from lionagi.ln import trace as trace_module
from lionagi.ln.trace import trace
from lionagi.operations.communicate.communicate import communicate
from lionagi.operations.run.run import run_and_collect
from lionagi.protocols.generic.log import Log
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch


class City(BaseModel):
    name: str


def names(branch: Branch) -> list[str]:
    return [type(message).__name__ for message in branch.messages]


@pytest.mark.record("DEC-35-1", "DEC-35-2")
async def test_two_turns_at_once_keep_their_exchanges_apart(road: Road, bench: Bench) -> None:
    branch = road.branch(
        text("first"),
        requests(request("safe", n=1)),
        requests(request("safe", n=1)),
        tools=list(bench.branch.tools.values()),
    )
    both_begun = asyncio.Barrier(2)

    async def middle(*args: Any, **kwargs: Any) -> Any:
        await both_begun.wait()
        return await (communicate if road.name == "api" else run_and_collect)(*args, **kwargs)

    async def turn(instruction: str) -> None:
        await branch.operate(instruction=instruction, actions=True, middle=middle)

    await branch.operate(instruction="TURN-ZERO")
    await asyncio.gather(turn("TURN-ONE"), turn("TURN-TWO"))
    for payload in road.payloads[1:]:
        sent = repr(payload["messages"])
        assert "TURN-ZERO" in sent
        assert ("TURN-ONE" in sent) != ("TURN-TWO" in sent)
    block = ["Instruction", "AssistantResponse", "ActionRequest", "ActionResponse"]
    assert names(branch) == ["Instruction", "AssistantResponse", *block, *block]


@pytest.mark.record("DEC-35-5")
async def test_consecutive_instructions_are_all_sent(road: Road) -> None:
    branch = road.branch(text("fine"))
    for words in ("QUESTION-ONE", "QUESTION-TWO"):
        branch.msgs.add_message(instruction=words)
    await branch.operate(instruction="QUESTION-THREE")
    assert all(f"QUESTION-{number}" in road.sent for number in ("ONE", "TWO", "THREE"))


def sent(branch: Branch) -> list[list[dict[str, Any]]]:
    """Return the message list of each recorded call."""
    return [log.content["messages"] for log in branch.logs if log.content["kind"] == "model_call"]


@pytest.mark.record("DEC-31-1")
@pytest.mark.parametrize("system", [None, "be brief"])
async def test_recorded_calls_hold_the_messages_of_the_history_themselves(road: Road, system: str | None) -> None:
    turns = 20
    branch = road.branch(*(text(f"answer {n}") for n in range(turns)), system=system)
    for n in range(turns):
        await branch.operate(instruction=f"question {n}")
    history = {id(message.chat_msg) for message in branch.messages if message is not branch.system}
    calls = [[message for message in call if message["role"] != "system"] for call in sent(branch)]
    assert [len(call) for call in calls] == [2 * n + 1 for n in range(turns)]
    assert all(id(message) in history for call in calls for message in call)
    if road.name == "agentic":
        assert all(
            call.payload["messages"] is held for call, held in zip(TestBranch.calls(branch), sent(branch), strict=True)
        )


@pytest.mark.record("DEC-31-1")
async def test_the_messages_of_all_calls_grow_linearly_with_tools_and_formats_too(road: Road, bench: Bench) -> None:
    turns = 12
    answers = [structured(name=f"Oslo {n}", action_requests=[request("safe", n=n)]) for n in range(turns)]
    branch = road.branch(*answers, tools=list(bench.branch.tools.values()))
    held: list[int] = []
    for n in range(turns):
        await branch.operate(instruction=f"question {n}", response_format=City, actions=True)
        held.append(len({id(message) for call in sent(branch) for message in call}))
    assert {later - earlier for earlier, later in itertools.pairwise(held)} <= {
        2,
        3,
    }  # asked, answered, as it was asked


@pytest.mark.record("DEC-B-2")
async def test_a_trace_shows_every_station(road: Road, bench: Bench) -> None:
    answer = structured(name="Oslo", action_requests=[request("safe", n=1)])
    branch = road.branch(answer, tools=list(bench.branch.tools.values()))
    branch.gate = lambda _: True
    with trace() as seen:
        await branch.operate(instruction="a", response_format=City, actions=True)
    found = [span.name for span in seen.walk()]
    for name in ("prepare", "render", "model call", "parse attempt", "validate", "authorize", "tool", "enrich"):
        assert name in found


@pytest.mark.record("DEC-B-3")
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"skip_validation": True, "actions": True}, "skip_validation"),
        ({"invoke_actions": False}, "invoke_actions"),
        ({}, "actions were not enabled"),
    ],
    ids=["skip", "invoke", "off"],
)
@pytest.mark.filterwarnings("ignore:.*not run:UserWarning")
async def test_an_early_return_says_why_in_the_trace(given: Any, reason: str) -> None:
    async def middle(*_: Any, **__: Any) -> Any:
        return {"action_requests": [request("safe")]}

    with trace() as seen:
        await TestBranch.from_text("never").operate(instruction="a", middle=middle, **given)
    assert any(reason in (span.reason or "") for span in seen.walk())


@pytest.mark.record("DEC-B-4")
async def test_without_a_tracer_no_span_is_made(road: Road, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    original = trace_module.Span.__init__

    def counting(self: Any, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        original(self, *args, **kwargs)

    monkeypatch.setattr(trace_module.Span, "__init__", counting)
    branch = road.branch(
        requests(request("safe", n=1)), requests(request("safe", n=1)), tools=list(bench.branch.tools.values())
    )
    await branch.operate(instruction="a", actions=True)
    assert made == []
    with trace():
        await branch.operate(instruction="a", actions=True)
    assert made != []


async def test_every_log_of_a_turn_names_the_turn(road: Road, bench: Bench) -> None:
    branch = road.branch(requests(request("safe", n=1)), tools=list(bench.branch.tools.values()))
    await branch.operate(instruction="a", actions=True)
    logs: list[Log] = list(branch.logs)
    assert [log.content["kind"] for log in logs] == ["model_call", "tool_call", "turn"]
    assert len({log.content["turn"] for log in logs}) == 1
