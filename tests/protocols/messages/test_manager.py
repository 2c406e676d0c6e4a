from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from lionagi.protocols.generic.pile import Pile
from lionagi.protocols.messages import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Instruction,
    Message,
    MessageManager,
    System,
)


def filled() -> MessageManager:
    manager = MessageManager(system=System(content={"system_message": "S"}))
    manager.add_message(instruction="ask")
    manager.add_message(assistant_response="answer")
    request = manager.add_message(function="f", arguments={"a": 1})
    manager.add_message(action_request=request, action_output=0)
    return manager


def test_each_kind_of_message_is_added_in_order():
    kinds = [type(message) for message in filled().messages]
    assert kinds == [System, Instruction, AssistantResponse, ActionRequest, ActionResponse]


@pytest.mark.record("DEC-41-2")
def test_one_call_adds_one_message():
    with pytest.raises(ValueError, match="Only one message type can be added at a time"):
        MessageManager().add_message(instruction="a", system="b")


@pytest.mark.record("DEC-41-2")
def test_a_system_of_another_type_is_refused():
    with pytest.raises(ValueError, match="System message must be a System instance"):
        MessageManager(system="S")  # pyright: ignore[reportArgumentType]


def test_a_new_system_replaces_the_old_at_the_head():
    manager = filled()
    manager.add_message(system="T")
    assert manager.messages[0] is manager.system
    assert [message.rendered for message in manager.messages if isinstance(message, System)] == ["T"]


def test_clearing_keeps_the_system_message():
    manager = filled()
    manager.clear_messages()
    assert manager.messages.values() == [manager.system]


def test_the_views_show_the_messages_themselves():
    manager = filled()
    assert manager.last_instruction is manager.messages[1]
    assert manager.last_response is manager.messages[2]
    assert manager.action_requests[0] is manager.messages[3]
    assert manager.action_responses[0] is manager.messages[4]
    assert len(manager.actions) == 2
    assert len(manager.instructions) == len(manager.assistant_responses) == 1
    assert MessageManager().last_response is None


def test_adding_a_message_again_updates_it_in_place():
    manager = MessageManager()
    first = manager.add_message(instruction="a")
    again = manager.add_message(instruction=first, guidance="g")
    assert again is first
    assert len(manager) == 1
    assert first.content.guidance == "g"


def test_metadata_is_kept_as_extra():
    assert MessageManager().add_message(instruction="a", metadata={"k": 1}).metadata["extra"] == {"k": 1}


@pytest.mark.record("DEC-31-1")
def test_chat_messages_are_the_same_objects_every_time():
    manager = filled()
    first, second = manager.to_chat_msgs(), manager.to_chat_msgs()
    assert all(a is b for a, b in zip(first, second, strict=True))
    assert manager.to_chat_msgs([]) == []


@pytest.mark.record("DEC-41-2")
def test_an_order_with_unknown_ids_is_refused():
    with pytest.raises(ValueError, match="One or more messages"):
        filled().to_chat_msgs([uuid4()])


@pytest.mark.record("DEC-41-2")
def test_an_asynchronous_hook_is_refused_before_anything_is_added():
    async def hook(message: Message) -> None: ...

    manager = MessageManager(on_message_added=hook)
    with pytest.raises(RuntimeError, match="Async on_message_added callback"):
        manager.add_message(instruction="a")
    assert not manager


async def test_every_hook_hears_of_the_message_whatever_the_others_do():
    heard: list[Any] = []

    def failing(message: Message) -> None:
        raise ValueError("no")

    async def listening(message: Message) -> None:
        await asyncio.sleep(0)
        heard.append(message)

    manager = MessageManager(on_message_added=[failing, listening])
    with pytest.raises(ValueError, match="no"):
        await manager.a_add_message(instruction="a")
    assert heard == manager.messages.values()

    manager = MessageManager(on_message_added=[failing, failing])
    with pytest.raises(ExceptionGroup):
        await manager.a_add_message(instruction="a", context=None)


def test_a_pile_is_taken_as_it_is_and_a_dict_is_read():
    pile = filled().messages
    assert MessageManager(messages=pile).messages is pile
    restored = MessageManager(messages=pile.to_dict("json"))
    assert restored.system == pile[0]
    assert restored.messages.values() == pile.values()
    assert isinstance(restored.messages, Pile)


def test_trailing_tool_results_go_into_an_instructions_context():
    manager = filled()
    instruction = manager.create_instruction(instruction="next")
    manager.concat_recent_action_responses_to_instruction(instruction)
    assert instruction.content.prompt_context == [{"function": "f", "arguments": {"a": 1}, "output": 0}]


def test_tool_schemas_are_taken_out_of_the_last_instruction():
    manager = MessageManager()
    message = manager.add_message(instruction="a", tool_schemas=[{"name": "f"}])
    manager.remove_last_instruction_tool_schemas()
    assert message.content.tool_schemas == []
