"""From a recorded call to its replay: the file, the identity, the answers, and what happens when they do not fit."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.openai_server import Faults, OpenAIServer, Reply, structured, text, tool_call

from lionagi._errors import ProviderQuotaError, ScriptExhaustedError, StaleRecordingError
from lionagi.ln.clock import ManualClock, NoWaitClock
from lionagi.ln.yamls import load_yaml
from lionagi.service.api_calling import APICalling
from lionagi.service.imodel import iModel
from lionagi.service.types import StreamChunk
from lionagi.testing._endpoint import ScriptedEndpoint
from lionagi.testing._record import record
from lionagi.testing._recording import rewind
from lionagi.testing._script import ScriptModel

ServerModel = Callable[..., iModel]


def ask(prompt: str = "hi", **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "system", "content": "brief"}, {"role": "user", "content": prompt}], **more}


async def streamed(model: iModel, prompt: str = "hi", **more: Any) -> list[StreamChunk]:
    return [chunk async for chunk in model.stream(**ask(prompt, **more))]


def scripted(*entries: dict[str, Any]) -> iModel:
    return iModel(provider="scripted", model="m", script=list(entries), clock=NoWaitClock())


def facts(call: APICalling) -> tuple[Any, ...]:
    answer = call.answer
    return answer.text, answer.tool_calls, answer.usage, answer.finish_reason, answer.refusal


def shown(chunks: list[StreamChunk]) -> list[tuple[Any, ...]]:
    return [
        (
            c.type,
            c.content,
            c.is_delta,
            c.metadata.get("done"),
            c.metadata.get("usage"),
            c.metadata.get("finish_reason"),
        )
        for c in chunks
    ]


REPLIES: dict[str, Reply] = {
    "text": text("Hello there, you.", pieces=["Hel", "lo there", ", you."]),
    "structured": structured({"a": [1, 2]}),
    "one tool call": tool_call("look_up", {"key": "x"}),
    "broken arguments": tool_call("look_up", '{"key": '),
    "two tool calls": Reply(
        text="Looking.",
        tool_calls=[
            {"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": f'{{"n": {n}}}'}} for n in (1, 2)
        ],
    ),
    "refusal": Reply(refusal="I would rather not."),
    "cut off": text("Hello th", finish_reason="length"),
    "no usage": text("Hi.", usage=None),
}


@pytest.mark.record("DEC-42-2")
@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize("stream", [False, True])
async def test_an_api_answer_is_replayed_as_it_came(
    openai_server: OpenAIServer, server_model: ServerModel, tmp_path: Path, name: str, stream: bool
) -> None:
    openai_server.script(REPLIES[name])
    live, path = server_model(), tmp_path / "r.yaml"
    async with record(path):
        before = shown(await streamed(live)) if stream else facts(await live.invoke(**ask()))
    again = iModel("scripted", model="whatever", replay=path)
    after = shown(await streamed(again)) if stream else facts(await again.invoke(**ask()))
    if name == "no usage":
        assert before[:1] == after[:1]
    else:
        assert after == before
    assert (again.provider, again.model_name, again.is_cli) == ("openai", "test-model", False)
    assert again.capabilities == live.capabilities
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize("live_stream", [False, True])
async def test_an_answer_recorded_one_way_is_served_the_other_way(
    openai_server: OpenAIServer, server_model: ServerModel, tmp_path: Path, live_stream: bool
) -> None:
    live, path = server_model(), tmp_path / "r.yaml"
    with record(path):
        _ = await streamed(live) if live_stream else await live.invoke(**ask())
    again = iModel("openai", model="test-model", replay=path)
    if live_stream:
        assert (await again.invoke(**ask())).answer.text == "Hello there."
    else:
        chunks = await streamed(again)
        assert [(chunk.type, chunk.content) for chunk in chunks] == [("text", "Hello there."), ("result", None)]


@pytest.mark.record("DEC-42-3")
async def test_the_file_names_the_model_and_what_was_asked(
    openai_server: OpenAIServer, server_model: ServerModel, tmp_path: Path
) -> None:
    openai_server.script(text("Hello you", pieces=["Hel", "lo", " you"]), text("Bye."))
    path, live = tmp_path / "r.yaml", server_model(clock=ManualClock(1_800_000_000.0))
    with record(path):
        await streamed(live, "hello?")
        await live.invoke(**ask("bye?"))
    data: Any = load_yaml(path.read_text())
    assert data["version"] == 2
    block = data["recording"]
    assert (block["provider"], block["endpoint"], block["kind"]) == ("openai", "chat/completions", "api")
    assert (block["model"], block["when"]) == ("test-model", "2027-01-15T08:00:00+00:00")
    assert block["capabilities"]["structured_output"] is True
    first, second = data["responses"]
    assert (first["type"], first["content"], second["content"]) == ("text", "Hello you", "Bye.")
    about = first["recording"]
    assert re.fullmatch("[0-9a-f]{32}", about["fingerprint"])
    assert about["prompt"].endswith("brief\n\n[user]\nhello?")
    assert about["usage"]["total_tokens"] == 18
    assert (about["finish_reason"], about["chunks"]) == ("stop", [3, 2, 4])
    assert "chunks" not in second["recording"]
    assert ScriptModel.from_yaml(path).version == 2


async def test_no_credential_is_written(openai_server: OpenAIServer, server_model: ServerModel, tmp_path: Path) -> None:
    openai_server.script(text("your key is sk-test-canary-key"))
    path = tmp_path / "r.yaml"
    with record(path):
        await server_model().invoke(**ask("is sk-test-canary-key my key?"))
    assert "canary" not in path.read_text()
    assert "your key is ***" in path.read_text()


async def test_calls_are_written_in_the_order_of_their_start(
    openai_server: OpenAIServer, server_model: ServerModel, tmp_path: Path
) -> None:
    openai_server.script(text("slow", delay=0.2), text("quick"))
    path, live = tmp_path / "r.yaml", server_model()

    async def later() -> None:
        await asyncio.sleep(0.05)
        await live.invoke(**ask("second"))

    with record(path):
        await asyncio.gather(live.invoke(**ask("first")), later())
    assert [entry.model_dump()["content"] for entry in ScriptModel.from_yaml(path).responses] == ["slow", "quick"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_is_replayed_as_the_same_failure_without_retries(
    openai_server: OpenAIServer, server_model: ServerModel, tmp_path: Path, stream: bool
) -> None:
    openai_server.script(*[Faults.status(429)] * 3)
    path, live = tmp_path / "r.yaml", server_model(clock=NoWaitClock())

    async def failing(model: iModel) -> BaseException:
        if not stream:
            error = (await model.invoke(**ask())).execution.error
            assert isinstance(error, BaseException)
            return error
        with pytest.raises(ProviderQuotaError) as caught:
            await streamed(model)
        return caught.value

    with record(path):
        before = await failing(live)
    after = await failing(iModel("openai", model="test-model", replay=path))
    assert type(after) is type(before) is ProviderQuotaError
    assert str(after) == str(before)


@pytest.mark.record("DEC-42-1")
@pytest.mark.parametrize("stream", [False, True])
async def test_an_agentic_model_is_replayed_as_an_agentic_one(tmp_path: Path, stream: bool) -> None:
    entries: list[dict[str, Any]] = [
        {"type": "text", "content": "hello"},
        {"type": "structured", "data": {"a": [1]}},
        {"type": "tool_call", "name": "f", "arguments": {"n": 1}, "id": "c1"},
        {
            "type": "stream",
            "chunks": [
                {"type": "thinking", "content": "hm"},
                {"type": "text", "content": "one "},
                {"type": "tool_use", "tool_name": "f", "tool_id": "1", "tool_input": {"a": 1}},
                {"type": "tool_result", "tool_id": "1", "tool_output": [2]},
                {"type": "text", "content": "two"},
            ],
        },
    ]
    path, live = tmp_path / "r.yaml", scripted(*entries)

    async def all_of(model: iModel) -> list[Any]:
        if stream:
            return [[plain(chunk) for chunk in await streamed(model)] for _ in entries]
        return [facts(await model.invoke(**ask())) for _ in entries]

    def plain(chunk: StreamChunk) -> dict[str, Any]:
        made = chunk.to_dict()
        made.pop("content", None) if chunk.type == "result" else None
        made.pop("metadata", None)
        return made

    with record(path):
        before = await all_of(live)
    again = iModel("openai/other", replay=path)
    assert again.is_cli
    assert (again.provider, again.model_name) == ("scripted", "m")
    assert await all_of(again) == before


@pytest.mark.record("DEC-42-2")
async def test_the_environment_variable_switches_replay_on(
    openai_server: OpenAIServer, server_model: ServerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.yaml"
    with record(path):
        await server_model().invoke(**ask())
    monkeypatch.setenv("LIONAGI_REPLAY", str(path))
    assert (await iModel("local").invoke(**ask())).answer.text == "Hello there."
    assert len(openai_server.requests) == 1


async def recorded(path: Path, **answers: str) -> None:
    with record(path):
        for name, answer in answers.items():
            await scripted({"type": "text", "content": answer}).invoke(**ask(f"the question of {name}"))


@pytest.mark.record("DEC-42-6")
async def test_concurrent_calls_get_the_answer_of_their_prompt(tmp_path: Path) -> None:
    path, names = tmp_path / "r.yaml", ["ann", "bob", "cy"]
    await recorded(path, **{name: f"to {name}" for name in names})
    model = iModel("openai", model="m", replay=path)
    calls = await asyncio.gather(*(model.invoke(**ask(f"the question of {name}")) for name in reversed(names)))
    assert [call.answer.text for call in calls] == ["to cy", "to bob", "to ann"]


@pytest.mark.record("DEC-42-5")
async def test_models_of_one_identity_share_a_cursor_and_others_have_their_own(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    with record(path):
        for model, answer in (("m", "m1"), ("m", "m2"), ("n", "n1")):
            live = iModel(provider="scripted", model=model, script=[{"type": "text", "content": answer}])
            await live.invoke(**ask())
    first, second, other = (iModel("openai", model=name, replay=path) for name in ("m", "m", "n"))
    assert (await first.invoke(**ask())).answer.text == "m1"
    assert (await second.copy().invoke(**ask())).answer.text == "m2"
    assert (await other.invoke(**ask())).answer.text == "n1"


async def test_a_changed_prompt_is_stale_and_shown_against_the_closest(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    await recorded(path, ann="1", bob="2")
    call = await iModel("openai", model="m", replay=path).invoke(**ask("the question of Bob"))
    error = call.execution.error
    assert isinstance(error, StaleRecordingError)
    assert "2 answers to other prompts are left" in str(error)
    assert "-the question of bob\n+the question of Bob" in str(error)


async def test_a_question_asked_once_more_than_recorded_says_so(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    await recorded(path, ann="1", bob="2")
    model = iModel("openai", model="m", replay=path)
    await model.invoke(**ask("the question of ann"))
    error = (await model.invoke(**ask("the question of ann"))).execution.error
    assert isinstance(error, StaleRecordingError)
    assert "its recorded answers were served before" in str(error)


async def test_a_recording_that_is_used_up_says_so_and_can_be_rewound(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    await recorded(path, ann="1")
    model = iModel("openai", model="m", replay=path)
    await model.invoke(**ask("the question of ann"))
    error = (await model.invoke(**ask("anything"))).execution.error
    assert isinstance(error, ScriptExhaustedError)
    assert "is used up: all 1 answers of scripted/chat/completions/m were served" in str(error)
    rewind(path)
    assert (await model.invoke(**ask("the question of ann"))).answer.text == "1"


async def test_an_entry_written_by_hand_answers_any_prompt(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "version: 2\nrecording: {provider: openai, endpoint: chat/completions, kind: api, model: m}\n"
        "responses:\n- {type: text, content: by hand}\n"
    )
    model = iModel("local", replay=path)
    assert (await model.invoke(**ask("whatever"))).answer.text == "by hand"
    assert model.capabilities.structured_output


@pytest.mark.parametrize("stream", [False, True])
async def test_a_replayed_call_takes_its_recorded_time_and_nobody_waits(tmp_path: Path, stream: bool) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "version: 2\nrecording: {provider: openai, endpoint: chat/completions, kind: api, model: m}\nresponses:\n"
        "- {type: text, content: slow, recording: {duration: 3600.0}}\n- {type: text, content: quick}\n"
    )
    model = iModel("openai", model="m", replay=path)
    slow, quick = model.create_api_calling(**ask("one")), model.create_api_calling(**ask("two"))
    began = time.monotonic()
    for call in (slow, quick):
        _ = [chunk async for chunk in call.stream()] if stream else await call.invoke()
    assert 3600 <= (slow.duration or 0) < 3610
    assert (quick.duration or 0) < 10
    assert (quick.started_at or 0) - (slow.started_at or 0) >= 3600
    assert time.monotonic() - began < 10


async def test_a_replay_on_a_clock_of_the_callers_leaves_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "version: 2\nrecording: {provider: openai, endpoint: chat/completions, kind: api, model: m}\n"
        "responses:\n- {type: text, content: slow, recording: {duration: 3600.0}}\n"
    )
    clock = ManualClock(100.0)
    call = await iModel("openai", model="m", replay=path, clock=clock).invoke(**ask())
    assert (call.started_at, call.duration, clock.time()) == (100.0, 0.0, 100.0)


def test_a_script_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("responses:\n- {type: text, content: a}\n")
    with pytest.raises(ValueError, match="is a script and no recording"):
        iModel("openai", model="m", replay=path)


async def test_a_file_that_was_recorded_again_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    await recorded(path, ann="old")
    question = ask("the question of ann")
    assert (await iModel("x", model="m", replay=path).invoke(**question)).answer.text == "old"
    await recorded(path, ann="newer")
    assert (await iModel("x", model="m", replay=path).invoke(**question)).answer.text == "newer"


def test_a_block_without_a_call_writes_nothing_and_warns(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="nothing was recorded"), record(tmp_path / "r.yaml"):
        pass
    assert not (tmp_path / "r.yaml").exists()


async def test_a_failing_block_keeps_what_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"

    async def fail() -> None:
        async with record(path):
            await scripted({"type": "text", "content": "a"}).invoke(**ask())
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        await fail()
    assert len(ScriptModel.from_yaml(path).responses) == 1


async def test_nothing_is_kept_after_the_block(tmp_path: Path) -> None:
    path, live = tmp_path / "r.yaml", scripted(*[{"type": "text", "content": "a"}] * 2)
    with record(path):
        await live.invoke(**ask())
    await live.invoke(**ask())
    assert len(ScriptModel.from_yaml(path).responses) == 1


async def test_a_recording_can_be_served_as_a_script_too(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    await recorded(path, ann="1")
    served = ScriptedEndpoint(script=path)
    assert served.decode(await served.call(ask("anything"))).text == "1"
