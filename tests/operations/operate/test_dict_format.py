from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from lionagi.operations.operate.step import Step
from lionagi.operations.schema.json_structure import JsonStructure, structure_for
from lionagi.operations.types import ChatParam
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch

ODD: dict[str, Any] = {"the city": "str", "class": "int", "model_x": "str", "plain": 0}
ANSWER: dict[str, Any] = {"the city": "Oslo", "class": 3, "model_x": "m", "plain": 4}


def double(x: int) -> int:
    """Return twice x."""
    return 2 * x


def scripted(answer: dict[str, Any], **more: Any) -> Branch:
    return TestBranch.from_text(json.dumps(answer), **more)


async def test_a_bare_dict_format_gives_the_callers_keys():
    assert await scripted(ANSWER).operate(instruction="Go.", response_format=ODD) == ANSWER


@pytest.mark.parametrize("native", [True, False])
async def test_keys_that_are_no_field_names_come_back_beside_a_reason(native: bool):
    reason = {"title": "t", "content": "c", "confidence_score": 0.5}
    branch = scripted({"reason": reason, **ANSWER})
    mode = "auto" if native else "prompt"
    result = await branch.operate(instruction="Go.", response_format=ODD, reason=True, structured_output=mode)
    assert isinstance(result, dict)
    assert {key: result[key] for key in ODD} == ANSWER
    assert not [key for key in result if key.startswith("key_")]


async def test_keys_that_are_no_field_names_come_back_beside_actions():
    calls = [{"function": "double", "arguments": {"x": 2}}]
    branch = scripted({**ANSWER, "action_required": True, "action_requests": calls}, tools=[double])
    result = await branch.operate(instruction="Go.", response_format=ODD, actions=True)
    assert {key: result[key] for key in ODD} == ANSWER
    assert result["action_responses"][0].output == 4


async def test_a_key_that_the_model_misspelt_comes_back_as_the_caller_spelt_it():
    answer = {"the_city": "Oslo", "class": 3, "model_x": "m", "plain": 4, "action_requests": []}
    result = await scripted(answer, tools=[double]).operate(instruction="Go.", response_format=ODD, actions=True)
    assert {key: result[key] for key in ODD} == ANSWER


async def test_an_instance_from_a_middle_of_the_callers_becomes_a_mapping_with_the_callers_keys():
    async def middle(branch: Branch, instruction: Any, chat_param: ChatParam, *rest: Any, **more: Any) -> Any:
        form = chat_param.response_format
        assert isinstance(form, type)
        assert issubclass(form, BaseModel)
        return form.model_validate(ANSWER)

    result = await scripted(ANSWER).operate(instruction="Go.", response_format=ODD, reason=True, middle=middle)
    assert result == ANSWER


async def test_nested_keys_that_are_no_field_names_come_back():
    answer = {"the place": {"its name": "Oslo"}, "action_requests": []}
    branch = scripted(answer, tools=[double])
    form = {"the place": {"its name": "str"}}
    result = await branch.operate(instruction="Go.", response_format=form, actions=True)
    assert result["the place"] == {"its name": "Oslo"}


def test_the_structure_of_a_generated_class_reads_a_mapping_with_the_callers_keys():
    operative = Step.respond_operative(Step.request_operative(actions=True, dict_format=ODD))
    read = structure_for(operative.response_type).parse(json.dumps({**ANSWER, "action_requests": []}))
    data = read if isinstance(read, dict) else read.model_dump(by_alias=True)
    assert {key: data[key] for key in ODD} == ANSWER


def test_the_structure_of_a_bare_dict_reads_the_callers_keys():
    assert JsonStructure(ODD).parse(json.dumps(ANSWER)) == ANSWER
