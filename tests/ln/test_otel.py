from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel
from support.roads import Road, requests, text, tool_call

from lionagi._errors import MissingExtraError
from lionagi.ln.trace import Trace, span, trace
from lionagi.testing import TestBranch


class City(BaseModel):
    name: str


def weather(city: str) -> str:
    """The weather in a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"sunny in {city}"


class Exported:
    """What arrives at the SDK's exporter."""

    def __init__(self) -> None:
        self.memory = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.memory))

    def of(self, seen: Trace, **options: Any) -> dict[str, ReadableSpan]:
        """Return the exported spans by name."""
        seen.to_otel(self.provider, **options)
        return {each.name: each for each in self.memory.get_finished_spans()}


@pytest.fixture
def exported() -> Exported:
    return Exported()


def attributes(each: ReadableSpan) -> dict[str, Any]:
    return dict(each.attributes or {})


def asks(*cities: str) -> dict[str, Any]:
    return requests(*({"function": "weather", "arguments": {"city": city}} for city in cities), name="Oslo")


async def traced(branch: Any, **call: Any) -> Trace:
    with trace() as seen:
        await branch.operate(instruction="SECRET-QUESTION", response_format=City, actions=True, **call)
    return seen


async def test_a_model_call_is_a_chat_span(exported: Exported, api_road: Road):
    branch = api_road.branch(asks("Oslo"), tools=[weather], name="guide")
    seen = await traced(branch)
    found = exported.of(seen)
    model = branch.chat_model
    chat = found[f"chat {model.model_name}"]
    assert chat.kind is otel.SpanKind.CLIENT
    facts = attributes(chat)
    assert facts["gen_ai.operation.name"] == "chat"
    assert facts["gen_ai.provider.name"] == model.provider
    assert facts["gen_ai.request.model"] == model.model_name
    assert facts["gen_ai.response.finish_reasons"] == ("stop",)
    usage = seen.find("model call")[0].attributes["usage"]
    assert facts["gen_ai.usage.input_tokens"] == usage["prompt_tokens"]
    assert facts["gen_ai.usage.output_tokens"] == usage["completion_tokens"]
    assert facts["gen_ai.conversation.id"] == str(branch.id)


async def test_a_tool_call_is_an_execute_tool_span(exported: Exported, road: Road):
    seen = await traced(road.branch(asks("Oslo"), tools=[weather]))
    tool = exported.of(seen)["execute_tool weather"]
    facts = attributes(tool)
    assert tool.kind is otel.SpanKind.INTERNAL
    assert facts["gen_ai.operation.name"] == "execute_tool"
    assert facts["gen_ai.tool.name"] == "weather"
    assert facts["gen_ai.tool.type"] == "function"
    assert facts["gen_ai.tool.call.id"] == seen.find("tool")[0].attributes["call_id"]
    assert tool.status.status_code is otel.StatusCode.UNSET


async def test_an_operate_is_an_agent_span(exported: Exported, road: Road):
    branch = road.branch(asks("Oslo"), tools=[weather], name="guide")
    facts = attributes(exported.of(await traced(branch))["invoke_agent guide"])
    assert facts["gen_ai.operation.name"] == "invoke_agent"
    assert (facts["gen_ai.agent.name"], facts["gen_ai.agent.id"]) == ("guide", str(branch.id))


async def test_the_tree_is_the_tree_of_the_trace(exported: Exported, road: Road):
    seen = await traced(road.branch(asks("Oslo"), tools=[weather], name="guide"))
    found = exported.of(seen)
    tool, gate, agent = found["execute_tool weather"], found["authorize"], found["invoke_agent guide"]
    assert gate.parent is not None
    assert tool.parent is not None
    assert gate.context is not None
    assert (gate.parent.span_id, tool.parent.span_id) == (tool.context.span_id, agent.context.span_id)  # pyright: ignore[reportOptionalMemberAccess]
    assert agent.parent is None
    assert len({each.context.trace_id for each in found.values()}) == 1  # pyright: ignore[reportOptionalMemberAccess]


async def test_the_outermost_span_joins_the_current_one_of_opentelemetry(exported: Exported):
    with exported.provider.get_tracer("mine").start_as_current_span("mine") as mine:
        found = exported.of(await traced(TestBranch.from_responses([asks("Oslo")], tools=[weather])))
    assert found["invoke_agent TestBranch"].parent == mine.get_span_context()


