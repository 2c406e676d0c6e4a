"""The table of early returns on the operate page: each row is made to happen and compared with what the page says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from pydantic import BaseModel
from support.roads import Entry, Road, refusal, request, structured
from support.source import ROOT

import lionagi
from lionagi._errors import ConfigurationError, ExecutionError, ParseError

PAGE = (ROOT / "docs/verbs/operate.md").read_text(encoding="utf-8")
TABLE = re.search(r"^\| when \|.*?\n\|[-|]+\|\n(.*?)\n\n", PAGE, re.DOTALL | re.MULTILINE)
assert TABLE is not None
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in TABLE[1].splitlines()]


class City(BaseModel):
    name: str
    country: str


OSLO = {"name": "Oslo", "country": "Norway"}
ASKS = structured(**OSLO, action_required=True, action_requests=[request("weather", city="Oslo")])
NO_CITY = structured(sea="wide", action_required=True, action_requests=[request("weather", city="Oslo")])


@dataclass
class Case:
    """How a row is made to happen, and what comes of it: a check of the value, or an error."""

    answers: list[Entry]
    outcome: Callable[[Any], bool] | type[Exception]
    call: dict[str, Any] = field(default_factory=dict[str, Any])


def is_city(value: Any) -> bool:
    return isinstance(value, City) and not cast("Any", value).action_responses


def is_text(value: Any) -> bool:
    return isinstance(value, str) and "Oslo" in value


def ran_then_refused(first: Any, second: Any) -> bool:
    return (first, second["error"]) == ("sunny in Oslo", "refused")


def failed_with(word: str) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        return isinstance(value, City) and cast("Any", value).action_responses[0].output["error"] == word

    return check


PLAIN = {"actions": False, "response_format": None, "num_parse_retries": 0}
POLICY = {"num_parse_retries": 0}
CASES = {
    "unknown `handle_validation`, unknown tool in `tools=`": [
        Case([ASKS], ConfigurationError, {"handle_validation": "unknown"}),
        Case([ASKS], ValueError, {"tools": ["unknown"]}),
    ],
    "`field_models` holds something else": [Case([ASKS], TypeError, {"field_models": ["name"]})],
    "the model call fails": [Case([], ExecutionError)],
    "the model refuses": [Case([refusal("I will not.")], lambda value: value == "I will not.")],
    "`skip_validation=True`": [Case([ASKS], is_text, {"skip_validation": True})],
    'the answer is no `City`, `handle_validation="return_value"` (the default)': [Case([NO_CITY], is_text, POLICY)],
    'the same with `"return_none"`': [
        Case([NO_CITY], lambda value: value is None, {**POLICY, "handle_validation": "return_none"})
    ],
    'the same with `"raise"`': [Case([NO_CITY], ParseError, {**POLICY, "handle_validation": "raise"})],
    "`invoke_actions=False`": [Case([structured(**OSLO)], lambda v: type(v).__name__ == "CityResponse",
                                    {"invoke_actions": False})],
    "no `actions=True`, a mapping that holds requests anyway": [
        Case([NO_CITY], lambda value: isinstance(value, dict) and "action_responses" not in value,
             {**PLAIN, "response_format": {"sea": "str", "action_requests": "list"}})
    ],
    "the answer asks for no tool": [
        Case([structured(**OSLO, action_required=False, action_requests=[])], is_city),
        Case([structured(**OSLO)], is_city),
    ],
    "the request is refused (selection, gate, hook, arguments, cap)": [
        Case([structured(**OSLO, action_requests=[request("erase", city="Oslo")])], failed_with("denied"),
             {"tools": ["weather"]})
    ],
    "requests past `max_tool_calls`": [
        Case([structured(**OSLO, action_requests=[request("weather", city="Oslo")] * 2)],
             lambda value: ran_then_refused(*(each.output for each in value.action_responses)),
             {"max_tool_calls": 1})
    ],
    "the tool fails or is too slow": [
        Case([structured(**OSLO, action_requests=[request("weather", city="Atlantis")])], failed_with("LookupError"))
    ],
    "nothing of all that": [Case([ASKS], lambda value: value.action_responses[0].output == "sunny in Oslo")],
}  # fmt: skip


def test_the_table_has_a_case_for_each_row() -> None:
    assert [row[0] for row in ROWS] == list(CASES)


@pytest.mark.filterwarnings("ignore:skip_validation=True returns:UserWarning")
@pytest.mark.parametrize(
    ("row", "case"),
    [(row, case) for row in ROWS for case in CASES.get(row[0], [])],
    ids=lambda value: value[0][:50] if isinstance(value, list) else "",
)
async def test_a_row_is_what_happens(road: Road, row: list[str], case: Case) -> None:
    ran: list[str] = []

    def weather(city: str) -> str:
        """The weather in a city."""
        ran.append(city)
        if city == "Atlantis":
            raise LookupError("no such city")
        return f"sunny in {city}"

    def erase(city: str) -> None:
        """Never offered where it is not selected."""
        ran.append(city)

    branch = road.branch(*case.answers, tools=[weather, erase])
    call = {"instruction": "The capital?", "response_format": City, "actions": True, **case.call}
    said = ""
    with lionagi.trace() as seen:
        if isinstance(case.outcome, type):
            with pytest.raises(case.outcome) as caught:
                await branch.operate(**call)
            said = str(caught.value)
        else:
            value = await branch.operate(**call)
            assert case.outcome(value), repr(value)
    _, _, runs, trace = row
    assert len(ran) == int(runs)
    asked = re.findall(r"`([^`]+)`", trace)
    assert any(words in f"{seen.outline()}\n{said}" for words in asked), seen.outline()
    if "the model was not asked" in row[1]:
        assert not road.payloads
