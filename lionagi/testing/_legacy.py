"""Builders from before there were scripts: real objects whose model gives canned answers. New tests use TestBranch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast
from unittest.mock import AsyncMock

from pydantic import BaseModel

from lionagi._errors import ExecutionError
from lionagi.ln.secrets import Secret
from lionagi.protocols.generic.event import EventStatus
from lionagi.service.api_calling import APICalling
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.imodel import iModel
from lionagi.service.types import Answer
from lionagi.session.branch import Branch
from lionagi.session.session import Session

__all__ = ("LionAGIMockFactory", "oai_chat_endpoint_config")

_RESPONSE = "mocked_response_string"
_MODEL = "gpt-4o-mini"


def oai_chat_endpoint_config(
    name: str = "openai_chat/completions",
    endpoint: str = "chat/completions",
    request_options: type[BaseModel] | None = None,
    kwargs: dict[str, Any] | None = None,
) -> EndpointConfig:
    """Return the configuration of OpenAI's chat endpoint with a dummy key."""
    return EndpointConfig(
        name=name,
        provider="openai",
        base_url="https://api.openai.com/v1",
        endpoint=endpoint,
        api_key=Secret("dummy-key-for-testing"),
        auth_type="bearer",
        requires_tokens=True,
        request_options=request_options,
        kwargs=kwargs or {},
    )


class _CannedEndpoint(Endpoint):
    """Answers from a list, the last one again and again; what is no chat completion is its answer's text."""

    in_process: ClassVar[bool] = True

    def __init__(self, config: EndpointConfig, answers: list[Any] | None = None, *, failing: bool = False) -> None:
        super().__init__(config)
        self._answers = answers or [_RESPONSE]
        self._failing = failing
        self._asked = 0

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> Any:
        answer = self._answers[min(self._asked, len(self._answers) - 1)]
        self._asked += 1
        failed = self._failing
        if isinstance(answer, APICalling):
            failed = failed or answer.execution.status is EventStatus.FAILED
            answer = answer.execution.response
        if failed:
            raise ExecutionError(_message_of(answer))
        return answer

    def decode(self, response: Any) -> Answer:
        if isinstance(response, dict) and "choices" in response:
            return super().decode(response)
        return Answer(text=_text_of(response), raw=response)

    async def aclose(self) -> None:
        pass


def _message_of(answer: Any) -> str:
    error = cast("Mapping[str, Any]", answer).get("error") if isinstance(answer, Mapping) else None
    message = cast("Mapping[str, Any]", error).get("message") if isinstance(error, Mapping) else error
    return str(message or "Mocked API Error")


def _text_of(response: Any) -> str:
    if response is None or isinstance(response, str):
        return response or ""
    if isinstance(response, BaseModel):
        return response.model_dump_json()
    return json.dumps(response, default=str)


class LionAGIMockFactory:
    """Makes branches, models, calls and sessions that reach no network."""

    @staticmethod
    def create_mocked_branch(
        name: str = "TestBranch",
        user: str = "tester",
        response: Any = _RESPONSE,
        responses: Iterable[Any] | None = None,
        status: EventStatus = EventStatus.COMPLETED,
        provider: str = "openai",
        model: str = _MODEL,
        system: str | None = None,
        tools: Any = None,
        api_key: str = "test_key",
    ) -> Branch:
        """Return a Branch whose chat and parse model are one model of ``create_mocked_imodel``."""
        mocked = LionAGIMockFactory.create_mocked_imodel(provider, model, response, responses, status, api_key)
        return Branch(name=name, user=user, system=system, tools=tools, chat_model=mocked, parse_model=mocked)

    @staticmethod
    def create_mocked_imodel(
        provider: str = "openai",
        model: str = _MODEL,
        response: Any = _RESPONSE,
        responses: Iterable[Any] | None = None,
        status: EventStatus = EventStatus.COMPLETED,
        api_key: str = "test_key",
    ) -> iModel:
        """Return an iModel whose ``invoke`` is an AsyncMock around the real one.

        Args:
            provider: The name it goes by.
            model: The model's name.
            response: The answer: a text, a chat completion, anything that JSON can hold, or a call of
                ``create_api_calling_mock``, which fails where that one has failed.
            responses: Several answers in order; the last one is repeated.
            status: What each call ends as; a failed one has an error.
            api_key: A key that is sent nowhere.
        """
        config = oai_chat_endpoint_config(name=f"{provider}_chat/completions", kwargs={"model": model})
        config.update(provider=provider, api_key=api_key, max_retries=1)
        answers = [response] if responses is None else list(responses)
        mocked = iModel(endpoint=_CannedEndpoint(config, answers, failing=status is EventStatus.FAILED))
        real = mocked.invoke

        async def invoke(api_call: APICalling | None = None, **kwargs: Any) -> APICalling:
            call = await real(api_call, **kwargs)
            if status not in (EventStatus.COMPLETED, EventStatus.FAILED):
                call.status = status
            return call

        mocked.invoke = AsyncMock(side_effect=invoke)
        return mocked

    @staticmethod
    def create_api_calling_mock(
        response_data: Any = _RESPONSE,
        status: EventStatus = EventStatus.COMPLETED,
        model: str = _MODEL,
        endpoint_config: EndpointConfig | None = None,
    ) -> APICalling:
        """Return a finished call with that response and status."""
        call = APICalling(
            payload={"model": model, "messages": []},
            headers={"Authorization": "Bearer test"},
            endpoint=_CannedEndpoint(endpoint_config or oai_chat_endpoint_config(), [response_data]),
        )
        call.execution.response = response_data
        call.status = status
        return call

    @staticmethod
    def create_mocked_session(
        branches: Iterable[str] | None = None, default_branch_response: Any = _RESPONSE
    ) -> Session:
        """Return a Session with a mocked branch of each name, the first one its default; one branch without names."""
        made = [
            LionAGIMockFactory.create_mocked_branch(name=name, response=default_branch_response)
            for name in branches or ["TestBranch"]
        ]
        session = Session(default_branch=made[0])
        session.include_branches(made[1:])
        return session

    @staticmethod
    def create_error_response_mock(
        error_message: str = "Mocked API Error",
        error_code: str = "test_error",
        status: EventStatus = EventStatus.FAILED,
    ) -> APICalling:
        """Return a call that ended as ``status`` with the response ``{"error": {"message", "code"}}``."""
        call = LionAGIMockFactory.create_api_calling_mock(
            {"error": {"message": error_message, "code": error_code}}, status
        )
        if status is EventStatus.FAILED:
            call.execution.error = ExecutionError(error_message)
        return call
