from __future__ import annotations

import pickle
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from lionagi.ln.types import Enum, Operable, Spec, Unset


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Base(BaseModel):
    a: int


def shout(value: str) -> str:
    return value.upper()


@pytest.mark.record("DEC-41-4")
def test_a_member_that_is_no_spec_is_refused_with_its_index():
    with pytest.raises(TypeError, match="All specs must be Spec objects; item 1"):
        Operable((Spec(int), 5))  # pyright: ignore[reportArgumentType]


def test_two_members_of_one_name_are_refused():
    with pytest.raises(ValueError, match="Duplicate"):
        Operable((Spec(int, name="a"), Spec(str, name="a")))


@pytest.mark.record("DEC-41-4")
def test_an_unknown_field_is_not_allowed():
    operable = Operable((Spec(int, name="a"),))
    with pytest.raises(ValueError, match="not allowed"):
        operable.check_allowed("x")
    assert operable.check_allowed("x", as_boolean=True) is False
    assert operable.check_allowed("a") is True


def test_get_returns_the_spec_or_the_default():
    spec = Spec(int, name="a")
    assert Operable((spec,)).get("a") is spec
    assert Operable((spec,)).get("b") is Unset


def test_get_specs_selects_by_name_and_keeps_the_order():
    a, b, c = (Spec(int, name=name) for name in "abc")
    operable = Operable((a, b, c))
    assert operable.get_specs(include={"c", "a"}) == (a, c)
    assert operable.get_specs(exclude={"b"}) == (a, c)
    with pytest.raises(ValueError, match="not both"):
        operable.get_specs(include={"a"}, exclude={"b"})


def test_an_operable_cannot_be_changed():
    with pytest.raises(AttributeError):
        Operable().name = "x"


def test_equal_operables_hash_alike_and_survive_pickling():
    first, second = (Operable((Spec(int, name="a"),), name="X") for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert pickle.loads(pickle.dumps(first)) == first


def test_the_model_has_one_field_per_named_spec():
    specs = (Spec(int, name="a", ge=0), Spec(str, name="b", nullable=True), Spec(int), Spec(int, name="c", default=3))
    model = Operable(specs).create_model(model_name="M")
    assert list(model.model_fields) == ["a", "b", "c"]
    assert model(a=1).model_dump() == {"a": 1, "b": None, "c": 3}
    with pytest.raises(ValidationError):
        model(a=-1)


def test_the_model_inherits_from_the_base():
    model = Operable((Spec(int, name="b"),), name="Named").create_model(base_type=Base, doc="Two numbers.")
    assert issubclass(model, Base)
    assert (model.__name__, model.__doc__, model.__module__) == ("Named", "Two numbers.", __name__)


@pytest.mark.parametrize(
    "validator",
    [shout, lambda value: value.upper(), lambda cls, value: value.upper(), [str.strip, shout], str.upper],
    ids=["function", "lambda", "with cls", "several", "method"],
)
def test_the_validators_of_a_spec_run(validator):
    model: Any = Operable((Spec(str, name="a", validator=validator),)).create_model()
    assert model(a="x").a == "X"


def test_a_before_validator_sees_the_raw_value():
    spec = Spec(int, name="a", validator=lambda value: 7, validator_mode="before")
    model: Any = Operable((spec,)).create_model()
    assert model(a="no number").a == 7


def test_another_adapter_is_refused():
    with pytest.raises(ValueError, match="Unsupported adapter"):
        Operable().create_model("x")  # pyright: ignore[reportArgumentType]


def test_an_enum_lists_its_values():
    assert Color.allowed() == ("red", "blue")
