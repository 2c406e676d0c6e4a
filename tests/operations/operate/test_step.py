from __future__ import annotations

import inspect
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel, RootModel

from lionagi.ln.types import Spec
from lionagi.models import FieldModel
from lionagi.operations.fields import ActionRequestModel, ActionResponseModel, Reason
from lionagi.operations.operate.operative import Operative
from lionagi.operations.operate.step import Step

ACTION_FIELDS = ("action_required", "action_requests", "action_responses")


class Report(BaseModel):
    """A report on a city."""

    city: str
    people: int = 0


class Numbers(RootModel[list[int]]):
    pass


def local_model() -> type[BaseModel]:
    class Inner(BaseModel):
        x: int

    class Outer(BaseModel):
        inner: Inner
        items: list[Inner] | None = None
        when: date | None = None

    return Outer


@pytest.mark.record("0022-D2-02")
def test_request_operative_takes_the_keywords_of_the_record():
    found = inspect.signature(Step.request_operative).parameters
    assert {name: parameter.default for name, parameter in found.items() if name != "kwargs"} == {
        "name": None,
        "operative_name": None,
        "adapter": "pydantic",
        "reason": False,
        "actions": False,
        "fields": None,
        "field_models": None,
        "max_retries": 3,
        "auto_retry_parse": True,
        "base_type": None,
    }
    assert all(parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD) for parameter in found.values())
    assert isinstance(Step.request_operative(), Operative)


@pytest.mark.record("0022-D2-03")
def test_respond_operative_adds_fields_under_their_keys():
    first = Step.request_operative(base_type=Report)
    second = Step.respond_operative(first, {"mood": Spec(str), "age": Spec(int, name="years", nullable=True)})
    assert {"mood", "age"} <= second.response_type.model_fields.keys()
    assert second is not first
    assert (second.name, second.base_type) == (first.name, first.base_type)


def test_respond_operative_without_fields_returns_the_same_operative():
    operative = Step.request_operative(base_type=Report)
    assert Step.respond_operative(operative) is operative


@pytest.mark.record("0022-D2-05")
def test_actions_add_three_nullable_fields_to_the_response():
    fields = Step.request_operative(actions=True).response_type.model_fields
    assert {name: fields[name].annotation for name in ACTION_FIELDS} == {
        "action_required": bool | None,
        "action_requests": list[ActionRequestModel] | None,
        "action_responses": list[ActionResponseModel] | None,
    }
    assert all(fields[name].default is None for name in ACTION_FIELDS)


@pytest.mark.record("0022-D2-09")
def test_reason_and_named_fields_are_added_with_their_types():
    operative = Step.request_operative(reason=True, fields={"mood": Spec(str, name="mood"), "age": Spec(int)})
    fields = operative.response_type.model_fields
    assert (fields["reason"].annotation, fields["reason"].default) == (Reason | None, None)
    assert (fields["mood"].annotation, fields["age"].annotation) == (str, int)


@pytest.mark.record("0022-D2-10")
def test_the_request_leaves_out_what_only_the_runtime_knows():
    operative = Step.request_operative(actions=True)
    assert operative.request_exclude == {"action_responses"}
    assert "action_responses" not in operative.request_type.model_fields
    assert "action_responses" in Step.respond_operative(operative).response_type.model_fields


@pytest.mark.record("0022-D2-11")
@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"name": "Mine", "base_type": Report}, "Mine"),
        ({"operative_name": "Mine", "base_type": Report}, "Mine"),
        ({"base_type": Report}, "Report"),
        ({"reason": True}, "Operative"),
    ],
)
def test_classes_are_named_after_name_base_or_operative(options, name):
    operative = Step.request_operative(**options)
    assert operative.request_type.__name__ == f"{name}Request"
    assert operative.response_type.__name__ == f"{name}Response"


@pytest.mark.record("0022-D2-12", "DEC-41-1")
def test_another_adapter_is_refused():
    with pytest.raises(ValueError, match="Unsupported adapter"):
        Step.request_operative(adapter="x")  # pyright: ignore[reportArgumentType]


@pytest.mark.record("0022-D2-16")
def test_an_operative_has_three_retries_unless_told_otherwise():
    assert Step.request_operative().max_retries == 3
    assert Step.request_operative(max_retries=0).max_retries == 0


@pytest.mark.record("DEC-41-1")
def test_an_entry_that_is_no_field_is_a_type_error():
    with pytest.raises(TypeError, match="Expected FieldModel or Spec"):
        Step.request_operative(field_models=[3])  # pyright: ignore[reportArgumentType]


@pytest.mark.record("0022-D1-26")
def test_an_entry_without_a_name_adds_no_field():
    operative = Step.request_operative(field_models=[FieldModel(int, ""), Spec(int), FieldModel(int, "age")])
    assert list(operative.response_type.model_fields) == ["age"]


def test_the_response_inherits_from_the_request_and_that_from_the_base():
    operative = Step.request_operative(base_type=Report, reason=True)
    assert operative.response_type.__bases__ == (operative.request_type,)
    assert operative.request_type.__bases__ == (Report,)


def test_the_request_keeps_the_docstring_of_the_base_as_its_description():
    schema = Step.request_operative(base_type=Report, reason=True).request_type.model_json_schema()
    assert schema["description"] == "A report on a city."


@pytest.mark.parametrize("taken", ["reason", *ACTION_FIELDS])
@pytest.mark.parametrize("how", ["base", "mapping"])
def test_a_field_of_the_callers_that_a_flag_would_override_is_refused(taken, how):
    base = type("Mine", (BaseModel,), {"__annotations__": {taken: str}, "__module__": __name__})
    options: Any = {"base_type": base} if how == "base" else {"dict_format": {taken: "str"}}
    with pytest.raises(ValueError, match=taken):
        Step.request_operative(**options, reason=True, actions=True)


def test_a_field_that_no_flag_adds_may_have_any_name():
    class Mine(BaseModel):
        reason: str

    assert Step.request_operative(base_type=Mine, actions=True).response_type.model_fields["reason"].annotation is str


def test_a_field_of_the_call_takes_the_place_of_a_generated_one():
    operative = Step.request_operative(reason=True, fields={"reason": Spec(str)})
    assert operative.response_type.model_fields["reason"].annotation is str


def test_a_model_with_postponed_local_annotations_can_be_a_base():
    response: Any = Step.request_operative(base_type=local_model(), reason=True, actions=True).response_type
    result = response.model_validate({"inner": {"x": 1}, "items": [{"x": 2}], "when": "2020-01-01"})
    assert (result.inner.x, result.items[0].x, result.when) == (1, 2, date(2020, 1, 1))


def test_a_root_model_takes_no_further_fields_and_says_so():
    with pytest.raises(ValueError, match="RootModel"):
        _ = Step.request_operative(base_type=Numbers, reason=True).request_type
    bare: Any = Step.request_operative(base_type=Numbers).response_type
    assert bare([1]).root == [1]


def test_a_removed_keyword_is_refused():
    with pytest.raises(TypeError, match=r"Step.request_operative\(\) no longer accepts 'frozen'"):
        Step.request_operative(frozen=True)


def test_a_keyword_without_effect_warns():
    with pytest.warns(DeprecationWarning, match="doc"):
        Step.request_operative(doc="x")
    Step.request_operative(doc=None)


def test_an_unknown_keyword_is_a_type_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nope'"):
        Step.request_operative(nope=1)
