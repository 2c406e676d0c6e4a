from __future__ import annotations

import json
from datetime import date
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel

from lionagi._errors import ExtractionError, ParseError, SchemaRejectedError
from lionagi.ln.types import Spec
from lionagi.models import FieldModel
from lionagi.operations.operate.step import Step
from lionagi.operations.schema import JsonStructure, Structure
from lionagi.operations.schema.json_structure import structure_for

LITTLE = {"city": str, "people": "int"}


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Report(BaseModel):
    city: str
    people: int = 7
    note: str | None = None


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")
    day: date
    mood: Mood = Field(alias="theMood")
    note: str | None


class Numbers(RootModel[list[int]]):
    pass


def generated(base: type[BaseModel] | None = Report, **options: Any) -> JsonStructure:
    return structure_for(Step.request_operative(base_type=base, reason=True, actions=True, **options).response_type)


def shape_of(text: str):
    return json.loads(text.split("```json\n")[1].split("```")[0])


@pytest.mark.record("DEC-39-2")
@pytest.mark.parametrize("form", [Report, Strict, LITTLE, {"a": [int], "b": {"c": Report}}, {"m": Mood, "x": None}])
def test_the_shape_in_the_prompt_is_json_without_python_reprs(form):
    text = JsonStructure(form).render()
    assert "<class" not in text
    assert isinstance(shape_of(text), dict)


def test_the_prompt_demands_json():
    assert "MUST RETURN JSON-PARSEABLE RESPONSE" in JsonStructure(Report).render()


def test_an_empty_format_asks_for_nothing():
    assert JsonStructure._format_response_format(None) == ""
    assert JsonStructure._format_response_format({}) == ""


@pytest.mark.record("DEC-01-1")
def test_the_prompt_never_lists_the_fields_of_the_runtime():
    assert "action_responses" not in generated().render()
    assert "action_responses" not in generated(None, dict_format=LITTLE).render()
    assert "action_responses" not in JsonStructure(Report, actions=True).render()


def test_a_rejection_never_names_the_fields_of_the_runtime():
    with pytest.raises(SchemaRejectedError) as caught:
        generated().parse('{"zzz": 1}')
    assert "action_responses" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"city": "Paris", "people": 2}',
        'Here it is:\n```json\n{"city": "Paris", "people": 2}\n```\nBye.',
        'The answer is {"city": "Paris", "people": 2}, I think.',
        "{'city': 'Paris', 'people': 2,}",
        '{"citty": "Paris", "peple": 2}',
    ],
    ids=["valid", "fenced", "in prose", "repaired", "misspelt keys"],
)
def test_an_answer_is_read_in_every_form_that_models_give_it(text):
    assert JsonStructure(Report).parse(text) == Report(city="Paris", people=2)


def test_a_missing_key_keeps_the_default_of_its_field():
    assert JsonStructure(Report).parse('{"cty": "Paris"}') == Report(city="Paris", people=7)


def test_a_missing_key_without_default_is_none_where_that_is_legal():
    found = JsonStructure(Strict).parse('{"day": "2020-01-02", "theMood": "good"}')
    assert found.note is None


def test_a_strict_model_takes_what_json_can_say():
    found = JsonStructure(Strict).parse('so: {"day": "2020-01-02", "themood": "good", "note": null, "more": 1}')
    assert (found.day, found.mood) == (date(2020, 1, 2), Mood.GOOD)


def test_a_false_value_turns_key_matching_off():
    with pytest.raises(SchemaRejectedError):
        JsonStructure(Report).parse('{"cty": "Paris"}', fuzzy_match_params=False)
    assert JsonStructure(Report).parse('{"city": "Paris", "peple": 2}', fuzzy_match_params={}).people == 7


def test_key_matching_takes_a_dict_of_options():
    with pytest.raises(SchemaRejectedError, match="Unmatched keys found"):
        JsonStructure(Report).parse('{"city": "Paris", "zzz": 2}', fuzzy_match_params={"handle_unmatched": "raise"})


@pytest.mark.parametrize("text", ["hello", "", "[1, 2]", '"Paris"', "12"])
def test_a_text_without_an_object_is_an_extraction_error(text):
    with pytest.raises(ExtractionError) as caught:
        JsonStructure(Report).parse(text)
    assert caught.value.kind == "extraction"


def test_an_object_that_does_not_fit_is_rejected_with_the_reason():
    with pytest.raises(SchemaRejectedError, match="city") as caught:
        JsonStructure(Report).parse('{"city": [1]}')
    assert caught.value.validation_error is not None


def test_an_object_none_of_whose_keys_is_asked_for_is_rejected():
    class Loose(BaseModel):
        x: int = 1

    with pytest.raises(SchemaRejectedError):
        JsonStructure(Loose).parse('The configuration was {"zzz": 1}.')
    assert JsonStructure(Loose).parse("{}") == Loose()


