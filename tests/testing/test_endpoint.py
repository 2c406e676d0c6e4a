from __future__ import annotations

import asyncio
import json
import logging
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from lionagi._errors import ScriptExhaustedError
from lionagi.ln.clock import ManualClock
from lionagi.service.connections.agentic import AgenticEndpoint
from lionagi.service.connections.registry import EndpointRegistry, EndpointType, match_endpoint
from lionagi.service.imodel import iModel
from lionagi.service.types import StreamChunk
from lionagi.testing._endpoint import ScriptedEndpoint
from lionagi.testing._script import ScriptModel

ENTRIES: dict[str, dict[str, Any]] = {
    "text": {"type": "text", "content": "hello"},
    "structured": {"type": "structured", "data": {"a": [1, None]}},
    "tool_call": {"type": "tool_call", "name": "look_up", "arguments": {"key": "x"}},
    "stream": {
        "type": "stream",
        "chunks": [
            {"type": "thinking", "content": "hm"},
            {"type": "text", "content": "one ", "is_delta": True},
            {"type": "tool_use", "tool_name": "f", "tool_id": "1", "tool_input": {"a": 1}, "metadata": {"k": "v"}},
            {"type": "tool_result", "tool_id": "1", "tool_output": [2], "is_error": True},
            {"type": "text", "content": "two"},
            {"type": "result", "metadata": {"done": True}},
        ],
    },
}
ERRORS = {"rate_limit": 429, "server_error": 500, "bad_request": 400}


def endpoint(*entries: dict[str, Any], **kwargs: Any) -> ScriptedEndpoint:
    return ScriptedEndpoint(None, script=list(entries), model="m", **kwargs)


def ask(prompt: str = "hi") -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}]}


async def collect(served: ScriptedEndpoint, prompt: str = "hi") -> list[StreamChunk]:
    return [chunk async for chunk in served.stream(ask(prompt))]


# --- discovery


@pytest.mark.record("0052-D5-01")
def test_the_registry_entry_is_the_documented_one() -> None:
    entries = [entry for entry in EndpointRegistry.list_providers() if entry["provider"] == "scripted"]
    assert len(entries) == 1
    entry = entries[0]
    assert entry["endpoint"] == "chat/completions"
    assert entry["aliases"] == ["chat", "query_cli", "cli"]
    assert entry["type"] is EndpointType.AGENTIC
    assert entry["class"] is ScriptedEndpoint
    assert issubclass(ScriptedEndpoint, AgenticEndpoint)
    assert ScriptedEndpoint.is_cli is True
    config = endpoint().config
    assert (config.base_url, config.auth_type, config.name) == ("internal", "bearer", "scripted_chat/completions")


@pytest.mark.record("0052-D5-03")
@pytest.mark.parametrize("name", ["chat/completions", "chat", "query_cli", "cli"])
def test_every_name_of_the_endpoint_finds_it(name: str) -> None:
    assert type(match_endpoint("scripted", name, script=[])) is ScriptedEndpoint


