"""Provider faults: a server that misbehaves in every way we know, and what comes out."""

from __future__ import annotations

import gzip
import json
import pickle
import time
import tracemalloc
import zlib
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
from support.openai_server import Faults, Handler, OpenAIServer, sse, text, tool_call

from lionagi._errors import (
    ProviderAuthError,
    ProviderCapacityError,
    ProviderConnectionError,
    ProviderContextError,
    ProviderError,
    ProviderQuotaError,
    ProviderResponseError,
    ProviderStreamError,
    ProviderTimeoutError,
    ProviderUnsupportedModelError,
)
from lionagi.ln.clock import ManualClock
from lionagi.service.imodel import iModel
from lionagi.service.types import StreamChunk

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}
KEY = "sk-test-canary-key"
Make = Callable[..., iModel]


async def failure(model: iModel, streamed: bool = False) -> tuple[Exception, list[StreamChunk]]:
    """Ask, expect an error, and return it with the chunks before it."""
    chunks: list[StreamChunk] = []
    if not streamed:
        error = (await model.invoke(**ASK)).execution.error
        assert isinstance(error, Exception), "the call did not fail"
        return error, chunks
    try:
        async for chunk in model.stream(**ASK):
            chunks.append(chunk)
    except Exception as error:
        return error, chunks
    pytest.fail("the stream did not fail")


def hello(*ends: bytes) -> list[bytes]:
    return [*text("Hello there.").events("m", False)[:-2], *ends]


both = pytest.mark.parametrize("streamed", [False, True], ids=["blocking", "streamed"])

# P1 to P3: what is sent again


@both
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_P1_transient_statuses_are_sent_three_times_with_pauses(
    server_model: Make, openai_server: OpenAIServer, status: int, streamed: bool
):
    openai_server.default = Faults.status(status)
    clock = ManualClock()
    error, _ = await failure(server_model(clock=clock), streamed)
    assert isinstance(error, ProviderQuotaError if status == 429 else ProviderCapacityError)
    assert error.status_code == status
    assert len(openai_server.requests) == 3
    assert len(clock.sleeps) == 2
    assert sum(clock.sleeps) <= 30


async def test_P1_pauses_differ_from_call_to_call(server_model: Make, openai_server: OpenAIServer):
    openai_server.default = Faults.status(503)
    clock = ManualClock()
    for _ in range(5):
        await failure(server_model(clock=clock))
    assert len(set(clock.sleeps)) == 10


@both
async def test_P1_a_second_try_can_succeed(server_model: Make, openai_server: OpenAIServer, streamed: bool):
    openai_server.script(Faults.status(503), Faults.reset())
    model = server_model(clock=ManualClock())
    call = model.create_api_calling(**ASK, stream=streamed)
    if streamed:
        async for _ in model.stream(call):
            pass
    else:
        await model.invoke(call)
    assert call.answer.text == "Hello there."
    assert len(openai_server.requests) == 3


@both
async def test_P1_resets_are_sent_three_times(server_model: Make, openai_server: OpenAIServer, streamed: bool):
    openai_server.default = Faults.reset()
    error, _ = await failure(server_model(clock=ManualClock()), streamed)
    assert isinstance(error, ProviderConnectionError)
    assert len(openai_server.requests) == 3


async def test_P1_a_refused_connection_is_tried_three_times():
    clock = ManualClock()
    error, _ = await failure(iModel("openai", "http://127.0.0.1:9/v1", api_key=KEY, clock=clock))
    assert isinstance(error, ProviderConnectionError)
    assert len(clock.sleeps) == 2


async def test_P1_the_number_of_requests_is_settable(server_model: Make, openai_server: OpenAIServer):
    openai_server.default = Faults.status(503)
    await failure(server_model(clock=ManualClock(), max_retries=1))
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize(
    ("value", "pause"),
    [("7", 7.0), ("0", 0.0), ("60", 60.0), (formatdate(1_000_030, usegmt=True), 30.0)],
)
async def test_P2_retry_after_is_obeyed(server_model: Make, openai_server: OpenAIServer, value: str, pause: float):
    openai_server.script(Faults.status(429, Retry_After=value))
    clock = ManualClock(1_000_000)
    call = await server_model(clock=clock).invoke(**ASK)
    assert call.answer.text == "Hello there."
    assert clock.sleeps == [pause]


