"""The whole truth table of operate(), end to end, against an oracle of its own; and answers at random.

Rows are skip_validation x invoke_actions x actions x handle_validation x what came back x the caller's format x
action_required, over both middles and over a Middle of the caller's own. One test takes the rows of one answer; what it
reports are the rows that ended in another way than they should.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, Self

import pytest
from pydantic import BaseModel, Field, model_validator
from support import operate_oracle as oracle
from support.operate_oracle import Ending, Row, Words
from support.random_answers import random_answer
from support.roads import Entry, Road, reply

from lionagi.operations.types import ChatParam
from lionagi.protocols.messages.action_response import ActionResponse
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch

pytestmark = pytest.mark.filterwarnings("ignore:.*not run:UserWarning")


@dataclass
class Counter:
    """A tool that counts its runs."""

    runs: list[int] = field(default_factory=list)

    def tool(self) -> Any:
        async def add(n: int) -> int:
            """Add one number."""
            self.runs.append(n)
            return n + 10

        return add


@dataclass
class Found:
    """How a row ended."""

    runs: list[int]
    result: Any
    error: Exception | None
    pairs: int


def say_next(road: Road, branch: Branch, entry: Entry) -> None:
    """Let the branch begin anew and its model say ``entry`` next."""
    branch.msgs.clear_messages()
    if road.name == "api":
        road.server.script(reply(entry))
    else:
        TestBranch.attach_script(branch, [entry])


async def go(branch: Branch, counter: Counter, row: Row, **more: Any) -> Found:
    counter.runs.clear()
    result, error = None, None
    try:
        result = await branch.operate(instruction="a", num_parse_retries=0, **row.keywords, **more)
    except ValueError as raised:
        error = raised
    pairs = sum(isinstance(message, ActionResponse) for message in branch.messages)
    return Found(list(counter.runs), result, error, pairs)


def outputs(result: Any) -> list[Any] | None:
    """Return the outputs of the responses in a result, None where it has no such field or none in it."""
    held = result.get("action_responses") if isinstance(result, dict) else getattr(result, "action_responses", None)
    return None if held is None else [each.output for each in held]


def ran_as_told(found: Found, ending: Ending) -> bool:
    """Whether the tools ran as often as they should, left as many pairs, and their outputs stand in the result."""
    wanted = [request["arguments"]["n"] for request in oracle.ASKED][: ending.runs]
    shown = outputs(found.result)
    return (
        found.runs == wanted
        and found.pairs == ending.runs
        and shown == ([n + 10 for n in wanted] if ending.gives == "enriched" else None)
    )


def ended_as_told(found: Found, ending: Ending) -> bool:
    """Whether None or the error came, where one should, and only there."""
    raised = found.error is not None and "Words" in str(found.error)
    if ending.gives in ("raise", "none"):
        return raised == (ending.gives == "raise") and found.result is None
    return found.error is None


def is_told_answer(row: Row, ending: Ending, result: Any) -> bool:
    """Whether the returned object is what the answer said, in the shape that the row asks for."""
    if ending.gives in ("raise", "none"):
        return True
    if ending.shape == "text":
        if row.said == "prose":
            return isinstance(result, str) and result == oracle.PROSE
        return isinstance(result, str) and json.loads(result) == oracle.answer_data(row)
    if ending.shape == "mapping":
        if not isinstance(result, dict):
            return False
        asked = oracle.ASKED[:1] if row.said == "tool call" else oracle.answer_data(row).get("action_requests")
        same = row.said == "tool call" or all(
            result[key] == value for key, value in oracle.answer_data(row).items() if key in ("words", "other")
        )
        return same and result.get("action_requests") == asked
    return isinstance(result, Words) and result.words == "w" if row.wants_model else isinstance(result, BaseModel)


@pytest.mark.record("DEC-02-12", "0022-D3-08", "0022-D3-11", "0022-D3-14", "0022-C-01")
@pytest.mark.parametrize("said", oracle.ANSWERS)
async def test_T6_every_row_runs_the_tool_and_returns_as_the_record_says(road: Road, said: str) -> None:
    counter, wrong = Counter(), []
    branch = road.branch(tools=[counter.tool()])
    for row in oracle.rows(said):
        if said in ("prose", "tool call") and row.required != "absent":
            continue  # there is no place for action_required in it
        say_next(road, branch, oracle.answer(row))
        found = await go(branch, counter, row)
        ending = oracle.expected(row, oracle.seen_of_answer(row))
        if not (
            ran_as_told(found, ending) and ended_as_told(found, ending) and is_told_answer(row, ending, found.result)
        ):
            wrong.append((row, ending, found))
    assert wrong == []


def is_value(value: Any, before: Any, result: Any, ending: Ending) -> bool:
    """Whether the Middle's value came back itself and unchanged, or enriched: a mapping in place, a model as a copy."""
    if ending.gives == "value":
        return result is value and result == before
    if ending.gives != "enriched":
        return True
    if isinstance(value, dict):
        return result is value and {**result, "action_responses": None} == {**before, "action_responses": None}
    return result is not value and value == before and type(result) is type(value) and same_fields(result, before)