@pytest.mark.record("0052-D5-04")
def test_a_fresh_interpreter_finds_scripted_and_loads_neither_session_nor_operations() -> None:
    code = (
        "import sys\n"
        "from lionagi.service.connections.registry import match_endpoint\n"
        "assert not any(name.startswith('lionagi.testing') for name in sys.modules)\n"
        "print(type(match_endpoint('scripted', 'chat', script=[])).__name__)\n"
        "loaded = [n for n in sys.modules if n.startswith(('lionagi.session', 'lionagi.operations', 'aiohttp'))]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("ScriptedEndpoint", "")


@pytest.mark.record("0052-D5-05")
@pytest.mark.parametrize("broken", ["lionagi.testing._endpoint", "lionagi.providers.openai_compatible"])
def test_a_provider_module_that_fails_to_import_costs_only_its_own_provider(broken: str) -> None:
    code = (
        "import sys\n"
        f"sys.modules[{broken!r}] = None\n"
        "from lionagi.service.connections.registry import EndpointRegistry\n"
        "print(sorted({entry['provider'] for entry in EndpointRegistry.list_providers()}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert ("'scripted'" in done.stdout) is ("testing" not in broken)
    assert ("openai_compatible" in done.stdout) is ("testing" in broken)


@pytest.mark.record("0052-D6-02")
def test_queue_and_concurrency_defaults_are_those_of_agentic_endpoints() -> None:
    assert ScriptedEndpoint.DEFAULT_QUEUE_CAPACITY == AgenticEndpoint.DEFAULT_QUEUE_CAPACITY == 10
    assert ScriptedEndpoint.DEFAULT_CONCURRENCY_LIMIT == AgenticEndpoint.DEFAULT_CONCURRENCY_LIMIT == 3


# --- construction


@pytest.mark.record("0052-D5-02")
async def test_the_endpoint_is_usable_by_its_documented_names() -> None:
    served = ScriptedEndpoint(config=None)
    served.attach_script([ENTRIES["text"], ENTRIES["text"]])
    assert isinstance(await served._call({"messages": []}, {}), dict)  # pyright: ignore[reportPrivateUsage]
    chunks = [chunk async for chunk in served.stream({"messages": []}, extra_headers=None)]
    assert all(isinstance(chunk, StreamChunk) for chunk in chunks)
    served.clear_calls()
    assert served.calls == []


@pytest.mark.record("0052-D5-07")
@pytest.mark.parametrize("how", ["keyword", "mapping"])
async def test_the_script_is_no_part_of_config_or_payload(how: str) -> None:
    script = [ENTRIES["text"], ENTRIES["text"]]
    if how == "keyword":
        served = endpoint(*script)
    else:
        served = ScriptedEndpoint({"provider": "scripted", "script": script, "model": "m"})
    await served.call(ask())
    await collect(served)
    assert "script" not in served.config.model_dump()
    assert "script" not in served.config.kwargs
    assert [sorted(call.payload) for call in served.calls] == [["messages", "model"], ["messages", "model", "stream"]]


@pytest.mark.record("0052-D5-08")
async def test_the_environment_names_a_script_and_an_explicit_one_beats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.json").write_text(json.dumps([{"type": "text", "content": "from the file"}]))
    monkeypatch.setenv("LIONAGI_TEST_SCRIPT", str(tmp_path / "s.json"))
    by_file, explicit = ScriptedEndpoint(), endpoint(ENTRIES["text"])
    assert by_file.decode(await by_file.call(ask())).text == "from the file"
    assert explicit.decode(await explicit.call(ask())).text == "hello"


@pytest.mark.record("0052-D5-09")
async def test_no_key_is_needed_and_no_tokens_are_counted() -> None:
    served = endpoint(ENTRIES["text"])
    await served.call(ask())
    assert served.config.requires_tokens is False
    assert served.config.resolve_api_key() == "scripted-test-key"


@pytest.mark.record("0052-D5-10")
async def test_no_script_is_one_warning_and_an_exhausted_first_call(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        served = ScriptedEndpoint()
    assert [(record.name, "no script" in record.message) for record in caplog.records] == [
        ("lionagi.testing._endpoint", True)
    ]
    with pytest.raises(ScriptExhaustedError, match="call_index=0"):
        await served.call(ask())


@pytest.mark.record("0052-D5-10")
def test_an_explicit_empty_script_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ScriptedEndpoint(script=ScriptModel())
        ScriptedEndpoint(script=[]).clone()
    assert caplog.records == []


# --- unstreamed


@pytest.mark.record("0052-D5-11")
async def test_a_text_entry_is_a_chat_completion() -> None:
    response = await endpoint(ENTRIES["text"]).call(ask())
    assert response["object"] == "chat.completion"
    assert response["model"] == "m"
    assert response["id"].startswith("chatcmpl-scripted-")
    assert response["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
    ]
    assert set(response["usage"].values()) == {0}


@pytest.mark.record("0052-D5-12")
async def test_a_structured_entry_is_json_text() -> None:
    response = await endpoint(ENTRIES["structured"]).call(ask())
    assert json.loads(response["choices"][0]["message"]["content"]) == {"a": [1, None]}


@pytest.mark.record("0052-D5-13")
async def test_a_tool_call_entry_is_one_native_call() -> None:
    served = endpoint(ENTRIES["tool_call"], {**ENTRIES["tool_call"], "id": "given"})
    first, second = await served.call(ask()), await served.call(ask())
    call = first["choices"][0]["message"]["tool_calls"][0]
    assert first["choices"][0]["finish_reason"] == "tool_calls"
    assert first["choices"][0]["message"]["content"] is None
    assert (call["type"], call["function"]["name"]) == ("function", "look_up")
    assert json.loads(call["function"]["arguments"]) == {"key": "x"}
    assert call["id"].startswith("call_")
    assert [each["id"] for each in second["choices"][0]["message"]["tool_calls"]] == ["given"]


@pytest.mark.record("0052-D5-14")
async def test_a_stream_entry_unstreamed_is_its_text_joined() -> None:
    response = await endpoint(ENTRIES["stream"]).call(ask())
    assert response["choices"][0]["message"] == {"role": "assistant", "content": "one two"}


# --- streamed


@pytest.mark.record("0052-D5-15")
async def test_a_stream_entry_yields_a_chunk_per_spec() -> None:
    chunks = await collect(endpoint(ENTRIES["stream"]))
    assert [chunk.to_dict() for chunk in chunks] == ENTRIES["stream"]["chunks"]


@pytest.mark.record("0052-D5-16")
async def test_a_text_entry_streams_a_delta_and_a_result() -> None:
    first, last = await collect(endpoint(ENTRIES["text"]))
    assert (first.type, first.content, first.is_delta) == ("text", "hello", True)
    assert (last.type, last.content, last.metadata["done"]) == ("result", None, True)


@pytest.mark.record("0052-D5-17")
@pytest.mark.parametrize("kind", ["tool_call", "structured"])
async def test_other_entries_stream_one_result_with_the_unstreamed_answer(kind: str) -> None:
    served = endpoint(ENTRIES[kind])
    (chunk,) = await collect(served)
    assert (chunk.type, chunk.metadata["done"]) == ("result", True)
    assert json.loads(chunk.content or "") == chunk.metadata["raw"] == served.calls[0].response
    answer = served.decode(chunk.metadata["raw"])
    assert (bool(answer.tool_calls), bool(answer.text)) == (kind == "tool_call", kind == "structured")


# --- errors


@pytest.mark.record("0052-D5-18", "0052-D5-20", "DEC-14-1")
@pytest.mark.parametrize("kind", ERRORS)
async def test_http_errors_are_aiohttp_errors_with_both_names_of_the_status(kind: str) -> None:
    served = endpoint({"type": "error", "kind": kind, "message": "no luck"})
    with pytest.raises(aiohttp.ClientResponseError, match="no luck") as caught:
        await served.call(ask())
    assert caught.value.status == caught.value.status_code == ERRORS[kind]  # pyright: ignore[reportAttributeAccessIssue]
    assert [(call.response_type, call.response) for call in served.calls] == [("error", None)]


async def test_a_scripted_http_error_survives_pickling() -> None:
    with pytest.raises(aiohttp.ClientResponseError) as caught:
        await endpoint({"type": "error", "kind": "rate_limit", "message": "slow down"}).call(ask())
    twin = pickle.loads(pickle.dumps(caught.value))
    assert (twin.status, twin.status_code, twin.message) == (429, 429, "slow down")
    assert str(twin) == str(caught.value)


@pytest.mark.record("0052-D5-19", "0052-D5-20")
@pytest.mark.parametrize(("kind", "expected"), [("timeout", asyncio.TimeoutError), ("value_error", ValueError)])
async def test_other_errors_are_builtin_ones(kind: str, expected: type[Exception]) -> None:
    served = endpoint({"type": "error", "kind": kind, "message": "no luck"})
    with pytest.raises(expected, match="no luck") as caught:
        await served.call(ask())
    assert type(caught.value) is expected
    assert len(served.calls) == 1


@pytest.mark.record("0052-D5-21")
@pytest.mark.parametrize(
    ("kind", "expected"),
    [("rate_limit", aiohttp.ClientResponseError), ("timeout", TimeoutError), ("value_error", ValueError)],
)
async def test_a_streamed_error_is_a_chunk_and_then_the_exception(kind: str, expected: type[Exception]) -> None:
    served = endpoint({"type": "error", "kind": kind, "message": "no luck"})
    stream = served.stream(ask())
    chunk = await anext(stream)
    assert (chunk.type, chunk.content, chunk.is_error) == ("error", "no luck", True)
    assert len(served.calls) == 1
    with pytest.raises(expected, match="no luck"):
        await anext(stream)
    assert (served.calls[0].was_streamed, served.calls[0].closed_early) == (True, False)


@pytest.mark.record("0052-D6-03")
@pytest.mark.parametrize("delay_ms", [1, 1500, 86_400_000])
@pytest.mark.parametrize("streamed", [True, False])
async def test_an_error_waits_on_the_endpoints_clock_first(delay_ms: int, streamed: bool) -> None:
    served, clock = endpoint({"type": "error", "delay_ms": delay_ms}), ManualClock()
    served.clock = clock
    with pytest.raises(ValueError, match="scripted error"):
        await (collect(served) if streamed else served.call(ask()))
    assert clock.sleeps == [delay_ms / 1000]
    assert served.calls[0].duration == delay_ms / 1000


# --- records


@pytest.mark.record("0052-D5-22")
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_call_is_recorded_with_what_was_sent_and_served(streamed: bool) -> None:
    served = endpoint({**ENTRIES["text"], "when": {"prompt_contains": "HI"}})
    request = ask()
    await (collect(served) if streamed else served.call(request))
    (call,) = served.calls
    assert (call.index, call.response_type, call.was_streamed) == (0, "text", streamed)
    assert call.matched_by == "when:prompt_contains:'HI'"
    assert call.response["choices"][0]["message"]["content"] == "hello"
    assert call.last_user_message == "hi"


@pytest.mark.record("0052-D5-22")
async def test_the_record_is_a_top_level_copy_that_shares_the_messages() -> None:
    served = endpoint(ENTRIES["text"])
    payload, headers = served.create_payload(ask())
    await served.call(payload, skip_payload_creation=True, extra_headers=headers)
    messages = payload["messages"]
    payload["model"], headers["Content-Type"] = "changed", "changed"
    (call,) = served.calls
    assert (call.payload["model"], call.headers["Content-Type"]) == ("m", "application/json")
    assert call.payload["messages"] is messages


@pytest.mark.record("DEC-39-5")
async def test_the_index_of_the_matching_condition_is_recorded() -> None:
    served = endpoint(ENTRIES["text"], {**ENTRIES["text"], "when": {"call_index": 1}})
    await served.call(ask())
    await served.call(ask())
    assert [call.when_index for call in served.calls] == [None, 1]


@pytest.mark.record("DEC-21-1")
async def test_credentials_are_masked_and_names_are_kept() -> None:
    served = endpoint(ENTRIES["text"], api_key="sk-very-secret")
    await served.call(ask(), extra_headers={"x-api-key": "another-secret", "X-Trace": "7"})
    (call,) = served.calls
    assert sorted(call.headers) == ["Authorization", "Content-Type", "X-Trace", "x-api-key"]
    assert call.headers["X-Trace"] == "7"
    assert "secret" not in repr(call)


@pytest.mark.record("DEC-21-2")
async def test_start_and_duration_are_read_from_the_clock() -> None:
    served, clock = endpoint(ENTRIES["stream"]), ManualClock(100.0)
    served.clock = clock
    async for _ in served.stream(ask()):
        clock.advance(0.5)
    assert (served.calls[0].started_at, served.calls[0].duration) == (100.0, 3.0)


@pytest.mark.record("DEC-39-6")
async def test_a_stream_closed_early_is_recorded_as_such() -> None:
    served = endpoint(ENTRIES["stream"])
    stream = served.stream(ask())
    await anext(stream)
    await stream.aclose()
    (call,) = served.calls
    assert (call.closed_early, [chunk.type for chunk in call.response]) == (True, ["thinking"])


async def test_a_stream_read_to_its_end_is_not_closed_early() -> None:
    served = endpoint(ENTRIES["stream"], ENTRIES["text"])
    assert await collect(served) == served.calls[0].response
    await collect(served)
    assert [call.closed_early for call in served.calls] == [False, False]


@pytest.mark.record("0052-D5-23")
async def test_clearing_the_record_leaves_the_cursor() -> None:
    served = endpoint({"type": "text", "content": "a"}, {"type": "text", "content": "b"})
    await served.call(ask())
    served.clear_calls()
    assert served.calls == []
    assert served.decode(await served.call(ask())).text == "b"
    assert len(served.calls) == 1


@pytest.mark.record("0052-D5-24")
async def test_an_attached_script_is_served_from_its_start() -> None:
    script = ScriptModel.from_responses([{"type": "text", "content": "a"}, {"type": "text", "content": "b"}])
    script.next({"messages": []}, 0)
    served = endpoint(ENTRIES["text"])
    await served.call(ask())
    served.attach_script(script)
    assert [served.decode(await served.call(ask())).text for _ in range(2)] == ["a", "b"]
    assert len(served.calls) == 3


@pytest.mark.record("0052-D5-25", "0052-D5-26")
async def test_a_copied_model_starts_the_script_again_and_each_walks_on_its_own() -> None:
    model = iModel(provider="scripted", script=[{"type": "text", "content": "a"}, {"type": "text", "content": "b"}])
    assert (await model.invoke(**ask())).answer.text == "a"
    copy = model.copy()
    served, copied = model.endpoint, copy.endpoint
    assert isinstance(served, ScriptedEndpoint)
    assert isinstance(copied, ScriptedEndpoint)
    assert copied.calls == served.calls
    assert copied.calls is not served.calls
    assert (await copy.invoke(**ask())).answer.text == "a"
    assert (await model.invoke(**ask())).answer.text == "b"
    assert (await copy.invoke(**ask())).answer.text == "b"
    assert (len(served.calls), len(copied.calls)) == (2, 3)


@pytest.mark.record("0052-D5-27")
@pytest.mark.parametrize("kind", [*ENTRIES, "error"])
@pytest.mark.parametrize("streamed", [True, False])
async def test_every_entry_is_served_without_a_socket(kind: str, streamed: bool, blocked_sockets: None) -> None:
    if kind == "error":
        served = endpoint({"type": "error", "kind": "server_error"})
        with pytest.raises(aiohttp.ClientResponseError):
            await (collect(served) if streamed else served.call(ask()))
    else:
        served = endpoint(ENTRIES[kind])
        await (collect(served) if streamed else served.call(ask()))
    assert [call.response_type for call in served.calls] == [kind]


async def test_concurrent_calls_each_get_the_entry_of_their_prompt() -> None:
    served = endpoint(
        *({"type": "text", "content": f"to {name}", "when": {"prompt_contains": name}} for name in ("ann", "bob", "cy"))
    )
    answers = await asyncio.gather(*(served.call(ask(name)) for name in ("cy", "ann", "bob")))
    assert [served.decode(answer).text for answer in answers] == ["to cy", "to ann", "to bob"]
