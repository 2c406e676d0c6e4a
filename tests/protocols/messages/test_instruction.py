from __future__ import annotations

import json
import re
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from lionagi.ln.yamls import dump_yaml, load_yaml
from lionagi.protocols.messages.formats import json_shape, request_json_schema, schema_shape
from lionagi.protocols.messages.instruction import Instruction, InstructionContent


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    x: int


class Answer(BaseModel):
    title: str
    colour: Colour | None = None
    kind: Literal["a", "b"]
    inner: Inner
    parts: list[Inner] = []
    action_responses: list[Inner] | None = None


def test_the_sections_come_in_their_order():
    content = InstructionContent(
        instruction="do\nit",
        guidance="g",
        context={"k": 1},
        tool_schemas={"tools": [{"name": "f"}]},
        response_format=Answer,
    )
    data = load_yaml(content.rendered)
    assert list(data) == ["Guidance", "Instruction", "Context", "Tools", "ResponseSchema", "ResponseFormat"]
    assert data["Context"] == [{"k": 1}]
    assert data["Tools"] == [{"name": "f"}]


def test_empty_fields_are_left_out():
    assert InstructionContent(instruction="x", guidance="", context=[]).rendered == "Instruction: x"


def test_plain_content_is_sent_as_it_is():
    assert InstructionContent(instruction="x", plain_content=" as: it is\n").rendered == " as: it is\n"


ASCII = st.text(st.sampled_from("ab:#-? \n\t'\"|>&*![]{},%@`~.=yn0"), max_size=12)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
WORDS = st.sampled_from(
    ["yes", "No", "null", "~", "on", "y", "true", "1", "a: b", "a #b", "a#b", "a:", "x\n\ny", "e1", "=", "<<"]
)


@given(st.one_of(ASCII, ANY, WORDS))
def test_the_short_way_of_writing_yaml_equals_the_librarys(text: str):
    rendered = InstructionContent(instruction=text).rendered
    assert rendered == (dump_yaml({"Instruction": text}).strip() if text else "")


def format_block(content: InstructionContent) -> Any:
    found = re.search(r"```json\n(.*?)```", load_yaml(content.rendered)["ResponseFormat"], re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.record("DEC-39-2")
@pytest.mark.parametrize("response_format", [Answer, {"name": str, "n": {"deep": [int]}}], ids=["class", "mapping"])
def test_the_format_block_is_json_without_python_reprs(response_format: Any):
    content = InstructionContent(instruction="x", response_format=response_format)
    assert format_block(content)
    assert "<class" not in content.rendered
    assert "MUST RETURN JSON-PARSEABLE RESPONSE" in content.rendered


@pytest.mark.record("DEC-01-1")
def test_the_runtime_field_is_not_shown():
    assert "action_responses" not in InstructionContent(response_format=Answer).rendered
    assert "action_responses" not in json.dumps(request_json_schema(Answer))


def test_definitions_of_hidden_fields_alone_are_dropped():
    class Only(BaseModel):
        title: str
        action_responses: list[Inner] = []

    assert "$defs" not in request_json_schema(Only)


def test_the_shape_names_types_in_words():
    assert schema_shape(request_json_schema(Answer)) == {
        "title": "string",
        "colour": "red | blue | null",
        "kind": "a | b",
        "inner": {"x": "integer"},
        "parts": [{"x": "integer"}],
    }
    assert json_shape({"a": bool, "b": Inner}) == {"a": "boolean", "b": {"x": "integer"}}


def test_a_recursive_model_has_a_finite_shape():
    class Tree(BaseModel):
        children: list[Tree] = []

    Tree.model_rebuild(_types_namespace={"Tree": Tree})
    assert json.dumps(schema_shape(Tree.model_json_schema()))


def test_schema_and_tools_can_be_left_to_the_payload():
    content = InstructionContent(instruction="x", response_format=Answer, tool_schemas=[{"name": "f"}])
    bare = content.with_updates(_render_schema=False, _render_tools=False)
    assert bare.rendered == "Instruction: x"
    assert "Tools" in content.rendered


def test_a_structure_renders_the_format():
    class Shape:
        def render(self) -> str:
            return "say it so"

        def request_schema(self) -> Any:
            return Inner

    data = load_yaml(InstructionContent(instruction="x", structure=Shape(), response_format=Answer).rendered)
    assert data["ResponseFormat"] == "say it so"
    assert list(data["ResponseSchema"]["properties"]) == ["x"]


def test_context_is_extended_or_replaced():
    message = Instruction(content={"context": 1})
    message.update(context=[2])
    assert message.content.prompt_context == [1, 2]
    message.update(context=3, handle_context="replace")
    assert message.content.prompt_context == [3]
    with pytest.raises(ValueError, match="handle_context"):
        message.update(context=3, handle_context="merge")


def test_a_callers_list_is_never_changed():
    context: list[Any] = [1]
    message = Instruction(content={"context": context})
    message.update(context=2)
    assert context == [1]


def test_an_impossible_format_is_ignored():
    assert InstructionContent(response_format=5).response_format is None


def test_models_and_odd_objects_in_the_context_render():
    rendered = InstructionContent(context=[Inner(x=1), object]).rendered
    assert load_yaml(rendered)["Context"][0] == {"x": 1}


def test_images_make_parts():
    content = InstructionContent(instruction="x", images="https://example.org/a.png", image_detail="low")
    assert content.rendered == [
        {"type": "text", "text": "Instruction: x"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
    ]


def test_H3_lone_surrogates_are_replaced_when_rendered():
    assert InstructionContent(instruction="a\ud800b", context=["\udfff"]).rendered.encode()
