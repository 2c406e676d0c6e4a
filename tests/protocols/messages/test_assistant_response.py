from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from lionagi.protocols.messages.assistant_response import AssistantResponse
from lionagi.protocols.messages.types import MessageRole


class Reply(BaseModel):
    content: str = "from a model"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("text", "text"),
        ({"choices": [{"message": {"content": "chat"}}]}, "chat"),
        ({"choices": [{"delta": {"content": "de"}}, {"delta": {"content": None}}]}, "de"),
        ({"choices": [{"message": {"content": None}}]}, ""),
        ({"choices": [{"message": None}]}, ""),
        ({"choices": None}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "tool_use"}, "b"]}, "ab"),
        ({"content": "plain"}, "plain"),
        ({"output": [{"type": "message", "content": [{"type": "output_text", "text": "o"}]}, {"type": "r"}]}, "o"),
        ({"result": "r"}, "r"),
        ({}, ""),
        ([{"content": "x"}, "y"], "xy"),
        (Reply(content="from a model"), "from a model"),
    ],
)
def test_the_text_is_found_in_every_answers_form(raw: Any, text: str):
    assert AssistantResponse.from_response(raw).response == text


def chat(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": list(calls)}}]}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        (None, {}),
        ("[1]", "[1]"),
        ("{broken", "{broken"),
        ("null", "null"),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_native_tool_calls_keep_what_is_no_json_object_as_it_came(written: Any, read: Any):
    message = AssistantResponse.from_response(chat({"id": "c", "function": {"name": "f", "arguments": written}}))
    assert message.response == ""
    assert message.tool_calls == [{"function": "f", "arguments": read, "id": "c"}]


def test_missing_arguments_are_none_given():
    assert AssistantResponse.from_response(chat({"function": {"name": "f"}})).tool_calls[0]["arguments"] == {}


def test_tool_use_blocks_are_tool_calls():
    raw = {"content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}]}
    assert AssistantResponse.from_response(raw).tool_calls == [{"function": "f", "arguments": {"a": 1}, "id": "1"}]


def test_the_raw_answer_is_kept_without_its_list():
    raw = {"content": "x"}
    message = AssistantResponse.from_response([raw], sender="model")
    assert message.model_response is raw
    assert (message.sender, message.recipient) == ("model", MessageRole.USER)


def test_H3_lone_surrogates_are_replaced_on_arrival():
    raw = chat({"id": "1", "function": {"name": "f", "arguments": '{"a": "\\ud800"}'}})
    raw["choices"][0]["message"]["content"] = "x\ud800y 🙂 \ud83d\ude42"
    message = AssistantResponse.from_response(raw)
    assert message.response == "x�y 🙂 🙂"
    assert message.to_json()
    assert str(message.tool_calls).encode()
