"""Branch: what it is made of, what stands behind its facade, and the names by which its verbs are found."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any, cast

import pydantic
import pytest

import lionagi
from lionagi._errors import ValidationError
from lionagi.protocols.control import ToolInvocation
from lionagi.protocols.generic.log import Log
from lionagi.protocols.messages.system import System
from lionagi.service.imodel import iModel
from lionagi.session.branch import Branch
from lionagi.session.session import Session
from lionagi.testing import TestBranch, scripted_imodel


def scripted(answer: str) -> iModel:
    return scripted_imodel([{"type": "text", "content": answer}])


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def test_the_parse_model_is_the_chat_model_unless_given() -> None:
    chat, parse = scripted("a"), scripted("b")
    assert Branch(chat_model=chat).parse_model is chat
    branch = Branch(chat_model=chat, parse_model=parse)
    assert (branch.chat_model, branch.parse_model) == (chat, parse)
    branch.chat_model, branch.parse_model = parse, chat
    assert (branch.chat_model, branch.parse_model) == (parse, chat)


def test_a_model_is_given_as_itself_its_name_or_its_data() -> None:
    named = Branch(chat_model="openai/gpt-4.1-mini").chat_model
    assert (named.endpoint.config.provider, named.model_name) == ("openai", "gpt-4.1-mini")
    assert Branch(chat_model=named.to_dict()).chat_model.model_name == "gpt-4.1-mini"
    with pytest.raises(ValidationError, match="a model is an iModel, its name or its to_dict"):
        Branch(chat_model=5)  # pyright: ignore[reportArgumentType]


def test_the_system_message_stands_first_and_says_who_sent_it() -> None:
    history = TestBranch.from_text("a").messages
    branch = Branch(system="Be brief.", user="ann", messages=history, chat_model=scripted("a"))
    first = branch.messages[0]
    assert first is branch.system
    assert isinstance(first, System)
    assert (first.rendered, first.sender, first.recipient) == ("Be brief.", "ann", branch.id)
    assert Branch(system="x", system_sender="boss", chat_model=scripted("a")).messages[0].sender == "boss"


def test_the_system_message_can_tell_the_time() -> None:
    told = Branch(system="Be brief.", system_datetime="noon", chat_model=scripted("a")).system
    assert told is not None
    assert "noon" in told.rendered
    assert Branch(system_datetime=True, chat_model=scripted("a")).system is not None
    assert Branch(chat_model=scripted("a")).system is None


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises((pydantic.ValidationError, ValidationError), match="sytem"):
        Branch(sytem="typo", chat_model=scripted("a"))


def test_tools_are_registered_once_and_replaced_on_request() -> None:
    branch = Branch(tools=[add], chat_model=scripted("a"))
    with pytest.raises(ValueError, match="Tool add is already registered"):
        branch.register_tools(add)
    before = branch.tools["add"]
    branch.register_tools(add, update=True)
    assert list(branch.tools) == ["add"]
    assert branch.tools["add"] is not before


async def test_a_branch_that_stands_alone_allows_every_tool_and_has_nobody_to_tell() -> None:
    branch = TestBranch.from_text("a")
    assert await branch.authorize(ToolInvocation("add", {}))
    assert await branch.emit("event") == []
    log = Log(content={"kind": "note"})
    await branch.emit_and_log(log)
    assert list(branch.logs) == [log]


async def test_authorize_asks_the_branchs_gate_and_the_sessions() -> None:
    branch, asked = TestBranch.from_text("a"), cast("list[str]", [])
    session = Session(default_branch=branch)

    def note(name: str, answer: bool) -> Any:
        def gate(invocation: ToolInvocation) -> bool:
            asked.append(f"{name} {invocation.function}")
            return answer

        return gate

    session.gate(note("session", False))
    branch.gate = note("branch", True)
    assert not await branch.authorize(ToolInvocation("add", {}))
    assert asked == ["branch add", "session add"]


@pytest.mark.parametrize("verb", ["chat", "communicate", "operate", "parse", "act", "run", "interpret"])
def test_every_verb_is_found_by_its_name(verb: str) -> None:
    branch = TestBranch.from_text("a")
    assert branch.get_operation(verb) == getattr(branch, verb)


@pytest.mark.parametrize("name", ["whisper", "name", "messages", "_acts", "__init__"])
def test_what_is_no_verb_is_not_found(name: str) -> None:
    assert TestBranch.from_text("a").get_operation(name) is None


async def test_a_sessions_operations_are_found_behind_the_verbs_while_the_branch_belongs_to_it() -> None:
    session, branch = Session(), TestBranch.from_text("hello")
    session.include_branches(branch)

    async def shout(on: Branch, text: str) -> tuple[Branch, str]:
        return on, text.upper()

    session.register_operation("shout", shout)
    session.register_operation("communicate", shout)
    found = branch.get_operation("shout")
    assert found is not None
    assert await found("a") == (branch, "A")
    assert branch.get_operation("communicate") == branch.communicate
    session.remove_branch(branch)
    assert branch.get_operation("shout") is None


async def test_a_session_runs_a_stream_by_its_name_too() -> None:
    session = Session(default_branch=TestBranch.from_text("hello"))
    stream: AsyncGenerator[Any] = await session.run_operation("run", instruction="a")
    assert [message.role for message in [each async for each in stream]] == ["user", "assistant"]


async def test_logs_are_part_of_the_data_on_request_and_come_back() -> None:
    branch = TestBranch.from_text("a")
    assert "logs" not in branch.to_dict("json", include_logs=True)
    await branch.communicate("a")
    assert "logs" not in branch.to_dict("json")
    data = json.loads(json.dumps(branch.to_dict("json", include_logs=True)))
    again = Branch.from_dict(data, chat_model=branch.chat_model)
    assert [log.content["kind"] for log in again.logs] == ["model_call"]
    assert [log.id for log in again.logs] == [log.id for log in branch.logs]


async def test_a_branch_is_restored_with_other_models_and_without_tools_or_ties() -> None:
    branch = TestBranch.from_text("a", tools=[add])
    branch.gate = lambda _: False
    Session(default_branch=branch)
    data = {**branch.to_dict("json"), "log_config": {"capacity": 50}}
    before = json.dumps(data)
    chat, parse = scripted("b"), scripted("c")
    again = Branch.from_dict(data, chat_model=chat, parse_model=parse)
    assert json.dumps(data) == before
    assert (again.id, again.chat_model, again.parse_model) == (branch.id, chat, parse)
    assert (again.tools, again.gate, again.hooks, again.is_gated) == ({}, None, None, False)
    assert Branch.from_dict(data, chat_model=chat).parse_model is chat
    assert Branch.from_dict(data).chat_model.model_name == branch.chat_model.model_name


def test_a_clone_has_the_tools_and_the_gate_and_none_of_the_ties() -> None:
    branch = TestBranch.from_text("a", tools=[add])
    session = Session(default_branch=branch)

    async def shout(on: Branch) -> None: ...

    session.register_operation("shout", shout)
    branch.gate = lambda _: True
    twin = branch.clone()
    assert twin.tools == branch.tools
    assert twin.gate is branch.gate
    assert (twin.hooks, twin.get_operation("shout"), len(twin.logs)) == (None, None, 0)


async def test_chat_takes_its_format_by_either_name() -> None:
    branch = TestBranch.from_text(["{}", "{}"])
    await branch.chat("a", request_fields={"colour": "str"})
    await branch.chat("a", response_format={"flavour": "str"})
    first, second = (call.payload["messages"][-1]["content"] for call in TestBranch.calls(branch))
    assert "colour" in str(first)
    assert "flavour" in str(second)


async def test_chat_hands_further_options_to_the_model_and_returns_both_messages_on_request() -> None:
    model: iModel = scripted("hello")
    branch = TestBranch.from_text("never")
    asked, answer = await branch.chat("a", sender="ann", imodel=model, return_ins_res_message=True, temperature=0.3)
    assert (asked.sender, answer.response) == ("ann", "hello")
    assert TestBranch.calls(Branch(chat_model=model))[0].payload["temperature"] == 0.3


def test_the_names_of_sessions_and_providers_are_found_at_the_top() -> None:
    assert lionagi.Session is Session
    assert lionagi.ContextProviderRegistry.__name__ == "ContextProviderRegistry"
    assert {"ContextProvider", "ProviderReport", "load_mcp_tools"} <= set(dir(lionagi))
