"""What rules say where a value or a function is hostile."""

from __future__ import annotations

import time
from typing import Any

import pytest

from lionagi.work import FieldSpec, Rule, RuleSet, WorkForm, fill_form


def applied(check: Any, value: Any, **params: Any) -> str | None:
    return Rule(rule_id="r1", field="a", check=check, params=params).apply(WorkForm(values={"a": value}))


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def unspeakable(value: Any) -> bool:
    raise Unspeakable


def talkative(value: Any) -> bool:
    raise ValueError("x" * 10_000)


@pytest.mark.record("0052-D2-26")
def test_an_exception_whose_text_raises_or_never_ends_becomes_a_short_text() -> None:
    assert "Unspeakable" in str(applied("custom", 1, callable=unspeakable))
    assert "ValueError" in str(applied("custom", 1, callable=talkative))
    assert len(str(applied("custom", 1, callable=talkative))) < 300


async def later(value: Any) -> bool:
    return False


def test_an_async_check_is_an_error_text_and_never_a_pass() -> None:
    assert "async function" in str(applied("custom", 1, callable=later))


def test_an_error_of_another_type_is_made_text() -> None:
    rules = RuleSet([Rule(rule_id="r", field="a", check="custom", params={"callable": lambda v: False, "error": 5})])
    filled = fill_form(WorkForm(), {"a": 1}, ruleset=rules)
    assert filled.validation_errors == ["5"]
    assert filled.issues[0].message == "5"


def test_F4_numbers_of_thousands_of_digits_are_texts_of_problems_in_50_ms() -> None:
    huge = 10**5000
    began = time.process_time()
    assert applied("range", 5, min=huge) is not None
    assert applied("range", huge, max=5) is not None
    assert applied("range", -huge, min=-5.5) is not None
    assert applied("range", huge, min=5) is None
    assert applied("type", huge, type="int") is None
    for kind in ("str", "float", "bool", "list", "dict"):
        filled = fill_form(WorkForm(fields={"a": FieldSpec(name="a", type=kind)}), {"a": huge})
        assert (filled.status, filled.issues[0].kind, filled.values) == ("error", "type", {"a": huge})
    assert time.process_time() - began < 0.05


READ: dict[tuple[str, str], Any] = {
    ("int", "017"): 17,
    ("int", "1_000"): 1000,
    ("int", "9" * 4300): 10**4300 - 1,
    ("float", "017"): 17.0,
    ("float", "1e3"): 1000.0,
    ("float", "0." + "1" * 100_000): 1 / 9,
}
REFUSED = [
    *(
        ("int", text)
        for text in ("9" * 4301, "9" * 1_000_000, "1e999", "1e3", ".nan", ".inf", "0o17", "0x1F", "1:30", "")
    ),
    *(("float", text) for text in (".nan", ".inf", "-.Inf", "0o17", "0x1F", "1:30", "1,5", "", "9" * 1_000_000 + "x")),
    *(("bool", text) for text in ("9" * 5000, "on", "y", " true ", "")),
    *((kind, "9" * 5000) for kind in ("list", "dict")),
]


@pytest.mark.parametrize(("kind", "text"), [*READ, *REFUSED], ids=lambda each: each[:8])
def test_F4_a_text_is_the_number_it_says_or_a_type_error_in_50_ms(kind: Any, text: str) -> None:
    spec = FieldSpec(name="a", type=kind)
    began = time.process_time()
    try:
        found = spec.coerce(text)
    except TypeError as error:
        found = error
    assert time.process_time() - began < 0.05
    if (kind, text) in READ:
        assert found == READ[kind, text]
        assert type(found).__name__ == kind
    else:
        assert isinstance(found, TypeError)
        assert len(str(found)) < 300


def test_a_range_says_which_bound_was_missed() -> None:
    assert applied("range", 1, min=5, max=9) == "Field 'a' must be at least 5, not 1."
    assert applied("range", 10, min=5, max=9) == "Field 'a' must be at most 9, not 10."


def test_a_filled_form_shares_no_container_with_its_source() -> None:
    form = WorkForm(fields={"a": FieldSpec(name="a")}, metadata={"k": 1})
    filled = fill_form(form, {"a": "x"})
    filled.fields["b"] = FieldSpec(name="b")
    filled.metadata["k"] = 2
    filled.values["a"] = "y"
    assert (form.field_names(), form.metadata, form.values) == (["a"], {"k": 1}, {})