@both
@pytest.mark.parametrize("value", ["61", "100000", formatdate(1_000_100, usegmt=True)])
async def test_P2_a_long_retry_after_is_raised_at_once(
    server_model: Make, openai_server: OpenAIServer, value: str, streamed: bool
):
    openai_server.default = Faults.status(429, Retry_After=value)
    clock = ManualClock(1_000_000)
    error, _ = await failure(server_model(clock=clock), streamed)
    assert isinstance(error, ProviderQuotaError)
    assert (error.retry_after or 0) > 60
    assert (len(openai_server.requests), clock.sleeps) == (1, [])


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "-", "Mon, 99 Foo 2020", "1e999"])
async def test_P2_an_unreadable_retry_after_is_ignored(server_model: Make, openai_server: OpenAIServer, value: str):
    openai_server.default = Faults.status(503, Retry_After=value)
    clock = ManualClock()
    error, _ = await failure(server_model(clock=clock))
    assert isinstance(error, ProviderCapacityError)
    assert error.retry_after is None
    assert sum(clock.sleeps) <= 30


@both
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, ProviderError),
        (401, ProviderAuthError),
        (403, ProviderAuthError),
        (404, ProviderUnsupportedModelError),
        (422, ProviderError),
    ],
)
async def test_P3_permanent_errors_are_sent_once(
    server_model: Make, openai_server: OpenAIServer, status: int, expected: type[ProviderError], streamed: bool
):
    openai_server.default = Faults.status(status)
    error, _ = await failure(server_model(), streamed)
    assert type(error) is expected
    assert (error.status_code, len(openai_server.requests)) == (status, 1)


