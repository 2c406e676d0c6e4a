from __future__ import annotations

import json

import pydantic
import pytest

from lionagi.protocols.generic.element import Element
from lionagi.protocols.messages import (
    ActionRequest,
    AssistantResponse,
    Instruction,
    InstructionContent,
    Message,
    System,
)
from lionagi.protocols.messages.message import edit_count
from lionagi.protocols.messages.types import MessageRole


@pytest.mark.record("DEC-41-2")
def test_content_of_another_type_is_refused():
    with pytest.raises(TypeError, match="content must be dict or"):
        Instruction(content=5)
    with pytest.raises(ValueError, match="Invalid sender or recipient"):
        Instruction(sender=5)


def test_a_role_argument_is_ignored():
    assert Instruction(role="assistant").role is MessageRole.USER  # pyright: ignore[reportCallIssue]


def test_an_unknown_content_field_is_refused():
    with pytest.raises(pydantic.ValidationError, match="Invalid parameter: colour"):
        Instruction(content={"colour": 1})


@pytest.mark.parametrize(
    "message",
    [
        Instruction(content={"instruction": "i", "context": [1]}, sender="user"),
        AssistantResponse.from_response("a"),
        ActionRequest(content={"function": "f", "arguments": {"a": 1}}),
        System(content={"system_message": "s"}),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_is_restored_from_its_json(message: Message):
    data = json.loads(json.dumps(message.to_dict("json")))
    assert data["role"] == message.role.value
    back = Element.from_dict(data)
    assert type(back) is type(message)
    assert isinstance(back, Message)
    assert back.content == message.content
    assert (back.sender, back.recipient) == (message.sender, message.recipient)


@pytest.mark.record("DEC-31-1")
def test_the_chat_dict_is_one_object_until_the_message_is_edited():
    message = Instruction(content={"instruction": "one"})
    first = message.chat_msg
    assert message.chat_msg is first
    message.update(instruction="two")
    assert message.chat_msg == {"role": "user", "content": "Instruction: two"}
    assert first == {"role": "user", "content": "Instruction: one"}


def test_assigning_a_content_field_counts_as_an_edit():
    message = Instruction(content={"instruction": "one"})
    before, _ = edit_count(), message.rendered
    message.content.instruction = "two"
    assert message.rendered == "Instruction: two"
    assert edit_count() != before


def test_assigning_a_content_counts_as_an_edit():
    message = Instruction(content={"instruction": "one"})
    before = edit_count()
    message.content = {"instruction": "two"}
    assert isinstance(message.content, InstructionContent)
    assert edit_count() != before


def test_a_clone_has_its_own_id_and_content():
    message = Instruction(content={"instruction": "one"}, sender="ann")
    clone = message.clone()
    clone.update(instruction="two")
    assert message.content.instruction == "one"
    assert clone.sender == "ann"
    assert clone.metadata["clone_from"] == str(message.id)


def test_a_message_that_cannot_render_has_no_chat_dict():
    assert Instruction(content={"images": ["ftp://x/y"]}).chat_msg is None
