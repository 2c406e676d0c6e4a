"""Both roads of one conversation: the scripted agentic endpoint and an OpenAI-compatible server on loopback.

A test that takes the fixture ``road`` runs once on each and says its answers once, as script entries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from lionagi.ln.clock import NoWaitClock
from lionagi.protocols.messages.action_request import ActionRequest
from lionagi.protocols.messages.action_response import ActionResponse
from lionagi.service.imodel import iModel
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch, scripted_imodel
from support.openai_server import Faults, OpenAIServer, Reply
from support.openai_server import structured as structured_reply
from support.openai_server import text as text_reply
from support.openai_server import tool_call as tool_call_reply

Entry = dict[str, Any]


def text(content: str) -> Entry:
    return {"type": "text", "content": content}


def pieces(*parts: str) -> Entry:
    """Text that comes in these chunks where it is streamed."""
    return {"type": "stream", "chunks": [{"type": "text", "content": part, "is_delta": True} for part in parts]}


def structured(**data: Any) -> Entry:
    return {"type": "structured", "data": data}


def tool_call(name: str, **arguments: Any) -> Entry:
    return {"type": "tool_call", "name": name, "arguments": arguments}


def request(function: str | None, **arguments: Any) -> dict[str, Any]:
    return {"function": function, "arguments": arguments}


def requests(*asked: dict[str, Any], **more: Any) -> Entry:
    """A structured answer that asks for tools."""
    return structured(**more, action_required=True, action_requests=list(asked))


def refusal(words: str) -> Entry:
    """An answer in which the model refuses."""
    return {"type": "text", "content": "", "recording": {"refusal": words}}


def reply(entry: Entry) -> Reply:
    if "recording" in entry:
        return Reply(refusal=entry["recording"]["refusal"])
    if entry["type"] == "text":
        return text_reply(entry["content"])
    if entry["type"] == "stream":
        parts = [chunk["content"] for chunk in entry["chunks"]]
        return text_reply("".join(parts), pieces=parts)
    if entry["type"] == "structured":
        return structured_reply(entry["data"])
    return tool_call_reply(entry["name"], entry["arguments"])


@dataclass
class Road:
    """Makes branches that answer with the given entries; ``payloads`` are the requests that were sent."""

    name: str
    server: OpenAIServer
    make: Callable[..., iModel]
    models: list[iModel] = field(default_factory=list)

    def model(self, *entries: Entry) -> iModel:
        if self.name == "api":
            self.server.script(*map(reply, entries))
            model = self.make(clock=NoWaitClock())
        else:
            model = scripted_imodel(list(entries), clock=NoWaitClock())
        self.models.append(model)
        return model

    def branch(self, *entries: Entry, **branch: Any) -> Branch:
        model = self.model(*entries)
        return Branch(**{"chat_model": model, "parse_model": model, **branch})

    @property
    def payloads(self) -> list[dict[str, Any]]:
        if self.name == "api":
            return self.server.payloads
        branches = [Branch(chat_model=model) for model in self.models]
        return [call.payload for branch in branches for call in TestBranch.calls(branch)]

    @property
    def sent(self) -> str:
        """Everything that was sent, as one text."""
        return repr(self.payloads)


@pytest.fixture(params=["agentic", "api"])
def road(request: pytest.FixtureRequest, openai_server: OpenAIServer, server_model: Callable[..., iModel]) -> Road:
    """One road after the other; an answer too many is an error on both."""
    openai_server.default = Faults.status(400, '{"error": {"message": "no answer left"}}')
    return Road(request.param, openai_server, server_model)


@pytest.fixture
def api_road(openai_server: OpenAIServer, server_model: Callable[..., iModel]) -> Road:
    return Road("api", openai_server, server_model)


@dataclass
class Bench:
    """A branch with tools that note every entry and exit."""

    branch: Branch
    events: list[str]

    @property
    def entered(self) -> list[str]:
        return [event for event in self.events if event.startswith("+")]

    @property
    def audit(self) -> list[dict[str, Any]]:
        return [log.content for log in self.branch.logs if log.content["kind"] == "tool_call"]

    @property
    def pairs(self) -> list[tuple[ActionRequest, ActionResponse]]:
        asked = [message for message in self.branch.messages if isinstance(message, ActionRequest)]
        done = {str(m.id): m for m in self.branch.messages if isinstance(m, ActionResponse)}
        found = [(each, done[str(each.content.action_response_id)]) for each in asked]
        assert len(found) == len(done)
        assert all(str(answer.content.action_request_id) == str(each.id) for each, answer in found)
        return found


@pytest.fixture
def bench() -> Bench:
    events: list[str] = []

    async def safe(n: int = 0) -> int:
        """Return the number plus one."""
        events.append(f"+{n}")
        for _ in range(3):
            await asyncio.sleep(0)
        events.append(f"-{n}")
        return n + 1

    async def boom(n: int = 0) -> int:
        """Fail."""
        events.append(f"+{n}")
        raise LookupError("the cupboard is bare")

    async def echo(words: str) -> str:
        """Say it again."""
        events.append(f"+{len(words)}")
        return words

    return Bench(TestBranch.from_text("never", tools=[safe, boom, echo]), events)
