"""A conversation with the real local model, recorded once and replayed without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pydantic
import pytest
from support.guard import GUARD

from lionagi import Branch
from lionagi._errors import StaleRecordingError
from lionagi.ln.trace import Span, trace
from lionagi.testing import ScriptModel, record, replay

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]
VOLATILE = {"action_request_id", "action_response_id"}


class City(pydantic.BaseModel):
    """A city and its country, bounded as the small model needs it."""

    name: Literal["Paris", "Tokyo", "Rome"]
    country: str = pydantic.Field(max_length=30)


def weather(city: Literal["Oslo", "Rome"]) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city}"


def shape(span: Span) -> tuple[str, str, list[Any]]:
    return span.name, span.status, [shape(child) for child in span.children]


def messages(branch: Branch) -> list[tuple[str, Any]]:
    return [
        (message.role, {key: value for key, value in message.content.to_dict().items() if key not in VOLATILE})
        for message in branch.messages
    ]


async def talk(branch: Branch) -> list[Any]:
    """Ask for a structure, for a tool, and for a streamed text; return what came and the shape of the way there."""
    with trace() as seen:
        city = await branch.operate(instruction="Name the capital of France.", response_format=City)
        acted = await branch.operate(instruction="Call weather for Oslo.", actions=True, max_tool_calls=1)
        streamed = [message async for message in branch.run("Count to three.", max_tokens=20)]
    results: list[Any] = [city.model_dump(), acted.model_dump(), [message.role for message in streamed]]
    return [*results, messages(branch), [shape(span) for span in seen.spans]]


@pytest.mark.record("DEC-B-6")
async def test_a_real_conversation_is_replayed_twice_without_a_network(tmp_path: Path) -> None:
    path = tmp_path / "talk.yaml"
    live = Branch(chat_model="local", tools=[weather])
    with record(path):
        before = await talk(live)
    await live.chat_model.close()

    script = ScriptModel.from_yaml(path)
    assert len(script.responses) == 3
    assert script.recording is not None
    assert (script.recording.provider, script.recording.kind) == ("local", "api")
    assert script.responses[2].recording is not None
    assert script.responses[2].recording.chunks

    GUARD.loopback = False
    for named in ("local", "openai/any-model"):
        with replay(path) as block:
            after = await talk(Branch(chat_model=named, tools=[weather]))
            assert after == before
            assert block.unused_entries() == []

    with replay(path):
        with pytest.raises(StaleRecordingError, match=r"-Instruction: Name the capital of France\."):
            await Branch(chat_model="local").operate(instruction="Name the capital of Japan.", response_format=City)
