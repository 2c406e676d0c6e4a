from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from lionagi.operations.operate.step import Step
from lionagi.operations.schema import JsonStructure
from lionagi.operations.schema.native import is_strict_compatible, native_schema, provider_schema, schema_name


class Report(BaseModel):
    city: str
    people: int = 0


class Node(BaseModel):
    kids: list[Node] = []


class Free(BaseModel):
    data: dict[str, Any]


def tool(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": parameters}}


POINT = {
    "type": "object",
    "properties": {"at": {"$ref": "#/$defs/Point"}},
    "required": ["at"],
    "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}, "to": {"$ref": "#/$defs/Point"}}}},
}
ADD = tool("add", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
GO = tool("go", POINT)


def response(**options) -> type[BaseModel]:
    return Step.request_operative(base_type=Report, actions=True, **options).response_type


def variants(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return schema["properties"]["action_requests"]["items"]["anyOf"]


@pytest.mark.record("DEC-02-6")
def test_each_request_is_one_of_the_tools_with_its_own_parameters():
    found = variants(native_schema(response(), [ADD, GO], 3))
    assert [variant["properties"]["function"]["const"] for variant in found] == ["add", "go"]
    assert found[0]["properties"]["arguments"] == ADD["function"]["parameters"]
    assert all(variant["required"] == ["function", "arguments"] for variant in found)


@pytest.mark.record("DEC-02-7")
def test_requests_are_required_may_be_empty_and_are_at_most_the_calls_left():
    schema = native_schema(response(), [ADD], 3)
    requests = schema["properties"]["action_requests"]
    assert "action_requests" in schema["required"]
    assert (requests["type"], requests["minItems"], requests["maxItems"]) == ("array", 0, 3)


def test_definitions_of_a_tool_are_hoisted_under_a_name_of_their_own():
    schema = native_schema(response(), [GO], 3)
    assert variants(schema)[0]["properties"]["arguments"]["properties"]["at"] == {"$ref": "#/$defs/go__Point"}
    assert schema["$defs"]["go__Point"]["properties"]["to"] == {"$ref": "#/$defs/go__Point"}
    assert "Point" in POINT["$defs"]


def test_without_tools_no_request_is_legal():
    assert native_schema(response(), [], 3)["properties"]["action_requests"]["maxItems"] == 0


@pytest.mark.record("DEC-01-1")
def test_the_schema_never_names_the_fields_of_the_runtime():
    for strict in (False, True):
        text = json.dumps(native_schema(response(reason=True), [ADD], 3, strict=strict))
        assert "action_responses" not in text
        assert "ActionResponseModel" not in text


def test_generated_objects_are_closed():
    schema = native_schema(response(reason=True), [ADD], 3)
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Reason"]["additionalProperties"] is False
    assert variants(schema)[0]["additionalProperties"] is False


def test_the_schema_is_kept_with_the_class():
    assert native_schema(response(), [ADD], 3) is native_schema(JsonStructure(response()), [ADD], 3)
    assert native_schema(response(), [ADD], 3) is not native_schema(response(), [ADD], 2)


def test_other_tools_of_the_same_names_give_another_schema():
    other = tool("add", {"type": "object", "properties": {"b": {"type": "string"}}})
    native_schema(response(), [ADD], 3)
    assert (
        variants(native_schema(response(), [other], 3))[0]["properties"]["arguments"]
        == (other["function"]["parameters"])
    )


def test_a_field_of_the_callers_that_only_looks_like_requests_is_left_alone():
    class Mine(BaseModel):
        action_requests: list[str]

    assert native_schema(Mine, [ADD], 3)["properties"]["action_requests"]["items"] == {"type": "string"}


@pytest.mark.record("DEC-04-1")
def test_a_dict_format_becomes_a_schema_with_its_keys():
    structure = JsonStructure({"city": "the name", "people": int, "first name": "str", "at": {"x": 1}}, actions=True)
    schema = native_schema(structure, [ADD], 3)
    assert schema["required"] == ["city", "people", "first name", "at", "action_requests"]
    assert schema["properties"]["people"]["type"] == "integer"
    assert schema["properties"]["city"]["description"] == "the name"
    assert schema["$defs"]["At"]["additionalProperties"] is False


def test_a_bare_dict_has_a_schema_too():
    assert native_schema(JsonStructure({"tags": ["str"]}))["properties"]["tags"]["items"] == {"type": "string"}


def test_a_strict_schema_requires_and_closes_everything():
    schema = native_schema(response(reason=True), [ADD, GO], 3, strict=True)
    assert schema["required"] == list(schema["properties"])
    assert schema["$defs"]["go__Point"]["required"] == ["x", "to"]
    assert '"default"' not in json.dumps(schema)
    assert is_strict_compatible(schema)


@pytest.mark.parametrize("form", [Free, Node, JsonStructure({"any": None})], ids=["free keys", "root ref", "any"])
def test_what_strict_modes_refuse_is_known(form):
    assert not is_strict_compatible(native_schema(form, strict=True))


def test_a_provider_with_a_strict_mode_gets_a_strict_schema_only_where_it_takes_it():
    assert provider_schema(Report, strict_mode=True) == (native_schema(Report, strict=True), True)
    assert provider_schema(Free, strict_mode=True) == (native_schema(Free), False)
    assert provider_schema(Report) == (native_schema(Report), False)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (response(), "ReportResponse"),
        (JsonStructure(response()), "ReportRequest"),
        (JsonStructure({"a": 1}), "Answer"),
        (type("Box[int, é]", (BaseModel,), {"__module__": __name__}), "Box_int"),
    ],
)
def test_a_name_is_one_that_providers_take(form, name):
    assert schema_name(form) == name
