from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from support.openai_server import OpenAIServer, structured

from lionagi._errors import ExecutionError, ScriptExhaustedError
from lionagi.ln.clock import ManualClock
from lionagi.ln.trace import Span, trace
from lionagi.service.connections.registry import EndpointRegistry
from lionagi.service.imodel import iModel
from lionagi.session.branch import Branch
from lionagi.testing._branch import TestBranch, scripted_imodel
from lionagi.testing._endpoint import ScriptedEndpoint
from lionagi.testing._record import record
from lionagi.testing._script import ScriptModel


class Report(BaseModel):
    title: str
    count: int


DATA = {"title": "t", "count": 3}
STRUCTURED = {"type": "structured", "data": DATA}
TEXT = {"type": "text", "content": "hello"}


async def add(left: int, right: int) -> int:
    """Add two numbers."""
    return left + right


@pytest.mark.record("0052-D4-27")
async def test_a_scripted_imodel_has_its_model_name_and_takes_imodel_keywords() -> None:
    clock = ManualClock()
    model = scripted_imodel([TEXT], provider_metadata={"k": 1}, clock=clock)
    assert type(model) is iModel
    assert type(model.endpoint) is ScriptedEndpoint
    assert (model.model_name, model.provider_metadata, model.clock) == ("scripted-test", {"k": 1}, clock)
    assert scripted_imodel([], model="other").model_name == "other"


@pytest.mark.record("0052-D5-06")
def test_a_scripted_imodel_is_looked_up_in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str]] = []
    match = EndpointRegistry.match

    def spy(provider: str, endpoint: str = "", **kwargs: Any) -> Any:
        seen.append((provider, endpoint))
        return match(provider, endpoint, **kwargs)

    monkeypatch.setattr(EndpointRegistry, "match", spy)
    scripted_imodel([TEXT])
    assert seen == [("scripted", "chat")]


@pytest.mark.record("0052-D4-28", "0052-D4-32")
async def test_a_branch_is_a_plain_branch_with_the_documented_defaults() -> None:
    branch = TestBranch.from_script([TEXT])
    assert type(branch) is Branch
    assert (branch.name, branch.user) == ("TestBranch", "tester")
    assert branch.chat_model is branch.parse_model
    assert branch.chat_model.model_name == "scripted-test"
    assert type(branch.chat_model.endpoint) is ScriptedEndpoint


@pytest.mark.record("0052-D4-28")
async def test_options_take_effect_on_the_branch() -> None:
    branch = TestBranch.from_script(
        [TEXT], model="m", name="n", user="u", tools=[add], system="be brief", metadata={"k": 1}
    )
    await branch.chat("hi")
    assert (branch.name, branch.user, branch.metadata["k"]) == ("n", "u", 1)
    assert list(branch.tools) == ["add"]
    (call,) = TestBranch.calls(branch)
    assert call.payload["model"] == "m"
    assert "be brief" in (call.system_message or "")


