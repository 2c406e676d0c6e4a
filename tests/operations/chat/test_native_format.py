from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, RootModel
from support.openai_server import OpenAIServer, structured

from lionagi._errors import ConfigurationError
from lionagi.service.imodel import iModel
from lionagi.session.branch import Branch

Make = Callable[..., iModel]


class City(BaseModel):
    name: str
    people: int = 0


class Scores(BaseModel):
    scores: dict[str, int]


class Numbers(RootModel[list[int]]):
    pass


class Tree(BaseModel):
    name: str
    below: list[Tree] = []


async def ask(make: Make, server: OpenAIServer, form: Any, reply: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    server.script(structured(reply))
    result = await Branch(chat_model=make()).operate(instruction="Answer.", response_format=form, **more)
    assert isinstance(result, form)
    return result.model_dump(), server.requests[-1].payload


async def test_a_class_of_fixed_fields_goes_out_strict(server_model: Make, openai_server: OpenAIServer):
    result, payload = await ask(server_model, openai_server, City, {"name": "Oslo", "people": 7})
    wire = payload["response_format"]["json_schema"]
    assert wire["strict"] is True
    assert wire["schema"]["required"] == ["name", "people"]
    assert result == {"name": "Oslo", "people": 7}


async def test_a_class_with_a_dict_field_goes_out_natively_but_not_strict(
    server_model: Make, openai_server: OpenAIServer
):
    result, payload = await ask(server_model, openai_server, Scores, {"scores": {"a": 1}})
    wire = payload["response_format"]["json_schema"]
    assert not wire.get("strict")
    assert wire["schema"]["properties"]["scores"]["additionalProperties"] == {"type": "integer"}
    assert result == {"scores": {"a": 1}}


async def test_a_list_at_the_root_goes_into_the_prompt(server_model: Make, openai_server: OpenAIServer):
    result, payload = await ask(server_model, openai_server, Numbers, [1, 2])
    assert "response_format" not in payload
    assert "ResponseFormat" in payload["messages"][-1]["content"]
    assert result == [1, 2]


async def test_a_list_at_the_root_is_refused_where_native_is_demanded(server_model: Make, openai_server: OpenAIServer):
    with pytest.raises(ConfigurationError, match="Numbers is no JSON object"):
        await ask(server_model, openai_server, Numbers, [1], structured_output="native")
    assert not openai_server.requests


async def test_a_class_that_refers_to_itself_goes_out_natively(server_model: Make, openai_server: OpenAIServer):
    result, payload = await ask(server_model, openai_server, Tree, {"name": "a", "below": [{"name": "b"}]})
    assert payload["response_format"]["type"] == "json_schema"
    assert result["below"][0]["name"] == "b"
