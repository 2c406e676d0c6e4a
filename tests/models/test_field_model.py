from __future__ import annotations

import pickle

import pytest

from lionagi.ln.types import Spec
from lionagi.models import FieldModel


def test_name_and_field_are_two_words_for_one_thing():
    assert FieldModel(int, field="age").name == FieldModel(int, "age").name == "age"
    assert FieldModel(int).name == "field"
    with pytest.raises(ValueError, match="give one"):
        FieldModel(int, "a", field="b")


def test_annotation_is_another_word_for_the_type():
    assert FieldModel(annotation=int).base_type is int


def test_to_spec_gives_the_same_spec_at_every_call():
    template = FieldModel(int, "age", nullable=True, description="in years", ge=0)
    assert template.to_spec() is template.to_spec()
    assert template.to_spec() == Spec(int, name="age", ge=0, nullable=True, description="in years")


def test_a_callable_default_makes_the_default():
    assert FieldModel(list, "a", default=list).create_field().default_factory is list


def test_the_pydantic_field_holds_type_default_and_description():
    info = FieldModel(int, "age", nullable=True, description="in years").create_field()
    assert (info.annotation, info.default, info.description) == (int | None, None, "in years")


def test_builders_leave_the_original_alone():
    template = FieldModel(int, "age")
    assert template.as_listable().annotation == list[int]
    assert template.as_nullable().is_nullable
    assert template.with_description("years").to_spec()["description"] == "years"
    assert template.with_default(3).to_spec().default == 3
    assert template.annotation is int


def test_a_template_cannot_be_changed():
    with pytest.raises(AttributeError):
        FieldModel(int).name = "b"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_validator_that_cannot_be_called_is_refused():
    with pytest.raises(ValueError, match="Validators must be"):
        FieldModel(int, validator=5)  # pyright: ignore[reportArgumentType]


def test_equal_templates_hash_alike_and_survive_pickling():
    template = FieldModel(int, "age", ge=0)
    assert template == FieldModel(int, "age", ge=0)
    assert hash(template) == hash(FieldModel(int, "age", ge=0))
    assert pickle.loads(pickle.dumps(template)) == template


def test_the_validator_comes_as_pydantic_decorators():
    assert FieldModel(int).field_validator is None
    assert len(FieldModel(int, validator=[abs, abs]).field_validator or ()) == 2
