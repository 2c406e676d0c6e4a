"""What a trace shows of each verb: its stages, and in words why it ended where it did."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic import BaseModel
from support.roads import Entry, Road, request, requests, structured, text

import lionagi
from lionagi._errors import ExecutionError
from lionagi.ln.trace import Trace
from lionagi.operations.types import ActionParam
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch


class City(BaseModel):
    name: str


def weather(city: str) -> str:
    """The weather in a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"sunny in {city}"


OSLO = structured(name="Oslo")
ASKS = requests(request("weather", city="Oslo"), name="Oslo")
MIDDLE = "  {middle}\n    render\n    model call"
ASKED = f"operate\n  prepare\n{MIDDLE}\n    parse attempt\n  validate"


async def outline(work: Awaitable[Any]) -> str:
    with lionagi.trace() as seen:
        await work
    return seen.outline()


def of(road: Road, shape: str) -> str:
    return shape.format(middle="communicate" if road.name == "api" else "run")


def operate(**call: Any) -> Callable[[Branch], Awaitable[Any]]:
    return lambda branch: branch.operate(**{"instruction": "q", "response_format": City, **call})


async def read_all(branch: Branch) -> None:
    async for _ in branch.run("q"):
        pass


NO_JSON = "ExtractionError: no JSON object was found in 'no json'"
VERBS: dict[str, tuple[list[Entry], Callable[[Branch], Awaitable[Any]], str]] = {
    "chat": ([text("a")], lambda branch: branch.chat("q"), "chat\n  render\n  model call"),
    "communicate": (
        [OSLO],
        lambda branch: branch.communicate("q", response_format=City),
        "communicate\n  render\n  model call\n  parse attempt",
    ),
    "run": ([text("a")], read_all, "run\n  render\n  model call"),
    "parse": ([], lambda branch: branch.parse('{"name": "a"}', response_format=City), "parse\n  parse attempt"),
    "parse, reformatted": (
        [OSLO],
        lambda branch: branch.parse("no json", response_format=City),
        f"parse\n  parse attempt [error]: {NO_JSON}\n  parse attempt\n    render\n    model call",
    ),
    "act": (
        [],
        lambda branch: branch.act(request("weather", city="Oslo")),
        "act\n  tool\n    authorize",
    ),
    "operate": ([OSLO], operate(), ASKED),
    "operate with a tool": (
        [ASKS],
        operate(actions=True),
        f"{ASKED}\n  tool\n    authorize\n  enrich",
    ),
}


@pytest.mark.parametrize("verb", VERBS)
async def test_every_verb_is_a_tree_of_its_stages(road: Road, verb: str) -> None:
    answers, work, shape = VERBS[verb]
    assert await outline(work(road.branch(*answers, tools=[weather]))) == of(road, shape)


async def test_every_stage_has_a_start_a_duration_and_a_status(road: Road) -> None:
    branch = road.branch(ASKS, tools=[weather])
    with lionagi.trace() as seen:
        await operate(actions=True)(branch)
    for each in seen.walk():
        assert each.status == "ok"
        assert each.start >= 0
        assert each.duration > 0
        for child in each.children:
            assert each.start <= child.start
            assert child.start + child.duration <= each.start + each.duration


