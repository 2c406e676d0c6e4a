"""Reading an answer: locally where that helps, else by further calls, after pauses and as often as allowed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from support.roads import Bench, Road, request, structured, text

from lionagi._errors import ParseError
from lionagi.ln.clock import ManualClock, NoWaitClock
from lionagi.ln.trace import trace
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch, scripted_imodel


class City(BaseModel):
    name: str


class Notebook(ManualClock):
    """A manual clock that writes down its pauses."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await super().sleep(seconds)


@pytest.mark.record("DEC-27-1", "DEC-27-4", "0022-D1-28")
@pytest.mark.parametrize("verb", ["operate", "communicate", "parse"])
async def test_three_further_calls_each_after_its_pause(verb: str) -> None:
    clock = Notebook()
    model = scripted_imodel([text("no json")] * 9, clock=clock)
    branch = Branch(chat_model=model, parse_model=model)
    if verb == "parse":
        assert await branch.parse("no json", response_format=City) == "no json"
    elif verb == "operate":
        assert await branch.operate(instruction="a", response_format=City) == "no json"
    else:
        with pytest.raises(ValueError, match="City"):
            await branch.communicate("a", response_format=City)
    assert clock.pauses == pytest.approx([1, 1.85, 3.4225])
    assert len(TestBranch.calls(branch)) == (3 if verb == "parse" else 4)


@pytest.mark.record("DEC-27-4")
def test_a_test_branch_does_not_pause() -> None:
    assert isinstance(TestBranch.from_text("x").chat_model.clock, NoWaitClock)


@pytest.mark.record("DEC-27-2")
@pytest.mark.parametrize("verb", ["operate", "communicate", "parse"])
async def test_no_retries_means_no_further_call(road: Road, verb: str) -> None:
    branch = road.branch(text("no json"))
    given: dict[str, Any] = {"response_format": City, "num_parse_retries": 0}
    if verb == "parse":
        assert await branch.parse("no json", **given) == "no json"
    elif verb == "operate":
        assert await branch.operate(instruction="a", **given) == "no json"
    else:
        with pytest.raises(ValueError, match="City"):
            await branch.communicate("a", **given)
    assert len(road.payloads) == (0 if verb == "parse" else 1)


@pytest.mark.record("DEC-27-5")
@pytest.mark.parametrize(
    "answer",
    ['Sure:\n```json\n{"name": "Oslo"}\n```', '{"name": "Oslo",}', '{"nmae": "Oslo"}', "{'name': 'Oslo'}"],
    ids=["fenced", "trailing comma", "misspelt", "single quotes"],
)
async def test_what_can_be_mended_locally_costs_no_further_call(road: Road, answer: str) -> None:
    result = await road.branch(text(answer)).operate(instruction="a", response_format=City)
    assert result.name == "Oslo"
    assert len(road.payloads) == 1


@pytest.mark.record("DEC-27-3")
async def test_every_attempt_is_a_span_of_its_own(road: Road) -> None:
    branch = road.branch(text("no json"), text("still none"), structured(name="Oslo"))
    with trace() as seen:
        await branch.operate(instruction="a", response_format=City)
    assert [span.attributes["attempt"] for span in seen.walk() if span.name == "parse attempt"] == [0, 1, 2]


async def test_reformatting_never_runs_a_tool_again(road: Road, bench: Bench) -> None:
    branch = road.branch(
        text("no json"),
        text("no json"),
        structured(name="Oslo", action_requests=[request("safe", n=1)]),
        tools=list(bench.branch.tools.values()),
    )
    result = await branch.operate(instruction="a", response_format=City, actions=True)
    assert [each.output for each in result.action_responses] == [2]
    assert bench.entered == ["+1"]


@pytest.mark.record("0022-D1-29")
async def test_reformatting_calls_follow_one_another(api_road: Road) -> None:
    branch = api_road.branch(text("no"), text("no"), text("no"), structured(name="Oslo"))
    result = await branch.operate(instruction="a", response_format=City)
    assert result.name == "Oslo"
    assert api_road.server.most_at_once == 1


async def test_reformatting_leaves_no_messages(road: Road) -> None:
    branch = road.branch(text("no json"), structured(name="Oslo"))
    await branch.operate(instruction="a", response_format=City)
    assert [type(message).__name__ for message in branch.messages] == ["Instruction", "AssistantResponse"]


class Rows(BaseModel):
    rows: list[Any]


def in_need_of_repair(size: int) -> str:
    """Return a mapping in single quotes of ``size`` bytes."""
    return "{'rows': ['" + "y" * (size - 14) + "']}"


@pytest.mark.record("DEC-27-6")
@pytest.mark.parametrize(
    ("said", "is_read"),
    [
        (lambda: json.dumps({"rows": ["x" * 100] * 100_000}), True),
        (lambda: in_need_of_repair(256 * 1024), True),
        (lambda: in_need_of_repair(256 * 1024 + 1), False),
        (lambda: "{'rows': " + "[" * 199 + "]" * 199 + "}", True),
        (lambda: "{'rows': " + "[" * 200 + "]" * 200 + "}", False),
    ],
    ids=["valid 10 MB", "repair 256 KiB", "repair above", "repair 200 deep", "repair deeper"],
)
async def test_valid_json_is_read_at_any_size_and_repaired_within_bounds(
    said: Callable[[], str], is_read: bool
) -> None:
    answer = said()
    branch = TestBranch.from_text("never")
    if is_read:
        read = await branch.parse(answer, response_format=Rows, max_retries=0, handle_validation="raise")
        assert len(read.rows) == (100_000 if len(answer) > 10_000_000 else 1)
    else:
        with pytest.raises(ParseError):
            await branch.parse(answer, response_format=Rows, max_retries=0, handle_validation="raise")
    assert TestBranch.calls(branch) == []
