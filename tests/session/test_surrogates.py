"""Half a character, as JSON can spell it and no file or request can carry it, from every side of a conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from support.openai_server import Faults, OpenAIServer, sse
from support.roads import Road, request, requests, structured, text

from lionagi.protocols.generic.data_logger import DataLogger
from lionagi.service.connections.agentic import AgenticEndpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.imodel import iModel
from lionagi.service.types import StreamChunk
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch

HALF = "x\ud800y"
WHOLE = "x�y"


class City(BaseModel):
    name: str


def writes(value: Any) -> bool:
    json.dumps(value, ensure_ascii=False).encode()
    return True


async def goes_on(branch: Branch) -> None:
    """The branch can be asked again, and all of it written down and restored."""
    await branch.operate(instruction="again")
    assert writes(branch.to_dict("json"))
    assert writes([log.to_dict("json") for log in branch.logs])
    assert len(Branch.from_dict(branch.to_dict("json")).messages) == len(branch.messages)


def answered(branch: Branch) -> list[str]:
    return [message.response for message in branch.msgs.assistant_responses]


async def test_H3_an_answer_is_replaced_on_arrival(road: Road) -> None:
    branch = road.branch(text(HALF), text("ok"))
    assert await branch.operate(instruction="q") == WHOLE
    assert answered(branch) == [WHOLE]
    assert writes([message.metadata for message in branch.messages])
    await goes_on(branch)


async def test_H3_a_streamed_answer_is_replaced_on_arrival(road: Road) -> None:
    branch = road.branch(text(HALF), text("ok"))
    async for _ in branch.run("q"):
        pass
    assert answered(branch) == [WHOLE]
    await goes_on(branch)


async def test_H3_raw_server_sent_events_are_replaced_on_arrival(
    openai_server: OpenAIServer, server_model: Any
) -> None:
    deltas: list[dict[str, Any]] = [{"content": "x"}, {"content": "\ud800"}, {"content": "y"}]
    events = [sse({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas]
    end = sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    openai_server.script(Faults.body(b"".join([*events, end, b"data: [DONE]\n\n"]), "text/event-stream"))
    branch = Branch(chat_model=server_model())
    async for _ in branch.run("q"):
        pass
    assert answered(branch) == [WHOLE]


@pytest.mark.parametrize("spelled", ['{"name": "x\ud800y"}', '{"name": "x\\ud800y"}'], ids=["itself", "escaped"])
async def test_H3_a_parsed_value_is_replaced_on_arrival(road: Road, spelled: str) -> None:
    branch = road.branch(text(spelled), text("ok"))
    assert (await branch.operate(instruction="q", response_format=City)).name == WHOLE
    await goes_on(branch)


async def test_H3_the_arguments_of_a_tool_are_replaced_on_arrival(road: Road) -> None:
    seen: list[str] = []
    branch = road.branch(requests(request("note", words=HALF), name="a"), text("ok"), tools=[seen.append])
    branch.register_tools([note_into(seen)])
    await branch.operate(instruction="q", response_format=City, actions=True)
    assert seen == [WHOLE]
    await goes_on(branch)


def note_into(seen: list[str]) -> Any:
    def note(words: str) -> None:
        """Keep some words."""
        seen.append(words)

    return note


class Agent(AgenticEndpoint):
    """An agent that says half characters wherever it can."""

    def __init__(self) -> None:
        super().__init__(EndpointConfig(provider="agent", api_key="x"))

    async def stream(self, request: Any, extra_headers: Any = None, **kwargs: Any) -> Any:
        yield StreamChunk("thinking", content=HALF)
        yield StreamChunk("tool_use", tool_name=HALF, tool_id="1", tool_input={HALF: [HALF]})
        yield StreamChunk("tool_result", tool_id="1", tool_output={"out": HALF})
        yield StreamChunk("text", content="a\ud83d", is_delta=True)
        yield StreamChunk("text", content="\ude00" + HALF, is_delta=True)
        yield StreamChunk("result", metadata={"said": HALF})


async def test_H3_what_an_agent_did_is_replaced_on_arrival() -> None:
    branch = Branch(chat_model=iModel(endpoint=Agent()))
    async for _ in branch.run("q"):
        pass
    assert answered(branch) == ["a\U0001f600" + WHOLE]  # a pair that came in two chunks is one character
    assert writes([[message.content.to_dict(), message.metadata] for message in branch.messages])
    await goes_on(branch)


@pytest.mark.parametrize("output", [HALF, {HALF: [HALF]}, LookupError(HALF)], ids=["text", "data", "error"])
async def test_H3_the_output_of_a_tool_is_replaced_wherever_it_is_written(road: Road, output: Any, tmp_path: Path):
    def look() -> Any:
        """Return what is there, such as the name of a file that is no UTF-8."""
        if isinstance(output, Exception):
            raise output
        return output

    branch = road.branch(requests(request("look"), name="a"), text("ok"), text("ok"), tools=[look])
    result: Any = await branch.operate(instruction="q", response_format=City, actions=True)
    if not isinstance(output, Exception):
        assert result.action_responses[0].output == output  # the caller has the object itself
    await branch.operate(instruction="and?")
    assert writes(road.payloads)
    assert WHOLE in road.sent
    await goes_on(branch)
    logger = DataLogger(list(branch.logs))
    assert WHOLE in (logger.dump(persist_path=tmp_path / "logs.json") or tmp_path).read_text("utf-8")


@pytest.mark.parametrize(
    "given",
    [
        {"instruction": HALF},
        {"instruction": {HALF: HALF}},
        {"instruction": "q", "context": [HALF]},
        {"instruction": "q", "guidance": HALF},
    ],
    ids=["text", "mapping", "context", "guidance"],
)
async def test_H3_what_a_person_says_is_replaced_wherever_it_is_written(road: Road, given: dict[str, Any]) -> None:
    branch = road.branch(structured(name="a"), text("ok"), system=HALF)
    await branch.operate(response_format=City, **given)
    assert writes(road.payloads)
    assert WHOLE in road.sent
    await goes_on(branch)


async def test_H3_a_message_added_by_hand_is_replaced_wherever_it_is_sent() -> None:
    branch = TestBranch.from_text("ok")
    branch.msgs.add_message(instruction=HALF)
    branch.msgs.add_message(assistant_response=HALF)
    await goes_on(branch)
    assert writes(TestBranch.calls(branch)[0].payload)
