"""Rules: what each check accepts, what it says, and that it raises nothing."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError as SchemaError

from lionagi.work import FieldSpec, Rule, RuleSet, WorkForm, fill_form
from lionagi.work.rules import REGEX_MAX_INPUT_LENGTH

CHECKS = ("required", "type", "range", "pattern", "custom")


def applied(check: Any, value: Any, message: Any = None, **params: Any) -> str | None:
    rule = Rule(rule_id="r1", field="amount", check=check, params=params, message=message)
    return rule.apply(WorkForm(values={"amount": value}))


@pytest.mark.record("0052-D2-13")
def test_what_a_rule_needs_and_defaults_to() -> None:
    rule = Rule(rule_id="r", field="a", check="required")
    assert (rule.params, rule.message, rule.enabled) == ({}, None, True)
    for check in CHECKS:
        assert Rule(rule_id="r", field="a", check=check).check == check  # pyright: ignore[reportArgumentType]
    given: dict[str, Any] = {"rule_id": "r", "field": "a", "check": "type"}
    for missing in given:
        with pytest.raises(SchemaError, match=missing):
            Rule(**{key: value for key, value in given.items() if key != missing})
    with pytest.raises(SchemaError, match="check"):
        Rule(rule_id="r", field="a", check="length")  # pyright: ignore[reportArgumentType]


@pytest.mark.record("0052-D2-14")
@pytest.mark.parametrize("check", CHECKS)
def test_a_disabled_rule_never_fails(check: Any) -> None:
    rule = Rule(rule_id="r", field="a", check=check, enabled=False, params={"callable": lambda v: False, "min": 5})
    assert rule.apply(WorkForm(values={"a": None})) is None
    assert rule.apply(WorkForm(values={"a": object()})) is None


@pytest.mark.record("0052-D2-16")
@pytest.mark.parametrize("value", ["", 0, False, [], {}, 0.0])
def test_required_fails_for_none_only(value: Any) -> None:
    assert applied("required", value) is None
    assert "'amount'" in str(applied("required", None))
    assert "'amount'" in str(Rule(rule_id="r", field="amount", check="required").apply(WorkForm()))


@pytest.mark.record("0052-D2-17")
@pytest.mark.parametrize("check", ["type", "range", "pattern"])
def test_none_passes_all_but_required_and_custom(check: str) -> None:
    assert applied(check, None, type="zz", min=5, pattern="(") is None


SAMPLES = {"str": "x", "int": 3, "float": 0.5, "bool": True, "list": [1], "dict": {"a": 1}}
ACCEPTED = {("int", "bool"), ("float", "int"), ("float", "bool")} | {(kind, kind) for kind in SAMPLES}


@pytest.mark.record("0052-D2-18", "DEC-39-12")
@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("of", SAMPLES)
def test_the_whole_table_of_types(kind: str, of: str) -> None:
    said = applied("type", SAMPLES[of], type=kind)
    assert (said is None) is ((kind, of) in ACCEPTED)
    assert said is None or ("'amount'" in said and f"'{kind}'" in said and f"'{of}'" in said)


@pytest.mark.record("0052-D2-19")
@pytest.mark.parametrize("kind", ["zz", "", None, 3, "tuple"])
def test_an_unknown_type_is_an_error_text_of_its_own(kind: Any) -> None:
    said = applied("type", 1, message="mine", type=kind)
    assert said is not None
    assert "'r1'" in said
    assert repr(kind) in said


def test_the_type_is_text_unless_it_is_named() -> None:
    assert applied("type", "x") is None
    assert applied("type", 1) is not None


@pytest.mark.record("0052-D2-20")
@pytest.mark.parametrize("value", ["7", [], {}, b"1", 1j])
def test_a_range_takes_numbers_only(value: Any) -> None:
    said = applied("range", value, min=0)
    assert said is not None
    assert type(value).__name__ in said


@pytest.mark.record("0052-D2-21", "DEC-39-12")
@given(st.integers(-3, 3) | st.floats(-3, 3), st.none() | st.integers(-3, 3), st.none() | st.integers(-3, 3))
def test_bounds_are_inclusive_and_optional(value: float, low: int | None, high: int | None) -> None:
    params = {key: bound for key, bound in (("min", low), ("max", high)) if bound is not None}
    inside = (low is None or value >= low) and (high is None or value <= high)
    assert (applied("range", value, **params) is None) is inside
    assert applied("range", True, min=1, max=1) is None


def test_a_value_that_is_no_number_is_in_no_range() -> None:
    assert applied("range", float("nan"), min=0) is not None
    assert applied("range", float("nan"), max=0) is not None


@pytest.mark.parametrize("bound", ["5", [], object()])
def test_a_bound_that_is_no_number_is_an_error_text(bound: Any) -> None:
    assert "no numbers" in str(applied("range", 5, min=bound))


@pytest.mark.record("0052-D2-22")
@pytest.mark.parametrize("value", [7, ["x"], b"x"])
def test_a_pattern_takes_text_only(value: Any) -> None:
    assert type(value).__name__ in str(applied("pattern", value, pattern="x"))


@pytest.mark.record("0052-D2-23")
def test_a_pattern_is_found_anywhere_and_honours_flags() -> None:
    assert applied("pattern", "a B c", pattern="B") is None
    assert applied("pattern", "a b c", pattern="B") is not None
    assert applied("pattern", "a b c", pattern="B", flags=int(re.IGNORECASE)) is None
    assert applied("pattern", "a\nb", pattern="^b") is not None
    assert applied("pattern", "a\nb", pattern="^b", flags=re.M) is None
    assert applied("pattern", "anything") is None


@pytest.mark.record("0052-D2-24")
@pytest.mark.parametrize(
    "params",
    [{"pattern": "("}, {"pattern": "[z-a]"}, {"pattern": 5}, {"pattern": "x", "flags": "i"},
     {"pattern": "x", "flags": None}, {"pattern": "x", "engine": "pcre"}, {"pattern": "x", "flags": 10**30},
     {"pattern": "(" * 5000}],
)  # fmt: skip
def test_a_broken_pattern_is_an_error_text(params: dict[str, Any]) -> None:
    said = applied("pattern", "x", message="mine", **params)
    assert said is not None
    assert said != "mine"
    assert "'r1'" in said


@pytest.mark.record("0052-D6-01")
@pytest.mark.parametrize("engine", ["re", "re2"])
def test_F9_the_cap_of_4096_characters(engine: str) -> None:
    assert REGEX_MAX_INPUT_LENGTH == 4096
    assert applied("pattern", "x" * 4096, pattern="x$", engine=engine) is None
    began = time.process_time()
    said = applied("pattern", "a" * 4097, pattern="(a+)+$b", engine=engine)  # would take for ever
    assert time.process_time() - began < 0.05
    assert "4,097" in str(said)
    assert "4,096" in str(said)


def test_F9_the_linear_engine_takes_at_most_50_ms() -> None:
    began = time.process_time()
    assert applied("pattern", "a" * 4095 + "b", pattern="(a+)+$", engine="re2") is not None
    assert applied("pattern", "a" * 4096, pattern="^(a|aa)+$", engine="re2") is None
    assert time.process_time() - began < 0.05


def test_the_linear_engine_finds_and_takes_flags() -> None:
    assert applied("pattern", "a B c", pattern="b", engine="re2") is not None
    assert applied("pattern", "a B c", pattern="b", engine="re2", flags=int(re.I)) is None
    assert applied("pattern", "a\nb", pattern="^b", engine="re2", flags=int(re.M)) is None
    assert applied("pattern", "a\nb", pattern="a.b", engine="re2", flags=int(re.S)) is None
    assert "flags I, M and S" in str(applied("pattern", "x", pattern="x", engine="re2", flags=int(re.X)))
    assert "invalid pattern" in str(applied("pattern", "x", pattern="(?=x)", engine="re2"))


def test_the_linear_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    assert "google-re2" in str(applied("pattern", "x", pattern="never seen before", engine="re2"))


@pytest.mark.record("0052-D2-25")
@pytest.mark.parametrize("params", [{}, {"callable": None}, {"callable": "len"}])
def test_a_custom_check_needs_a_function(params: dict[str, Any]) -> None:
    said = applied("custom", 1, message="mine", **params)
    assert "'r1'" in str(said)
    assert "params['callable']" in str(said)


class OddTruth:
    def __bool__(self) -> bool:
        raise KeyError("neither")


@pytest.mark.record("0052-D2-26")
@pytest.mark.parametrize("check", [lambda v: 1 / 0, lambda v: OddTruth(), lambda: True])
def test_an_exception_of_a_check_becomes_text(check: Any) -> None:
    said = applied("custom", 1, message="mine", callable=check)
    assert any(name in str(said) for name in ("ZeroDivisionError", "KeyError", "TypeError"))


def test_an_interrupt_of_a_check_is_no_text() -> None:
    def stop(value: Any) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        applied("custom", 1, callable=stop)


@pytest.mark.record("0052-D2-27", "DEC-25-1")
def test_which_text_a_failed_check_gives() -> None:
    seen: list[Any] = []

    def no(value: Any) -> bool:
        seen.append(value)
        return False

    assert applied("custom", 7, message="m", callable=no, error="e") == "m"
    assert applied("custom", 7, callable=no, error="e") == "e"
    assert "'amount'" in str(applied("custom", 7, callable=no))
    assert applied("custom", 7, callable=lambda v: True, error="e") is None
    assert applied("custom", None, callable=no, error="e") == "e"
    assert seen == [7, 7, 7, None]


@pytest.mark.parametrize(
    ("check", "value", "params"),
    [("required", None, {}), ("type", 1, {"type": "str"}), ("range", 1, {"min": 5}), ("range", 9, {"max": 5}),
     ("pattern", "x", {"pattern": "y"}), ("pattern", "x" * 5000, {}), ("custom", 1, {"callable": lambda v: False})],
)  # fmt: skip
def test_the_rules_own_message_wins(check: str, value: Any, params: dict[str, Any]) -> None:
    assert applied(check, value, message="mine", **params) == "mine"


def failing(name: str) -> Rule:
    return Rule(rule_id=name, field="a", check="required", message=name)


@pytest.mark.record("0052-D2-15")
def test_every_rule_is_applied_in_order() -> None:
    rules = RuleSet([failing("b"), Rule(rule_id="ok", field="b", check="required"), failing("a")]).add(failing("c"))
    form = WorkForm(values={"b": 1})
    assert rules.apply_all(form) == ["b", "a", "c"]
    assert [(rule.rule_id, text) for rule, text in rules.failures(form)] == [("b", "b"), ("a", "a"), ("c", "c")]


@pytest.mark.record("0052-D2-28", "DEC-41-6")
def test_an_id_is_added_once() -> None:
    rules = RuleSet()
    assert rules.add(failing("a")) is rules
    with pytest.raises(ValueError, match="'a'"):
        rules.add(failing("a"))
    assert rules.remove("a") is True
    assert len(rules.add(failing("a"))) == 1


@pytest.mark.record("0052-D2-29")
def test_looking_at_a_set_and_removing() -> None:
    rules = RuleSet([failing("a"), failing("b")])
    assert (rules.remove("x"), rules.remove("a")) == (False, True)
    assert rules.get("a") is None
    assert rules.get("b") in rules.rules()
    rules.rules().clear()
    assert len(rules.rules()) == 1
    assert repr(rules) == "RuleSet(b)"


YAML = """
- {rule_id: urgency, field: urgency, check: range, params: {min: 1, max: 5}, message: 1 to 5}
- rule_id: ticket
  field: ticket
  check: pattern
  params: {pattern: "^T-[0-9]{4}$"}
  enabled: false