@pytest.mark.record("0052-D4-29")
async def test_every_factory_answers_as_from_script_does(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [{"type": "text", "content": "a"}, {"type": "text", "content": "b"}]
    (tmp_path / "s.json").write_text(json.dumps({"responses": entries}))
    (tmp_path / "s.yaml").write_text("responses:\n- {type: text, content: a}\n- {type: text, content: b}\n")
    branches = [
        TestBranch.from_script(entries, name="x"),
        TestBranch.from_script(ScriptModel.from_responses([*entries]), name="x"),
        TestBranch.from_responses([*entries], name="x"),
        TestBranch.from_text(["a", "b"], name="x"),
        TestBranch.from_yaml(tmp_path / "s.yaml", name="x"),
        TestBranch.from_json(str(tmp_path / "s.json"), name="x"),
    ]
    for branch in branches:
        assert [await branch.chat("hi"), await branch.chat("hi")] == ["a", "b"]
        assert branch.name == "x"
    assert await TestBranch.from_text("only").chat("hi") == "only"


@pytest.mark.record("0052-D4-30")
async def test_calls_and_endpoint_are_reached_through_the_branch() -> None:
    branch = TestBranch.from_text(["a", "b"])
    await branch.chat("one")
    await branch.chat("two")
    assert TestBranch.scripted(branch) is branch.chat_model.endpoint
    assert len(TestBranch.calls(branch)) == 2
    other = Branch(chat_model=iModel("openai", model="m", api_key="k"))
    for look in (TestBranch.scripted, TestBranch.calls):
        with pytest.raises(TypeError, match="not ScriptedEndpoint"):
            look(other)
    with pytest.raises(TypeError, match="not ScriptedEndpoint"):
        TestBranch.attach_script(other, [])


@pytest.mark.record("0052-D4-31")
async def test_an_attached_script_answers_the_next_call() -> None:
    branch = TestBranch.from_text(["a", "b"])
    await branch.chat("hi")
    TestBranch.attach_script(branch, [{"type": "text", "content": "new"}])
    assert await branch.chat("hi") == "new"
    assert len(TestBranch.calls(branch)) == 2


async def test_a_script_given_to_two_branches_is_served_by_each_from_its_start() -> None:
    script = ScriptModel.from_responses([{"type": "text", "content": "a"}])
    for _ in range(2):
        assert await TestBranch.from_script(script).chat("hi") == "a"


async def test_a_scripted_delay_does_not_wait() -> None:
    branch = TestBranch.from_responses([{"type": "error", "delay_ms": 3_600_000}])
    started = time.monotonic()
    with pytest.raises(ExecutionError, match="API call failed: scripted error"):
        await branch.chat("hi")
    assert time.monotonic() - started < 5


# --- every verb


async def by_chat(branch: Branch) -> Any:
    return json.loads(await branch.chat("go"))


async def by_communicate(branch: Branch) -> Any:
    return (await branch.communicate("go", response_format=Report)).model_dump()


async def by_operate(branch: Branch) -> Any:
    return (await branch.operate(instruction="go", response_format=Report)).model_dump()


async def by_parse(branch: Branch) -> Any:
    return (await branch.parse("three of t", response_format=Report)).model_dump()


async def by_run(branch: Branch) -> Any:
    messages = [message async for message in branch.run("go")]
    return json.loads(messages[-1].rendered)


VERBS: list[Callable[[Branch], Any]] = [by_chat, by_communicate, by_operate, by_parse, by_run]


@pytest.mark.record("DEC-12-1", "0052-D5-12")
@pytest.mark.parametrize("verb", VERBS)
async def test_a_structured_entry_gives_the_same_data_through_every_verb(verb: Callable[[Branch], Any]) -> None:
    assert await verb(TestBranch.from_responses([STRUCTURED])) == DATA


@pytest.mark.record("DEC-12-2")
async def test_a_result_chunk_after_text_adds_nothing() -> None:
    branch = TestBranch.from_text("hello")
    assert await branch.operate(instruction="go") == "hello"


@pytest.mark.record("DEC-12-3")
async def test_a_tool_call_entry_runs_its_tool_once() -> None:
    ran: list[tuple[int, int]] = []

    async def add_up(left: int, right: int) -> int:
        """Add two numbers."""
        ran.append((left, right))
        return left + right

    branch = TestBranch.from_responses(
        [{"type": "tool_call", "name": "add_up", "arguments": {"left": 1, "right": 2}}], tools=[add_up]
    )
    result = await branch.operate(instruction="go", actions=True)
    assert ran == [(1, 2)]
    assert [response.output for response in result.action_responses] == [3]


@pytest.mark.record("DEC-13-1")
@pytest.mark.parametrize("verb", VERBS)
async def test_an_exhausted_script_is_loud_in_every_verb(verb: Callable[[Branch], Any]) -> None:
    script = ScriptModel.from_responses([{**TEXT, "when": {"prompt_contains": "never asked"}}])
    branch = TestBranch.from_script(script)
    with pytest.raises(ScriptExhaustedError) as caught:
        await verb(branch)
    with pytest.raises(ScriptExhaustedError) as direct:
        script.next({"messages": [{"role": "user", "content": "?"}]}, 0)
    prompt = re.search("last user message=(.*); 1 conditional", str(caught.value), re.DOTALL)
    assert prompt is not None
    assert str(caught.value) == str(direct.value).replace("'?'", prompt[1])
    assert str(caught.value).startswith("script exhausted at call_index=0; only 0 positional entries available")
    assert caught.value.closest == 0


@pytest.mark.record("DEC-02-13")
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb is not by_parse])
async def test_a_system_message_is_the_first_message_of_the_payload(verb: Callable[[Branch], Any]) -> None:
    branch = TestBranch.from_responses([STRUCTURED], system="be brief")
    await verb(branch)
    (call,) = TestBranch.calls(branch)
    assert call.payload["messages"][0] == {"role": "system", "content": "be brief"}
    assert call.system_message == "be brief"


@pytest.mark.record("DEC-13-2")
@pytest.mark.parametrize("policy", ["return_value", "return_none", "raise"])
async def test_a_script_exhausted_while_reformatting_leaves_it_to_the_policy(policy: Any) -> None:
    branch = TestBranch.from_text("no data here")
    asked = branch.operate(instruction="go", response_format=Report, handle_validation=policy)
    if policy == "raise":
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            await asked
        assert not isinstance(caught.value, ScriptExhaustedError)
    else:
        assert await asked == ("no data here" if policy == "return_value" else None)


# --- replay takes the recorded road


def shape(span: Span) -> tuple[str, list[Any]]:
    return span.name, [shape(child) for child in span.children]


def log_shape(branch: Branch) -> list[tuple[Any, ...]]:
    names = ("kind", "provider", "model", "endpoint", "endpoint_kind", "streamed", "status", "usage", "finish_reason")
    return [tuple(log.content.get(name) for name in (*names, "chunks", "chars")) for log in branch.logs]


@pytest.mark.record("DEC-42-1")
@pytest.mark.parametrize("kind", ["api", "agentic"])
async def test_a_replay_takes_the_road_of_the_live_call(
    openai_server: OpenAIServer, server_model: Callable[..., iModel], tmp_path: Path, kind: str
) -> None:
    openai_server.script(structured(DATA))
    path = tmp_path / "r.yaml"

    async def turn(model: iModel) -> tuple[Any, Any, Any]:
        branch = Branch(chat_model=model, system="be brief")
        with trace() as seen:
            result = await branch.operate(instruction="go", response_format=Report)
        return result.model_dump(), [shape(span) for span in seen.spans], log_shape(branch)

    with record(path):
        live = await turn(server_model() if kind == "api" else scripted_imodel([STRUCTURED]))
    named = iModel("openai/other" if kind == "agentic" else "local", replay=path)
    assert await turn(named) == live
    assert live[0] == DATA
    assert live[2][0][4] == kind


async def test_concurrent_turns_on_one_script_each_get_their_answer() -> None:
    branch = TestBranch.from_responses(
        [{**TEXT, "content": name, "when": {"prompt_contains": f"call {name}"}} for name in ("ann", "bob", "cy")]
    )
    answers = await asyncio.gather(*(branch.communicate(f"call {name}") for name in ("cy", "bob", "ann")))
    assert answers == ["cy", "bob", "ann"]
