from __future__ import annotations

import pickle
from datetime import date, datetime
from typing import Any

import pytest

from lionagi.ln.types import Meta, Spec, Undefined, Unset


def upper(value: str) -> str:
    return value.upper()


def test_a_spec_knows_its_facts():
    spec = Spec(int, name="age", description="in years", ge=0)
    assert (spec.name, spec.base_type, spec["ge"]) == ("age", int, 0)
    assert spec.get("le") is Unset
    assert "ge" in spec


def test_a_missing_fact_is_a_key_error():
    with pytest.raises(KeyError):
        Spec(int)["missing"]


def test_the_annotation_wraps_the_list_and_then_none():
    assert Spec(int).annotation is int
    assert Spec(int, listable=True, nullable=True).annotation == list[int] | None
    assert Spec().annotation is Any


def test_a_key_given_twice_is_refused():
    with pytest.raises(ValueError, match="Duplicate"):
        Spec(int, Meta("name", "a"), name="b")


def test_two_kinds_of_default_are_refused():
    with pytest.raises(ValueError, match="default_factory"):
        Spec(int, default=1, default_factory=int)
    with pytest.raises(ValueError, match="default_factory"):
        Spec(int, default=1).with_default(int)


@pytest.mark.record("DEC-41-4")
@pytest.mark.parametrize("validator", [5, [upper, 5]])
def test_a_validator_that_cannot_be_called_is_refused(validator):
    with pytest.raises(ValueError, match="Validators must be"):
        Spec(int, validator=validator)


def test_a_callable_default_becomes_the_factory():
    spec = Spec(list).with_default(list)
    assert spec.has_default_factory
    assert spec.default is list
    assert Spec(int).default is Undefined


def test_builders_leave_the_original_alone():
    spec = Spec(int, name="a")
    assert spec.as_nullable().is_nullable
    assert spec.as_listable().is_listable
    assert spec.with_validator(upper)["validator"] is upper
    assert not spec.is_nullable
    assert not spec.is_listable


def test_a_spec_cannot_be_changed():
    with pytest.raises(AttributeError):
        Spec(int).base_type = str


def test_a_sentinel_removes_a_fact():
    assert Spec(int, name="a", ge=1).with_updates(ge=Unset) == Spec(int, name="a")


def test_equal_facts_make_equal_specs():
    assert Spec(int, name="a", default=1) == Spec(int, name="a", default=1)
    assert hash(Spec(list[int], name="a")) == hash(Spec(list[int], name="a"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Spec(int, default=1), Spec(int, default=True)),
        (Spec(int, default=1), Spec(int, default=1.0)),
        (Spec(date | datetime), Spec(datetime | date)),
        (Spec(list, default=[1]), Spec(list, default=[1])),
    ],
    ids=["bool is not int", "float is not int", "order of a union", "unhashable defaults"],
)
def test_specs_that_pydantic_would_treat_differently_are_not_equal(first, second):
    assert first != second


def test_an_unhashable_default_can_still_be_hashed():
    default = [1]
    assert hash(Spec(list, default=default)) == hash(Spec(list, default=default))


def test_a_spec_survives_pickling():
    spec = Spec(list[int] | None, name="a", validator=upper)
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_annotated_carries_the_metadata():
    assert Spec(int, name="a").annotated().__metadata__ == (Meta("name", "a"),)