"""


def test_rules_from_a_file_and_back(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(YAML)
    rules = RuleSet.from_yaml(path)
    assert [rule.rule_id for rule in rules.rules()] == ["urgency", "ticket"]
    form = WorkForm(fields={"urgency": FieldSpec(name="urgency", type="int")})
    assert fill_form(form, {"urgency": "9"}, ruleset=rules).validation_errors == ["1 to 5"]
    path.write_text(rules.to_yaml())
    assert RuleSet.from_yaml(path).rules() == rules.rules()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1", "must be a list of rules"),
        ("- 5", "rule 1 is refused"),
        ("- {rule_id: r, field: a}", "rule 1 is refused: check"),
        ("- {rule_id: r, field: a, check: range, parms: {}}", "parms"),
        ("- {rule_id: r, field: a, check: custom}", "needs Python"),
        ("- &a {rule_id: r, field: a, check: required}\n- *a", "rules.yaml: .*anchors"),
        ("- {rule_id: r, field: a, check: required}\n- {rule_id: r, field: b, check: required}", "rule 2.*'r'"),
        ("[", "rules.yaml: .*line"),
    ],
)
def test_a_file_that_holds_no_rules_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"(?s){words}"):
        RuleSet.from_yaml(path)


def test_a_custom_check_is_not_written() -> None:
    with pytest.raises(ValueError, match="'c' is a custom check"):
        RuleSet([Rule(rule_id="c", field="a", check="custom")]).to_yaml()
