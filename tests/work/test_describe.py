"""A form field by field, for views."""

from __future__ import annotations

import pytest

from lionagi.work import FieldOutline, FieldSpec, Rule, RuleSet, WorkForm, fill_form


def test_a_form_is_described_field_by_field() -> None:
    form = WorkForm(
        fields={
            "due_date": FieldSpec(name="due_date", description="The last day"),
            "amount": FieldSpec(name="amount", type="int", required=False, default=3),
        }
    )
    assert form.describe() == [
        FieldOutline("due_date", "Due date", "str", True, None, "The last day", None, ""),
        FieldOutline("amount", "Amount", "int", False, 3, "", None, ""),
    ]


def test_a_description_holds_the_values_and_all_problems_of_a_field() -> None:
    form = WorkForm(fields={"a": FieldSpec(name="a", type="int"), "b": FieldSpec(name="b"), "c": FieldSpec(name="c")})
    rules = RuleSet([Rule(rule_id=name, field="a", check="required", message=name) for name in ("one", "two")])
    rules.add(Rule(rule_id="text", field="a", check="type", params={"type": "str"}, message="No text."))
    outlines = fill_form(form, {"a": [1], "b": "x", "z": 1}, ruleset=rules, undeclared="reject").describe()
    assert [(each.name, each.value) for each in outlines] == [("a", [1]), ("b", "x"), ("c", None)]
    first, second, third = (each.problem for each in outlines)
    assert "'int'" in first
    assert first.endswith(" No text.")
    assert second == ""
    assert "required" in third


@pytest.mark.parametrize(
    ("name", "label"),
    [("x", "X"), ("eMail", "EMail"), ("_private_thing", "Private thing"), ("__", "__"), ("a__b", "A  b")],
)
def test_a_label_is_the_name_in_words(name: str, label: str) -> None:
    assert WorkForm(fields={name: FieldSpec(name=name)}).describe()[0].label == label