def test_the_block_that_fits_is_taken():
    text = 'First\n```json\n{"other": 1}\n```\nthen\n```json\n{"city": "Rome"}\n```'
    assert JsonStructure(Report).parse(text).city == "Rome"


@pytest.mark.record("DEC-01-2")
@pytest.mark.parametrize("invented", ['[{"function": "f", "output": 1}]', '"done"', "[3]"])
def test_an_invented_action_response_is_dropped(invented):
    found = generated().parse(f'{{"city": "Paris", "action_responses": {invented}}}')
    assert found.action_responses is None
    assert "action_responses" not in found.model_fields_set


def test_one_request_that_is_no_list_is_read_as_a_list():
    found = generated().parse('{"city": "Paris", "action_requests": {"function": "f", "arguments": {}}}')
    assert [request.function for request in found.action_requests] == ["f"]


def test_a_model_that_is_parsed_already_comes_back():
    report = Report(city="Paris")
    assert JsonStructure(Report).parse(report) is report
    assert JsonStructure(Report).parse({"city": "Paris"}) == report


@pytest.mark.parametrize("text", ["[1, 2]", "It is\n```json\n[1, 2]\n```"])
def test_a_root_model_is_read_from_its_value(text):
    assert JsonStructure(Numbers).parse(text) == Numbers([1, 2])


def test_large_valid_json_is_read():
    text = json.dumps({"city": "x" * 2_000_000})
    assert len(JsonStructure(Report).parse(text).city) == 2_000_000


def test_deep_nesting_is_an_error_of_ours():
    with pytest.raises(ParseError):
        JsonStructure(Report).parse('{"city": ' + "[" * 100_000)


def test_dict_mode_gives_a_mapping_with_the_keys():
    assert JsonStructure(LITTLE).parse('{"citty": "Paris", "more": 1}') == {"city": "Paris", "people": None}
    assert JsonStructure(LITTLE).parse('{"more": 1}', fuzzy_match_params=False) == {"more": 1}


@pytest.mark.record("DEC-04-1")
def test_a_dict_format_with_flags_asks_for_all_keys_and_gives_a_mapping():
    structure = generated(None, dict_format={**LITTLE, "first name": "str"})
    assert {"city", "people", "first name", "reason", "action_requests"} <= shape_of(structure.render()).keys()
    found = structure.parse('{"city": "Paris", "action_requests": {"function": "f"}, "action_responses": [1]}')
    assert (found["city"], found["action_requests"]) == ("Paris", [{"function": "f"}])
    assert "action_responses" not in found


def test_the_callers_dict_is_never_changed():
    mine = {"city": "the name", "tags": ["str"]}
    generated(None, dict_format=mine).parse('{"city": "Paris"}')
    assert mine == {"city": "the name", "tags": ["str"]}


def test_a_class_has_one_structure():
    assert structure_for(Report) is structure_for(Report)


def test_a_result_class_is_not_wrapped_again():
    response = Step.request_operative(base_type=Report, actions=True).response_type
    structure = JsonStructure(response)
    assert structure.response_schema() is response
    assert structure.request_schema() is response.__bases__[0]
    assert structure.name == "Report"


def test_a_structure_with_additions_makes_its_classes():
    structure: Any = JsonStructure(Report, specs=[FieldModel(int, "age")]).with_actions().with_reason()
    assert structure.request_schema().__name__ == "ReportRequest"
    assert structure.response_schema().__name__ == "ReportResponse"
    assert {"age", "reason", "action_requests"} <= structure.request_schema().model_fields.keys()
    assert (structure._actions, structure._reason) == (True, True)


def test_with_specs_leaves_the_original_alone():
    first = JsonStructure(Report)
    second: Any = first.with_specs({"age": Spec(int)})
    assert first.request_schema() is Report
    assert "age" in second.request_schema().model_fields


def test_to_format_gives_the_form_of_the_structure():
    assert JsonStructure(Report).to_format({"city": "Paris"}) == Report(city="Paris")
    assert JsonStructure(LITTLE).to_format(Report(city="Paris"))["city"] == "Paris"


def test_a_base_that_is_no_format_is_refused():
    with pytest.raises(ValueError, match="a format is"):
        JsonStructure(5)  # pyright: ignore[reportArgumentType]


def test_a_structure_shows_its_class_and_name():
    assert repr(JsonStructure(Report, reason=True)) == "JsonStructure(Report, reason)"


def test_a_structure_of_ones_own_needs_render_and_parse():
    with pytest.raises(TypeError):
        Structure(Report)  # pyright: ignore[reportAbstractUsage]
