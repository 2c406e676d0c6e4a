from __future__ import annotations

import importlib
from typing import Any

import pytest
from pydantic import ValidationError

from lionagi.ln.types import Operable
from lionagi.operations import fields
from lionagi.operations.fields import (
    ActionRequestModel,
    ActionResponseModel,
    Instruct,
    Reason,
    get_default_field,
)


def model_of(*kinds: Any, **options: bool) -> Any:
    return Operable(get_default_field(kind, **options).to_spec() for kind in kinds).create_model()


def test_the_module_exports_exactly_its_eleven_names():
    assert set(fields.__all__) == {
        "ACTION_REQUESTS_FIELD",
        "ACTION_REQUIRED_FIELD",
        "ACTION_RESPONSES_FIELD",
        "INSTRUCT_FIELD",
        "LIST_INSTRUCT_FIELD_MODEL",
        "REASON_FIELD",
        "ActionRequestModel",
        "ActionResponseModel",
        "Instruct",
        "Reason",
        "get_default_field",
    }


def test_a_constant_is_one_object():
    again = importlib.import_module("lionagi.operations.fields")
    assert again.REASON_FIELD is fields.REASON_FIELD


def test_an_unknown_constant_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'lionagi.operations.fields' has no attribute 'NOPE'"):
        _ = fields.NOPE


@pytest.mark.parametrize(
    ("constant", "name", "listable"),
    [
        ("ACTION_REQUESTS_FIELD", "action_requests", True),
        ("ACTION_RESPONSES_FIELD", "action_responses", True),
        ("ACTION_REQUIRED_FIELD", "action_required", False),
        ("INSTRUCT_FIELD", "instruct_model", False),
        ("LIST_INSTRUCT_FIELD_MODEL", "instruct_models", True),
        ("REASON_FIELD", "reason", False),
    ],
)
def test_the_constants_have_their_names(constant, name, listable):
    template = getattr(fields, constant)
    assert (template.name, template.is_listable) == (name, listable)


@pytest.mark.record("0022-D2-04")
def test_the_action_models_have_the_defaults_of_the_record():
    request, response = ActionRequestModel(), ActionResponseModel()
    assert (request.function, request.arguments) == (None, None)
    assert (response.function, response.arguments, response.output) == ("", {}, None)
    assert response.arguments is not ActionResponseModel().arguments


@pytest.mark.record("DEC-39-1")
def test_a_listable_kind_stays_listable():
    assert get_default_field("action_requests", listable=True).is_listable
    assert not get_default_field("action_requests", listable=False).is_listable


@pytest.mark.record("DEC-41-1")
def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="Unknown default field kind"):
        get_default_field("x")  # pyright: ignore[reportArgumentType]


def test_a_nullable_list_keeps_null():
    assert model_of("action_requests")(action_requests=None).action_requests is None


def test_a_list_that_is_not_nullable_reads_null_as_empty():
    model = model_of("action_requests", nullable=False)
    assert model(action_requests=None).action_requests == []
    assert model().action_requests == []


def test_a_single_request_is_a_list_of_one():
    found = model_of("action_requests")(action_requests={"function": "f", "arguments": {}})
    assert found.action_requests == [ActionRequestModel(function="f", arguments={})]


def test_identical_requests_are_all_kept():
    call = {"function": "f", "arguments": {"a": 1}}
    assert len(model_of("action_requests")(action_requests=[call, [call, None]]).action_requests) == 2


@pytest.mark.parametrize(("given", "read"), [("yes", True), (False, False), ("perhaps", False), (None, None)])
def test_action_required_is_read_leniently(given, read):
    assert model_of("action_required")(action_required=given).action_required is read


@pytest.mark.parametrize("arguments", ["{", "[1]", 3, [1]])
def test_broken_arguments_are_never_read_as_no_arguments(arguments):
    assert ActionRequestModel(function="f", arguments=arguments).arguments is None


def test_arguments_may_be_json_text_or_a_model():
    assert ActionRequestModel(function="f", arguments='{"a": 1}').arguments == {"a": 1}  # pyright: ignore[reportArgumentType]
    assert ActionRequestModel(function="f", arguments=Reason(title="t")).arguments["title"] == "t"  # pyright: ignore[reportArgumentType, reportOptionalSubscript]


@pytest.mark.parametrize("function", ["", "  ", 5])
def test_a_function_without_a_name_is_none(function):
    assert ActionRequestModel(function=function).function is None


@pytest.mark.parametrize(
    "given",
    [
        {"name": "f", "args": {"a": 1}},
        {"recipient_name": "f", "parameters": {"a": 1}},
        {"function": {"name": "f", "arguments": {"a": 1}}, "id": "1"},
        {"function": {"name": "f"}, "arguments": {"a": 1}},
    ],
)
def test_other_spellings_of_a_request_are_understood(given):
    assert ActionRequestModel.model_validate(given) == ActionRequestModel(function="f", arguments={"a": 1})


@pytest.mark.parametrize(
    "content",
    [
        '{"function": "f", "arguments": {"a": 1}}',
        'I call:\n```json\n{"name": "f", "args": {"a": 1}}\n```',
        {"function": "f", "arguments": {"a": 1}},
        ActionRequestModel(function="f", arguments={"a": 1}),
    ],
    ids=["json", "fenced", "mapping", "model"],
)
def test_create_finds_the_requests_in_content(content):
    assert ActionRequestModel.create(content) == [ActionRequestModel(function="f", arguments={"a": 1})]


@pytest.mark.parametrize("content", ["no json", {"function": "f"}, None, 5, '{"a": 1}'])
def test_create_gives_an_empty_list_where_there_is_no_request(content):
    assert ActionRequestModel.create(content) == []


@pytest.mark.parametrize(
    ("given", "read"), [(0.12349, 0.123), (1, 1), ("0.5", 0.5), (1.2, -1), ("high", -1), (None, None)]
)
def test_a_confidence_score_is_rounded_or_minus_one(given, read):
    assert Reason(confidence_score=given).confidence_score == read


def test_an_instruct_leaves_the_strategy_open():
    assert Instruct().action_strategy is None


@pytest.mark.parametrize("strategy", ["batch", "parallel"])
def test_an_unknown_strategy_is_refused(strategy):
    with pytest.raises(ValidationError):
        Instruct(action_strategy=strategy)


@pytest.mark.parametrize(("given", "read"), [("yes", True), ("No", False), (1, True), ("perhaps", None), ([], None)])
def test_the_switches_of_an_instruct_are_read_leniently(given, read):
    assert Instruct(reason=given).reason is read


@pytest.mark.parametrize("instruction", ["text", {"a": 1}, [1, "b"]])
def test_an_instruction_may_be_any_json_value(instruction):
    assert Instruct(instruction=instruction).instruction == instruction


def test_handle_overrides_without_changing_the_callers_instruct():
    mine = Instruct(instruction="a", context=[1])
    made = Instruct.handle(mine, instruction="b", context=[])
    assert (made.instruction, made.context) == ("b", [1])
    assert mine.instruction == "a"
    assert Instruct.handle(mine) is mine
    assert Instruct.handle({"instruction": "a"}, guidance="g").guidance == "g"
