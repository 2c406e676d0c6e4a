"""Filling and checking keep pace with pydantic, and the short way through the rules answers as the rules do."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionagi.work import Rule, RuleSet, WorkForm

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "forms.py"


def measured(size: int, rounds: int) -> dict[str, float]:
    return runpy.run_path(str(BENCHMARK))["measure"](size, rounds)


def test_filling_and_checking_keep_pace_with_pydantic() -> None:
    found = measured(200, 30)
    assert found["fields"] == 200
    assert found["valid_ratio"] < 8, found  # the bar is 3; the rest is for a machine that does other things meanwhile


@pytest.mark.proof
def test_a_thousand_fields_and_rules_cost_at_most_three_times_pydantic() -> None:
    gc.collect()
    ratios = [measured(1000, 40)["valid_ratio"] for _ in range(3)]
    assert min(ratios) <= 3, ratios


class Loud(Rule):
    """A rule that applies itself in a way of its own."""

    def apply(self, form: WorkForm) -> str | None:
        return None if form.get(self.field) == "quiet" else f"loud {self.rule_id}"


class Text(str):
    """A text of another class."""


FIELDS = ["a", "b", "c"]
numbers = st.integers(-3, 3) | st.floats(-3, 3) | st.just(float("nan")) | st.booleans()
values: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    numbers,
    st.sampled_from(["", "v", "value", "quiet", Text("v"), "x" * 4097, [], [1], {}, {"a": 1}, object()]),
)
types = st.sampled_from(["str", "int", "float", "bool", "list", "dict", "zz", 3, None, []])
params: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries({}, optional={"min": st.none() | numbers, "max": st.none() | numbers | st.just("5")}),
    st.fixed_dictionaries({}, optional={"type": types}),
    st.fixed_dictionaries(
        {"pattern": st.sampled_from(["", "^v", "(", "x$", 5])},
        optional={"flags": st.sampled_from([0, int(re.I), "i"]), "engine": st.sampled_from(["re", "re2", "pcre"])},
    ),
    st.sampled_from([{"callable": bool}, {"callable": len}, {"callable": bool, "error": "no"}]),
)
rule_lists = st.lists(
    st.builds(
        dict,
        field=st.sampled_from(FIELDS),
        check=st.sampled_from(["required", "type", "range", "pattern", "custom"]),
        params=params,
        message=st.none() | st.just("mine"),
        enabled=st.sampled_from([True, True, True, False]),
        kind=st.sampled_from([Rule, Rule, Rule, Rule, Loud]),
    ),
    max_size=8,
)


def one_by_one(rules: RuleSet, form: WorkForm) -> list[str]:
    return [text for rule in rules.rules() if (text := rule.apply(form)) is not None]


@given(rule_lists, st.lists(st.dictionaries(st.sampled_from(FIELDS), values), min_size=1, max_size=3))
def test_a_set_answers_as_its_rules_one_by_one(rows: list[dict[str, Any]], given_values: list[dict[str, Any]]) -> None:
    rules = RuleSet(kind(rule_id=f"r{n}", **row) for n, row in enumerate(rows) if (kind := row.pop("kind")))
    for each in given_values:
        form = WorkForm(values=each)
        assert rules.apply_all(form) == one_by_one(rules, form)


def passing_set() -> RuleSet:
    return RuleSet(
        [
            Rule(rule_id="type", field="a", check="type", params={"type": "int"}),
            Rule(rule_id="range", field="a", check="range", params={"min": 0, "max": 9}),
            Rule(rule_id="pattern", field="b", check="pattern", params={"pattern": "^v"}),
            Rule(rule_id="custom", field="a", check="custom", params={"callable": bool}),
            Rule(rule_id="required", field="c", check="required"),
        ]
    )


GOOD = WorkForm(values={"a": 5, "b": "value", "c": 1})


@pytest.mark.parametrize(
    ("rule_id", "attribute", "value"),
    [
        ("type", "params", {"type": "str"}),
        ("range", "params", {"min": 6}),
        ("pattern", "params", {"pattern": "^w"}),
        ("custom", "params", {"callable": lambda value: False}),
        ("required", "field", "d"),
        ("range", "check", "pattern"),
    ],
)
def test_a_change_of_a_rule_is_seen(rule_id: str, attribute: str, value: Any) -> None:
    rules = passing_set()
    assert rules.apply_all(GOOD) == []
    rule: Any = rules.get(rule_id)
    setattr(rule, attribute, value)
    assert len(rules.apply_all(GOOD)) == 1
    rule.enabled = False
    assert rules.apply_all(GOOD) == []


@pytest.mark.parametrize(
    ("rule_id", "key", "value"),
    [
        ("type", "type", "str"),
        ("range", "max", 4),
        ("pattern", "pattern", "^w"),
        ("custom", "callable", lambda v: False),
    ],
)
def test_a_change_inside_the_params_of_a_rule_is_seen(rule_id: str, key: str, value: Any) -> None:
    rules = passing_set()
    assert rules.apply_all(GOOD) == []
    rule: Any = rules.get(rule_id)
    rule.params[key] = value
    assert len(rules.apply_all(GOOD)) == 1


def test_rules_that_come_and_go_are_seen() -> None:
    rules = passing_set()
    assert rules.apply_all(GOOD) == []
    rules.add(Rule(rule_id="late", field="zz", check="required", message="late"))
    assert rules.apply_all(GOOD) == ["late"]
    rules.remove("late")
    assert rules.apply_all(GOOD) == []


@pytest.mark.parametrize("way", [copy.deepcopy, lambda rules: pickle.loads(pickle.dumps(rules))])
def test_a_deep_copy_of_a_set_has_rules_of_its_own(way: Any) -> None:
    rules = passing_set()
    assert rules.apply_all(GOOD) == []
    other = way(rules)
    assert other.rules() == rules.rules()
    assert other.apply_all(GOOD) == []
    other.get("range").params["max"] = 4
    assert len(other.apply_all(GOOD)) == 1
    assert rules.apply_all(GOOD) == []


def test_each_custom_check_runs_once_whether_or_not_another_rule_fails() -> None:
    seen: list[Any] = []

    def note(value: Any) -> bool:
        seen.append(value)
        return True

    rules = passing_set().add(Rule(rule_id="note", field="a", check="custom", params={"callable": note}))
    rules.apply_all(GOOD)
    rules.apply_all(WorkForm(values={"a": 50}))
    assert seen == [5, 50]


VALUES: list[Any] = [
    None,
    0,
    3,
    -3,
    0.5,
    float("nan"),
    True,
    "",
    "v",
    Text("v"),
    "x" * 4096,
    "x" * 4097,
    [],
    [1],
    {},
    {"a": 1},
]
SINGLES: list[tuple[str, dict[str, Any]]] = [
    ("required", {}),
    *(("type", {"type": kind}) for kind in ("str", "int", "float", "bool", "list", "dict", "zz", 3, None)),
    ("type", {}),
    *(("range", dict(zip(("min", "max"), pair, strict=True))) for pair in ((0, 3), (0.5, 0.5), (None, 1), (True, "5"))),
    ("range", {"min": float("nan")}),
    ("range", {"max": float("nan")}),
    ("range", {}),
    *(("pattern", {"pattern": pattern}) for pattern in ("", "^v", "x$", "(", 5)),
    ("pattern", {"pattern": "V", "flags": int(re.I)}),
    ("pattern", {"pattern": "^v", "engine": "re2"}),
    ("pattern", {"pattern": "v", "engine": "pcre"}),
]


@pytest.mark.parametrize(("check", "params"), SINGLES, ids=str)
def test_a_set_answers_as_each_rule_alone_for_each_value(check: Any, params: dict[str, Any]) -> None:
    rules = RuleSet([Rule(rule_id="r", field="a", check=check, params=params)])
    for value in VALUES:
        form = WorkForm(values={"a": value})
        assert rules.apply_all(form) == one_by_one(rules, form)