def test_start_and_end_are_those_of_the_stage(exported: Exported):
    with trace() as seen, span("stage"):
        pass
    stage = exported.of(seen)["stage"]
    begun = seen.started_at + seen.spans[0].start
    assert (stage.start_time or 0) / 1e9 == pytest.approx(begun, abs=1e-6)
    assert (stage.end_time or 0) / 1e9 == pytest.approx(begun + seen.spans[0].duration, abs=1e-6)


async def test_a_failing_tool_is_an_error_with_its_type(exported: Exported, road: Road):
    seen = await traced(road.branch(asks("Atlantis"), tools=[weather]))
    tool = exported.of(seen)["execute_tool weather"]
    assert tool.status.status_code is otel.StatusCode.ERROR
    assert attributes(tool)["error.type"] == "LookupError"
    assert attributes(tool)["lionagi.reason"] == "tool 'weather' error: no such city"


async def test_a_denied_tool_says_so(exported: Exported, road: Road):
    branch = road.branch(asks("Oslo"), tools=[weather])
    branch.gate = lambda _: False
    facts = attributes(exported.of(await traced(branch))["execute_tool weather"])
    assert (facts["error.type"], facts["lionagi.outcome"]) == ("denied", "denied")


def test_a_failing_stage_is_an_error_and_a_cancelled_one_is_not(exported: Exported):
    with trace() as seen:
        with pytest.raises(ValueError, match="bad"), span("failing"):
            raise ValueError("bad")
        with pytest.raises(KeyboardInterrupt), span("stopped"):
            raise KeyboardInterrupt
    found = exported.of(seen)
    assert found["failing"].status.status_code is otel.StatusCode.ERROR
    assert found["failing"].status.description == "ValueError: bad"
    assert attributes(found["failing"])["error.type"] == "ValueError"
    assert found["stopped"].status.status_code is otel.StatusCode.UNSET
    assert attributes(found["stopped"])["lionagi.status"] == "cancelled"


async def test_an_early_return_is_an_event_with_its_reason(exported: Exported, road: Road):
    seen = await traced(road.branch(asks("Oslo"), tools=[weather]), invoke_actions=False)
    event = exported.of(seen)["validate"].events[0]
    assert event.name == "early return"
    assert dict(event.attributes or {}) == {"lionagi.reason": "actions not run: invoke_actions=False"}


async def test_nothing_that_was_said_is_exported_unasked(exported: Exported, road: Road):
    exported.of(await traced(road.branch(asks("Oslo"), tools=[weather])))
    written = [each.to_json() for each in exported.memory.get_finished_spans()]
    assert written
    assert not any("SECRET-QUESTION" in each or "sunny" in each for each in written)


async def test_what_was_said_is_exported_when_asked_for(exported: Exported, road: Road):
    branch = road.branch(asks("Oslo"), tools=[weather])
    found = exported.of(await traced(branch), content=True)
    chat = attributes(found[f"chat {branch.chat_model.model_name}"])
    asked = json.loads(chat["gen_ai.input.messages"])[-1]
    assert asked["role"] == "user"
    assert "SECRET-QUESTION" in asked["parts"][0]["content"]
    answer = json.loads(chat["gen_ai.output.messages"])[0]
    assert (answer["role"], answer["finish_reason"]) == ("assistant", "stop")
    assert json.loads(answer["parts"][0]["content"])["name"] == "Oslo"
    tool = attributes(found["execute_tool weather"])
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"city": "Oslo"}
    assert json.loads(tool["gen_ai.tool.call.result"]) == "sunny in Oslo"


async def test_an_answer_without_text_is_exported_too(exported: Exported, api_road: Road):
    branch = api_road.branch(tool_call("weather", city="Oslo"), text("done"), tools=[weather])
    found = exported.of(await traced(branch), content=True)
    answer = json.loads(attributes(found[f"chat {branch.chat_model.model_name}"])["gen_ai.output.messages"])[0]
    assert answer["parts"] == [{"type": "text", "content": ""}]


def test_without_the_packages_the_error_names_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtraError, match="opentelemetry-api opentelemetry-sdk"):
        Trace().to_otel()