@pytest.mark.parametrize(
    ("answers", "call", "words"),
    [
        ([ASKS], {"actions": True, "skip_validation": True}, "validate: actions not run: skip_validation=True"),
        ([ASKS], {"actions": True, "invoke_actions": False}, "validate: actions not run: invoke_actions=False"),
        (
            [structured(sea="wide")],
            {"num_parse_retries": 0},
            "validate: actions not run: the answer is no City, and handle_validation='return_value' decides",
        ),
        (
            [structured(sea="wide")],
            {"num_parse_retries": 0, "handle_validation": "return_none"},
            "validate: actions not run: the answer is no City, and handle_validation='return_none' decides",
        ),
        ([text("no json")], {"num_parse_retries": 0}, f"parse attempt [error]: {NO_JSON}"),
        (
            [text("no json")],
            {"num_parse_retries": 0},
            "{middle}: not parsed: handle_validation='return_value' returns the text",
        ),
        ([requests(request("nope"), name="a")], {"actions": True}, "tool: tool 'nope' error: Function 'nope' is not"),
        (
            [requests(request("other"), name="a")],
            {"actions": True, "tools": ["weather"]},
            "tool: tool 'other' denied: Tool 'other' is not selected in this call",
        ),
        (
            [requests(request("weather", city="Atlantis"), name="a")],
            {"actions": True},
            "tool: tool 'weather' error: no such city",
        ),
        ([requests(request("weather"), name="a")], {"actions": True}, "tool: tool 'weather' error: The arguments must"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*not run:UserWarning", "ignore:skip_validation=True returns:UserWarning")
async def test_an_early_return_of_operate_says_its_reason(
    road: Road, answers: list[Entry], call: dict[str, Any], words: str
) -> None:
    def other() -> None:
        """Registered, and not selected."""

    branch = road.branch(*answers, tools=[weather, other])
    # a Middle parses with the policy "return_value" whatever operate() then does
    assert of(road, words) in await outline(operate(**call)(branch))


async def test_a_gate_that_denies_is_named(road: Road) -> None:
    def nobody(_: Any) -> str:
        return "not today"

    branch = road.branch(ASKS, tools=[weather])
    branch.gate = nobody
    shown = await outline(operate(actions=True)(branch))
    assert "  tool: tool 'weather' denied: not today\n    authorize: denied by nobody: not today" in shown


async def test_a_request_past_the_cap_is_a_refused_tool() -> None:
    branch = TestBranch.from_text("never", tools=[weather])
    asked = [request("weather", city="Oslo")] * 2
    with lionagi.trace() as seen:
        await lionagi_act(branch, asked, cap=1)
    assert [each.reason for each in seen.find("tool")] == [
        "tool 'weather' refused: Past the cap of 1 calls a turn.",
        None,
    ]


async def lionagi_act(branch: Branch, asked: list[Any], cap: int) -> Any:
    from lionagi.operations.act.act import act

    return await act(branch, asked, ActionParam(max_tool_calls=cap))


async def test_a_model_call_that_fails_is_an_error_on_every_level(road: Road) -> None:
    with lionagi.trace() as seen:
        with pytest.raises(ExecutionError):
            await road.branch().operate(instruction="q")
    failed = [each.name for each in seen.walk() if each.status == "error"]
    assert failed == ["operate", of(road, "{middle}"), "model call"]
    assert all(each.reason for each in seen.walk() if each.status == "error")


async def test_a_stream_whose_reader_stops_says_so(road: Road) -> None:
    with lionagi.trace() as seen:
        stream = road.branch(text("a b c")).run("q")
        await anext(stream)
        await stream.aclose()
    assert seen.outline() == "run [cancelled]: its reader stopped before the end\n  render"


async def test_what_the_reader_of_a_stream_does_stands_beside_it(road: Road) -> None:
    branch = road.branch(text("a"), tools=[weather])
    with lionagi.trace() as seen:
        async for _ in branch.run("q"):
            await branch.act(request("weather", city="Oslo"))
    act = "act\n  tool\n    authorize"
    assert seen.outline() == f"run\n  render\n  model call\n{act}\n{act}"


async def test_turns_at_once_are_trees_of_their_own() -> None:
    with lionagi.trace() as seen:
        await asyncio.gather(*(TestBranch.from_text("a").chat("q") for _ in range(3)))
    assert seen.outline() == "\n".join(["chat\n  render\n  model call"] * 3)


async def test_the_trace_of_a_branch_holds_its_own_verbs_only() -> None:
    mine, other = TestBranch.from_text("a"), TestBranch.from_text("b")
    with mine.trace() as seen:
        await other.chat("q")
        await mine.chat("q")
    assert isinstance(seen, Trace)
    assert [each.attributes["branch"] for each in seen.spans] == [mine.id]


async def test_a_model_call_names_provider_model_and_usage(road: Road) -> None:
    branch = road.branch(text("a"))
    with lionagi.trace() as seen:
        await branch.operate(instruction="q")
    call = seen.find("model call")[0]
    assert call.attributes["provider"] == branch.chat_model.provider
    assert call.attributes["model"] == branch.chat_model.model_name
    assert call.attributes["finish_reason"] == "stop"
    assert call.attributes["usage"]["total_tokens"] >= 0
    assert call.content is not None
    assert call.content["answer"] == "a"
