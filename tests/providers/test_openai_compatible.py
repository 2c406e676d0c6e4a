from __future__ import annotations

import asyncio
import socket
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from support.openai_server import Faults, OpenAIServer, Reply, sse, structured, text, tool_call

from lionagi._errors import ConfigurationError
from lionagi.service.connections.registry import match_endpoint
from lionagi.service.imodel import iModel
from lionagi.service.types import Answer, StreamChunk, ToolCall

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}
Make = Callable[..., iModel]


async def both(model: iModel, **kwargs: Any) -> tuple[Answer, Answer]:
    """Ask once blocking and once streamed; the server must have an answer for each."""
    blocking = await model.invoke(**ASK, **kwargs)
    call = model.create_api_calling(**ASK, stream=True, **kwargs)
    async for _ in model.stream(call):
        pass
    return blocking.answer, call.answer


@pytest.mark.parametrize(
    "reply",
    [
        text("Grüße, 世界 🎈"),
        text("", pieces=[""]),
        structured({"a": [1, None]}),
        tool_call("add", {"a": 1, "b": 2}),
        tool_call("now", ""),
        Reply(text="text beside", tool_calls=tool_call("add", {"a": 1}).tool_calls),
        Reply(tool_calls=[*tool_call("a", {"x": 1}).tool_calls, *tool_call("b", {"y": 2}, id="call_2").tool_calls]),
        Reply(refusal="I will not"),
        text("cut", finish_reason="length"),
        text("no counts", usage=None),
    ],
)
async def test_a_streamed_answer_is_the_blocking_one(server_model: Make, openai_server: OpenAIServer, reply: Reply):
    openai_server.script(reply, reply)
    blocking, streamed = await both(server_model())
    assert [getattr(blocking, name) for name in ("text", "tool_calls", "usage", "finish_reason", "refusal")] == [
        getattr(streamed, name) for name in ("text", "tool_calls", "usage", "finish_reason", "refusal")
    ]


async def test_native_tool_calls_with_null_content_are_an_answer(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(tool_call("add", {"a": 1}, id="c9"))
    answer = (await server_model().invoke(**ASK)).answer
    assert (answer.text, answer.tool_calls) == ("", (ToolCall("add", {"a": 1}, "c9"),))


@pytest.mark.record("DEC-44-4")
async def test_a_refusal_is_reported_as_one(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(Reply(refusal="I will not"))
    assert (await server_model().invoke(**ASK)).answer.refusal == "I will not"


async def test_what_is_sent_is_the_payload_and_nothing_else(server_model: Make, openai_server: OpenAIServer):
    await server_model(temperature=0.5).invoke(**ASK, max_tokens=5, structure=object(), tool_timeout=3)
    (request,) = openai_server.requests
    assert request.payload == {"model": "test-model", "temperature": 0.5, "max_tokens": 5, **ASK}
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == "Bearer sk-test-canary-key"


async def test_openai_streams_ask_for_token_counts_and_a_generic_server_is_not_asked(openai_server: OpenAIServer):
    for provider in ("openai", "acme"):
        model = iModel(provider, openai_server.base_url, model="m", api_key="sk-canary-1234567890")
        async for _ in model.stream(**ASK):
            pass
    assert [payload.get("stream_options") for payload in openai_server.payloads] == [{"include_usage": True}, None]


async def test_token_counts_in_a_stream_can_be_switched_on(openai_server: OpenAIServer):
    model = iModel("acme", openai_server.base_url, model="m", stream_usage=True)
    async for _ in model.stream(**ASK):
        pass
    assert model.usage["total_tokens"] == 18


async def test_a_generic_server_gets_no_authorization_where_no_key_is_given(openai_server: OpenAIServer):
    await iModel("acme", openai_server.base_url, model="m").invoke(**ASK)
    assert "Authorization" not in openai_server.requests[0].headers


async def test_thinking_comes_as_thinking(server_model: Make, openai_server: OpenAIServer):
    delta = {"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]}
    reply = text("so").events("m", False)
    openai_server.script(Faults.stream([sse(delta), *reply]))
    chunks = [chunk async for chunk in server_model().stream(**ASK)]
    assert [(chunk.type, chunk.content) for chunk in chunks] == [("thinking", "hm"), ("text", "so"), ("result", None)]


async def test_text_chunks_carry_their_event(server_model: Make):
    first, *_ = [chunk async for chunk in server_model().stream(**ASK)]
    assert first == StreamChunk("text", content="Hello", is_delta=True, metadata=first.metadata)
    assert first.metadata["raw"]["choices"][0]["delta"] == {"content": "Hello"}


@pytest.mark.record("DEC-40-1")
async def test_loopback_addresses_can_be_called(server_model: Make):
    assert (await server_model().invoke(**ASK)).answer.text == "Hello there."


@pytest.mark.record("DEC-20-1")
async def test_P11_only_the_provider_is_contacted(
    server_model: Make, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
):
    reached: list[Any] = []
    connect = socket.socket.connect

    def spy(self: socket.socket, address: Any) -> Any:
        reached.append(address)
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", spy)
    looked_up: list[Any] = []
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kw: looked_up.append(args) or real(*args, **kw))
    openai_server.script(text("a"), text("b"))
    await both(server_model())
    assert {address[1] for address in reached if isinstance(address, tuple)} <= {openai_server.port}
    assert looked_up == []


@pytest.mark.record("DEC-02-8")
def test_the_schema_goes_as_response_format_and_says_whether_it_is_strict():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for provider in ("openai", "openai_compatible"):
        endpoint = match_endpoint(provider, "chat")
        wire = endpoint.schema_payload("A", schema)["response_format"]
        assert wire["type"] == "json_schema"
        assert wire["json_schema"].get("strict", False) is endpoint.capabilities.strict_schema


def test_tools_go_natively():
    assert match_endpoint("openai", "chat").tools_payload([{"type": "function"}]) == {"tools": [{"type": "function"}]}


async def test_a_missing_address_or_model_is_a_clear_error():
    with pytest.raises(ConfigurationError, match="openai_compatible has no address: pass base_url"):
        await iModel("openai_compatible", model="m").invoke(**ASK)
    with pytest.raises(ConfigurationError, match="acme needs a model"):
        await iModel(endpoint=match_endpoint("acme", "chat", base_url="http://127.0.0.1:1")).invoke(**ASK)


async def read_slowly(model: iModel, server: OpenAIServer, thousands: int) -> int:
    """Stream so many thousand chunks to a slow reader; return the peak of memory in bytes."""
    event = sse({"choices": [{"index": 0, "delta": {"content": "word "}}]})
    server.script(Faults.stream([event * 100] * 10 * thousands + [b"data: [DONE]\n\n"]))
    count = 0
    tracemalloc.start()
    try:
        async for chunk in model.stream(**ASK):
            count += chunk.type == "text"
            if count % 500 == 0:
                await asyncio.sleep(0.001)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == thousands * 1000
    return peak


async def test_L6_a_slow_reader_holds_the_server_back(server_model: Make, openai_server: OpenAIServer):
    assert await read_slowly(server_model(), openai_server, 20) < 30_000_000


@pytest.mark.proof
@pytest.mark.timeout(600)
async def test_L6_a_million_chunks_to_a_slow_reader(server_model: Make, openai_server: OpenAIServer):
    assert await read_slowly(server_model(), openai_server, 1000) < 30_000_000
