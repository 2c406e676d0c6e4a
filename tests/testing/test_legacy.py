from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from lionagi._errors import ExecutionError
from lionagi.protocols.generic.event import EventStatus
from lionagi.service.api_calling import APICalling
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.session.branch import Branch
from lionagi.session.session import Session
from lionagi.testing import LionAGIMockFactory as Factory
from lionagi.testing import get_api_response, oai_chat_endpoint_config

pytestmark = pytest.mark.usefixtures("blocked_sockets")


CHAT_COMPLETION: dict[str, Any] = get_api_response("structured_output_response")
CHAT_COMPLETION["choices"][0]["message"]["content"] = '{"name": "Paris"}'


class City(BaseModel):
    name: str


def test_the_endpoint_config_is_openais_with_a_dummy_key() -> None:
    config = oai_chat_endpoint_config(kwargs={"model": "m"}, request_options=City)
    assert (config.provider, config.full_url) == ("openai", "https://api.openai.com/v1/chat/completions")
    assert config.resolve_api_key() == "dummy-key-for-testing"
    assert (config.name, config.auth_type) == ("openai_chat/completions", "bearer")
    assert config.requires_tokens
    assert (config.request_options, config.kwargs) == (City, {"model": "m"})


async def test_a_mocked_branch_answers_through_every_verb() -> None:
    branch = Factory.create_mocked_branch(system="be brief")
    assert await branch.chat("hi") == "mocked_response_string"
    assert await branch.communicate("hi") == "mocked_response_string"
    assert await branch.operate(instruction="hi") == "mocked_response_string"
    messages: list[Any] = [message async for message in branch.run("hi")]
    assert messages[-1].response == "mocked_response_string"
    assert branch.chat_model is branch.parse_model
    assert (branch.name, branch.user, branch.chat_model.provider) == ("TestBranch", "tester", "openai")
    assert branch.system is not None


async def test_answers_come_in_order_and_the_last_one_stays() -> None:
    branch = Factory.create_mocked_branch(responses=["a", "b"], provider="other", model="m")
    assert [await branch.chat("hi") for _ in range(3)] == ["a", "b", "b"]
    assert (branch.chat_model.provider, branch.chat_model.model_name) == ("other", "m")


@pytest.mark.parametrize(
    "response",
    [{"name": "Paris"}, City(name="Paris"), '{"name": "Paris"}', CHAT_COMPLETION],
)
async def test_an_answer_may_be_data_or_a_chat_completion(response: Any) -> None:
    branch = Factory.create_mocked_branch(response=response)
    made = await branch.operate(instruction="where?", response_format=City)
    assert isinstance(made, City)
    assert made.name == "Paris"


async def test_each_call_is_a_fresh_one_and_the_mock_counts_them() -> None:
    model = Factory.create_mocked_imodel(response="x")
    first, second = [await model.invoke(messages=[]) for _ in range(2)]
    assert isinstance(first, APICalling)
    assert first is not second
    assert (first.status, first.execution.response, first.payload["model"]) == ("completed", "x", "gpt-4o-mini")
    counted: Any = model.invoke
    assert counted.await_count == 2


@pytest.mark.parametrize("status", [EventStatus.FAILED, EventStatus.CANCELLED])
async def test_a_call_ends_with_the_asked_for_status(status: EventStatus) -> None:
    call = await Factory.create_mocked_imodel(status=status).invoke(messages=[])
    assert call.status is status
    assert (call.execution.error is not None) == (status is EventStatus.FAILED)


def test_a_finished_call_is_made_as_told() -> None:
    config = EndpointConfig(provider="other")
    call = Factory.create_api_calling_mock({"a": 1}, EventStatus.SKIPPED, "m", config)
    assert (call.execution.response, call.status) == ({"a": 1}, EventStatus.SKIPPED)
    assert call.payload == {"model": "m", "messages": []}
    assert call.headers == {"Authorization": "Bearer test"}
    assert call.endpoint.provider == "other"


def test_an_error_response_is_a_failed_call_with_its_error() -> None:
    call = Factory.create_error_response_mock("no luck", "e1")
    assert call.status is EventStatus.FAILED
    assert call.execution.response == {"error": {"message": "no luck", "code": "e1"}}
    assert str(call.execution.error) == "no luck"
    assert Factory.create_error_response_mock(status=EventStatus.COMPLETED).execution.error is None


async def test_a_branch_on_a_failed_call_fails() -> None:
    branch = Factory.create_mocked_branch(response=Factory.create_error_response_mock("no luck"))
    with pytest.raises(ExecutionError, match="no luck"):
        await branch.chat("hi")


@pytest.mark.record("DEC-39-3")
async def test_a_mocked_session_has_branches_of_the_names() -> None:
    session = Factory.create_mocked_session(branches=["a", "b"], default_branch_response="hello")
    assert isinstance(session, Session)
    assert [branch.name for branch in session.branches] == ["a", "b"]
    assert session.default_branch is session.get_branch("a")
    branch = session.get_branch("b")
    assert isinstance(branch, Branch)
    assert await branch.chat("hi") == "hello"


def test_a_mocked_session_without_names_has_one_branch() -> None:
    assert [branch.name for branch in Factory.create_mocked_session().branches] == ["TestBranch"]