def same_fields(result: BaseModel, before: BaseModel) -> bool:
    return all(getattr(result, name) == getattr(before, name) for name in type(before).model_fields)


@pytest.mark.record("0022-D3-07", "0022-D3-08", "0022-D3-11", "0022-D3-14", "0022-D4-05", "0022-D4-06")
@pytest.mark.parametrize("said", oracle.VALUES)
async def test_T6_every_row_of_a_middle_of_the_callers_own_ends_as_the_record_says(said: str) -> None:
    wrong = []
    for row in oracle.rows(said):
        counter, value, before = Counter(), oracle.value_of(row), oracle.value_of(row)

        async def middle(*_: Any, value: Any = value, **__: Any) -> Any:
            return value

        branch = TestBranch.from_text("never", tools=[counter.tool()])
        found = await go(branch, counter, row, middle=middle)
        ending = oracle.expected(row, oracle.seen_of_value(row))
        if not (
            ran_as_told(found, ending)
            and ended_as_told(found, ending)
            and is_value(value, before, found.result, ending)
        ):
            wrong.append((row, ending, found))
    assert wrong == []


# -- answers at random


class Checked(BaseModel):
    """The caller's model, which notes when it has been validated."""

    validated: ClassVar[list[str]] = []
    words: str = Field(min_length=1, max_length=8)

    @model_validator(mode="after")
    def _note(self) -> Self:
        self.validated.append(self.words)
        return self


async def reads_loosely(branch: Branch, instruction: Any, chat_param: ChatParam, *_: Any, **__: Any) -> Any:
    """A Middle that returns whatever JSON the model said, without a look at the format."""
    said = await branch.chat(instruction, imodel=chat_param.imodel)
    try:
        return json.loads(said)
    except ValueError:
        return said


@dataclass
class Chance:
    """A call at random to a model that answers at random."""

    seed: int
    early: list[int] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        Checked.validated.clear()
        rng = Random(self.seed)
        self.said = [random_answer(rng) for _ in range(2)]
        self.keywords: dict[str, Any] = {
            "handle_validation": rng.choice(oracle.POLICIES),
            "skip_validation": rng.random() < 0.1,
            "invoke_actions": rng.random() < 0.9,
            "actions": rng.random() < 0.8,
            "num_parse_retries": rng.randrange(2),
            "middle": rng.choice((None, None, None, reads_loosely)),
        }

    async def result(self) -> Any:
        """Make the call; the tool is one function for all calls, which is what a module's tools are."""
        current.set(self)
        branch = TestBranch.from_text(self.said, tools=[add])
        try:
            return await branch.operate(instruction="a", response_format=Checked, **self.keywords)
        except ValueError:
            return None

    def fault(self, result: Any) -> str | None:
        """Return what went wrong, None where nothing did."""
        if self.early:
            return f"ran before the answer was validated: {self.early}"
        may = self.keywords["actions"] and self.keywords["invoke_actions"] and not self.keywords["skip_validation"]
        if not (may and isinstance(result, Checked)):
            return f"ran {self.runs} for {result!r} of {self.keywords}" if self.runs else None
        asked: list[Any] = getattr(result, "action_requests", None) or []
        responses: list[Any] = [each.output for each in getattr(result, "action_responses", None) or []]
        wanted = [n for n in map(asks_well, asked) if n is not None]
        gave = [each for each in responses if isinstance(each, int)]
        if sorted(self.runs) != sorted(wanted) or gave != [n + 10 for n in wanted] or len(asked) != len(responses):
            return f"ran {self.runs}, told to run {wanted}: {result!r}"
        return None


current: ContextVar[Chance] = ContextVar("current")


async def add(n: int) -> int:
    """Add one number."""
    chance = current.get()
    if not Checked.validated:
        chance.early.append(n)
    chance.runs.append(n)
    return n + 10


def asks_well(request: Any) -> int | None:
    """Return the argument of a request that can run, None for any other; text of a whole number counts as one."""
    arguments = request.arguments
    if request.function != "add" or not isinstance(arguments, dict) or set(arguments) != {"n"}:
        return None
    try:
        number = float(arguments["n"])
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "seeds",
    [range(2_000), pytest.param(range(2_000, 102_000), marks=pytest.mark.proof)],
    ids=["2000", "100000"],
)
async def test_T6_no_answer_has_an_effect_before_it_is_validated(seeds: range) -> None:
    wrong, ran = [], 0
    for seed in seeds:
        chance = Chance(seed)
        if fault := chance.fault(await chance.result()):
            wrong.append((seed, fault))
        ran += bool(chance.runs)
    assert wrong == []
    assert len(seeds) / 20 < ran < len(seeds) / 2  # enough of them ask well, enough do not