async def test_a_context_overflow_is_told_by_its_words(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(Faults.status(400, '{"error": {"message": "maximum context length is 10 tokens"}}'))
    error, _ = await failure(server_model())
    assert isinstance(error, ProviderContextError)


# P4: nothing waits for ever


async def test_P4_silence_ends_at_the_total(server_model: Make, openai_server: OpenAIServer):
    openai_server.default = Faults.silence()
    started = time.monotonic()
    error, _ = await failure(server_model(timeout=0.2))
    assert isinstance(error, ProviderTimeoutError)
    assert isinstance(error, TimeoutError)
    assert (len(openai_server.requests), time.monotonic() - started < 2) == (1, True)


STALLS: dict[str, Handler] = {
    "silence": Faults.silence(),
    "silence after text": Faults.stream(hello(), then="hang"),
    "keep-alive only": Faults.stream(hello(), then="repeat", repeat=b": ping\n\n"),
    "empty events only": Faults.stream(hello(), then="repeat", repeat=sse({"choices": []})),
    "empty deltas only": Faults.stream(
        hello(), then="repeat", repeat=sse({"choices": [{"delta": {"content": ""}}]}), pause=0.01
    ),
    "slow drip": Faults.stream(hello(b"data: "), then="repeat", repeat=b"x", pause=0.01),
}


@pytest.mark.parametrize("stall", list(STALLS))
async def test_P4_a_stream_without_content_ends_at_the_idle_limit(
    server_model: Make, openai_server: OpenAIServer, stall: str
):
    openai_server.default = STALLS[stall]
    started = time.monotonic()
    error, chunks = await failure(server_model(idle_timeout=0.2), streamed=True)
    assert isinstance(error, ProviderTimeoutError)
    assert error.partial_text == "".join(chunk.content or "" for chunk in chunks)
    assert (len(openai_server.requests), time.monotonic() - started < 3) == (1, True)


async def test_P4_a_stream_with_content_ends_at_the_total(server_model: Make, openai_server: OpenAIServer):
    word = sse({"choices": [{"index": 0, "delta": {"content": "a"}}]})
    openai_server.default = Faults.stream([], then="repeat", repeat=word, pause=0.02)
    error, chunks = await failure(server_model(timeout=0.4, idle_timeout=0.3), streamed=True)
    assert isinstance(error, ProviderTimeoutError)
    assert error.partial_text == "a" * len(chunks)


async def test_P4_the_end_mark_ends_a_stream_that_stays_open(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(Faults.stream([b"".join(text("done").events("m", False))], then="hang"))
    chunks = [chunk async for chunk in server_model().stream(**ASK)]
    assert chunks[-1].type == "result"


async def test_P4_a_slow_reader_is_no_silent_provider(server_model: Make, openai_server: OpenAIServer):
    count = 0
    async for _ in server_model(idle_timeout=0.15, timeout=0.4).stream(**ASK):
        time.sleep(0.2)
        count += 1
    assert count == 4


# P5, P10: a cut answer is never a success, and nothing is sent again after the first chunk

GOOD = [*text("Hello there.").events("m", False)]
CALL = [*tool_call("add", {"a": 1}).events("m", False)]


@pytest.mark.record("DEC-44-3")
@pytest.mark.parametrize("then", ["close", "abort"])
@pytest.mark.parametrize("cut", range(len(GOOD)))
async def test_P5_P10_a_stream_cut_after_each_event_is_an_error_with_the_partial_text(
    server_model: Make, openai_server: OpenAIServer, cut: int, then: str
):
    openai_server.default = Faults.stream(GOOD[:cut], then=then)
    error, chunks = await failure(server_model(clock=ManualClock()), streamed=True)
    assert isinstance(error, ProviderStreamError | ProviderConnectionError)
    assert error.partial_text == "".join(chunk.content or "" for chunk in chunks)
    assert all(chunk.type == "text" for chunk in chunks)
    if chunks or then == "close":
        assert len(openai_server.requests) == 1


@pytest.mark.parametrize("cut", range(len(CALL)))
async def test_P5_a_cut_stream_of_tool_calls_gives_no_result(server_model: Make, openai_server: OpenAIServer, cut: int):
    openai_server.default = Faults.stream(CALL[:cut])
    error, chunks = await failure(server_model(), streamed=True)
    assert isinstance(error, ProviderStreamError)
    assert chunks == []


@pytest.mark.record("DEC-44-3")
async def test_P5_valid_json_without_an_end_is_still_an_error(server_model: Make, openai_server: OpenAIServer):
    openai_server.default = Faults.stream(text('{"a": 1}', pieces=['{"a": 1}']).events("m", False)[:-1])
    error, _ = await failure(server_model(), streamed=True)
    assert isinstance(error, ProviderStreamError)
    assert error.partial_text == '{"a": 1}'


async def test_P5_a_blocking_answer_cut_short_is_an_error(server_model: Make, openai_server: OpenAIServer):
    body = json.dumps(text("Hello").body("m")).encode()

    async def cut(request: Any, payload: Any) -> Any:
        from aiohttp import web

        response = web.StreamResponse(headers={"Content-Length": str(len(body)), "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(body[:-10])
        request.transport.abort()
        return response

    openai_server.default = cut
    error, _ = await failure(server_model(clock=ManualClock()))
    assert isinstance(error, ProviderConnectionError)


@pytest.mark.record("DEC-44-2")
@pytest.mark.parametrize(
    "line", [b"data: not json\n\n", b'data: {"a"\n\n', b"data: NaN\n\n", b"data: 5\n\n", b"data: []\n\n"]
)
async def test_a_data_line_that_is_no_event_is_an_error_with_the_partial_text(
    server_model: Make, openai_server: OpenAIServer, line: bytes
):
    openai_server.default = Faults.stream(hello(line, *GOOD))
    error, chunks = await failure(server_model(), streamed=True)
    assert isinstance(error, ProviderStreamError)
    assert error.partial_text == "Hello there."
    assert "".join(chunk.content or "" for chunk in chunks) == "Hello there."


@pytest.mark.record("DEC-44-1")
async def test_comments_in_a_stream_add_nothing(server_model: Make, openai_server: OpenAIServer):
    noisy = [part for event in GOOD for part in (b": keep-alive\n\n", b"event: x\nid: 1\n", event)]
    openai_server.script(Faults.stream(noisy))
    chunks = [chunk async for chunk in server_model().stream(**ASK)]
    assert "".join(chunk.content or "" for chunk in chunks) == "Hello there."


async def test_an_error_inside_a_stream_is_typed_and_not_sent_again(server_model: Make, openai_server: OpenAIServer):
    openai_server.default = Faults.stream(hello(sse({"error": {"message": f"rate limit for {KEY}"}})))
    error, _ = await failure(server_model(clock=ManualClock()), streamed=True)
    assert isinstance(error, ProviderQuotaError)
    assert (error.partial_text, len(openai_server.requests)) == ("Hello there.", 1)
    assert KEY not in str(error) + str(error.raw)


# P6 to P8: bodies

BAD_BODIES: dict[str, str | bytes] = {
    "html": "<html><body>502 Bad\nGateway</body></html>",
    "empty": "",
    "list": "[]",
    "null": "null",
    "no choices": '{"choices": []}',
    "null content": json.dumps({"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}),
    "deep": "[" * 100_000,
    "deep object": '{"a":' * 100_000,
    "NaN": '{"choices": [{"message": {"content": "a"}, "x": NaN}]}',
    "infinity": '{"choices": [{"message": {"content": "a"}, "x": 1e999}]}',
    "not UTF-8": b'\xff\xfe{"a": 1}',
    "cut": '{"choices": [{"message": {"cont',
}


@pytest.mark.parametrize("kind", list(BAD_BODIES))
async def test_P6_a_malformed_body_is_one_line_naming_the_provider(
    server_model: Make, openai_server: OpenAIServer, kind: str
):
    openai_server.default = Faults.body(BAD_BODIES[kind])
    error, _ = await failure(server_model(clock=ManualClock()))
    assert type(error) is ProviderResponseError
    assert str(error).startswith("openai sent ")
    assert "\n" not in str(error)
    assert len(str(error)) < 600
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize("kind", list(BAD_BODIES))
async def test_P6_a_body_that_is_no_stream_is_an_error(server_model: Make, openai_server: OpenAIServer, kind: str):
    openai_server.default = Faults.body(BAD_BODIES[kind])
    error, chunks = await failure(server_model(), streamed=True)
    assert isinstance(error, ProviderError)
    assert chunks == []


async def test_P6_an_error_with_status_200_is_an_error(server_model: Make, openai_server: OpenAIServer):
    openai_server.default = Faults.body('{"error": {"message": "model x does not exist"}}')
    error, _ = await failure(server_model())
    assert isinstance(error, ProviderUnsupportedModelError)


@both
@pytest.mark.parametrize("status", [400, 500])
async def test_P6_an_html_error_page_is_one_line(
    server_model: Make, openai_server: OpenAIServer, status: int, streamed: bool
):
    openai_server.default = Faults.status(status, "<html>\n<b>Bad\x1b[31m Gateway</b>\n" * 5000)
    error, _ = await failure(server_model(clock=ManualClock()), streamed)
    assert isinstance(error, ProviderError)
    assert "\n" not in str(error)
    assert "\x1b" not in str(error)
    assert len(str(error)) < 600


def bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    block = b" " * (1 << 20)
    return b"".join(packer.compress(block) for _ in range(size >> 20)) + packer.flush()


@both
@pytest.mark.parametrize("kind", ["large", "bomb", "one line"])
async def test_P7_memory_is_bounded(server_model: Make, openai_server: OpenAIServer, kind: str, streamed: bool):
    if kind == "bomb":
        openai_server.default = Faults.body(bomb(64 << 20), Content_Encoding="gzip")
    else:
        openai_server.default = Faults.endless((b"x" if kind == "one line" else b": x\n") * 65536)
    model = server_model(max_response_bytes=2 << 20, timeout=1.5, clock=ManualClock())
    tracemalloc.start()
    try:
        error, _ = await failure(model, streamed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(error, ProviderResponseError | ProviderTimeoutError | ProviderStreamError)
    assert peak < 16 << 20


@pytest.mark.proof
@both
async def test_P7_300_MB_and_a_gzip_bomb_are_refused_at_the_default(
    server_model: Make, openai_server: OpenAIServer, streamed: bool
):
    for fault in (Faults.body(b"x" * (300 << 20)), Faults.body(bomb(300 << 20), Content_Encoding="gzip")):
        openai_server.script(fault)
        error, _ = await failure(server_model(), streamed)
        assert isinstance(error, ProviderResponseError)
        assert "33554432 bytes" in str(error)


@both
async def test_compressed_answers_are_read(server_model: Make, openai_server: OpenAIServer, streamed: bool):
    body = b"".join(GOOD) if streamed else json.dumps(text("Hello there.").body("m")).encode()
    openai_server.script(Faults.body(gzip.compress(body), Content_Encoding="gzip"))
    model = server_model()
    call = model.create_api_calling(**ASK, stream=streamed)
    if streamed:
        async for _ in model.stream(call):
            pass
    else:
        await model.invoke(call)
    assert call.answer.text == "Hello there."


@both
async def test_another_compression_is_refused(server_model: Make, openai_server: OpenAIServer, streamed: bool):
    openai_server.default = Faults.body(b"x", Content_Encoding="br")
    error, _ = await failure(server_model(), streamed)
    assert isinstance(error, ProviderResponseError)


async def test_P8_one_line_of_4_MiB_in_small_writes(server_model: Make, openai_server: OpenAIServer):
    event = sse({"choices": [{"index": 0, "delta": {"content": "x" * (4 << 20)}}]})
    pieces = [event[at : at + 50_021] for at in range(0, len(event), 50_021)]
    openai_server.script(Faults.stream([*pieces, b"data: [DONE]\n\n"]))
    chunks = [chunk async for chunk in server_model().stream(**ASK)]
    assert len(chunks[0].content or "") == 4 << 20


@pytest.mark.parametrize("newline", [b"\r", b"\r\n"])
async def test_P8_other_newlines_on_the_wire(server_model: Make, openai_server: OpenAIServer, newline: bytes):
    stream = b"".join(GOOD).replace(b"\n", newline)
    openai_server.script(Faults.stream([stream[at : at + 3] for at in range(0, len(stream), 3)]))
    chunks = [chunk async for chunk in server_model().stream(**ASK)]
    assert "".join(chunk.content or "" for chunk in chunks) == "Hello there."


# P9 and secrets


@pytest.mark.record("DEC-40-2")
@both
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_P9_redirects_are_refused_and_no_byte_reaches_the_other_server(
    server_model: Make, openai_server: OpenAIServer, status: int, streamed: bool
):
    with OpenAIServer() as other:
        openai_server.default = Faults.redirect(f"{other.base_url}/chat/completions", status)
        error, _ = await failure(server_model(), streamed)
        assert isinstance(error, ProviderResponseError)
        assert "redirect" in str(error)
        assert (len(openai_server.requests), other.requests) == (1, [])


async def test_P9_cookies_are_not_kept(server_model: Make, openai_server: OpenAIServer):
    openai_server.script(Faults.status(400, Set_Cookie="a=b; Path=/"))
    model = server_model()
    for _ in range(2):
        await model.invoke(**ASK)
    assert "Cookie" not in openai_server.requests[1].headers


async def test_P9_proxies_of_the_environment_are_not_used(
    server_model: Make, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert (await server_model().invoke(**ASK)).answer.text == "Hello there."


@both
@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_S2_a_key_echoed_in_body_and_headers_is_scrubbed(
    server_model: Make, openai_server: OpenAIServer, status: int, streamed: bool
):
    openai_server.default = Faults.status(status, f"bad key {KEY} in Bearer {KEY}", Retry_After=KEY, X_Echo=KEY)
    error, _ = await failure(server_model(clock=ManualClock()), streamed)
    assert KEY not in repr(error) + str(vars(error)) + repr(error.__cause__) + repr(error.__context__)


FAULTS: dict[str, Handler] = {
    "status": Faults.status(503, Retry_After="70"),
    "reset": Faults.reset(),
    "html": Faults.body("<html>"),
    "cut": Faults.stream(hello()),
    "silence": Faults.silence(),
}


@both
@pytest.mark.parametrize("fault", list(FAULTS))
async def test_errors_pickle_with_what_they_know(
    server_model: Make, openai_server: OpenAIServer, fault: str, streamed: bool
):
    openai_server.default = FAULTS[fault]
    error, _ = await failure(server_model(clock=ManualClock(), timeout=0.5), streamed)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
    assert vars(copy)["provider"] == "openai"
