"""A small OpenAI-compatible server on loopback, in a thread of its own, that answers by script and records requests.

``OpenAIServer`` is the good mode: text, structured answers, tool calls, streams with chosen chunk boundaries, usage.
``fault`` makes the next request (or every one) misbehave; each kind is a method of ``Faults``.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Handler = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass
class Recorded:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    payload: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.payload["messages"]


@dataclass
class Reply:
    """One answer of the good mode; ``pieces`` are the chunk boundaries of the text when it is streamed."""

    text: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    refusal: str | None = None
    pieces: list[str] | None = None
    usage: dict[str, int] | None = field(default_factory=lambda: dict(USAGE))
    finish_reason: str | None = None
    delay: float = 0.0

    @property
    def reason(self) -> str:
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")

    def body(self, model: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = self.tool_calls
        if self.refusal is not None:
            message["refusal"] = self.refusal
        choice = {"index": 0, "message": message, "finish_reason": self.reason}
        body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}
        return body if self.usage is None else {**body, "usage": self.usage}

    def deltas(self) -> list[dict[str, Any]]:
        text = self.text or ""
        pieces = self.pieces if self.pieces is not None else [text[at : at + 5] for at in range(0, len(text), 5)]
        deltas: list[dict[str, Any]] = [{"role": "assistant"}]
        deltas += [{"content": piece} for piece in pieces]
        if self.refusal is not None:
            deltas.append({"refusal": self.refusal})
        for index, call in enumerate(self.tool_calls):
            function, half = call["function"], len(call["function"]["arguments"]) // 2
            head = {"index": index, "id": call["id"], "type": "function"}
            deltas.append({"tool_calls": [{**head, "function": {"name": function["name"], "arguments": ""}}]})
            for part in (function["arguments"][:half], function["arguments"][half:]):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
        return deltas

    def events(self, model: str, with_usage: bool) -> list[bytes]:
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
        chunks: list[dict[str, Any]] = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in self.deltas()
        ]
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": self.reason}]})
        if with_usage and self.usage is not None:
            chunks.append({**head, "choices": [], "usage": self.usage})
        return [sse(chunk) for chunk in chunks] + [b"data: [DONE]\n\n"]


def sse(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def text(content: str, **more: Any) -> Reply:
    return Reply(text=content, **more)


def structured(data: Any, **more: Any) -> Reply:
    return Reply(text=json.dumps(data), **more)


def tool_call(name: str, arguments: Any, id: str = "call_1", **more: Any) -> Reply:
    """A tool-call answer with null content; arguments that are no string are encoded."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Reply(tool_calls=[{"id": id, "type": "function", "function": {"name": name, "arguments": raw}}], **more)


class Faults:
    """Ways to misbehave, as handlers for :meth:`OpenAIServer.script`."""

    @staticmethod
    def status(status: int, body: str = '{"error": {"message": "no"}}', **headers: str) -> Handler:
        async def handle(request: web.Request, payload: dict[str, Any]) -> web.StreamResponse:
            return web.Response(status=status, text=body, headers={n.replace("_", "-"): v for n, v in headers.items()})

        return handle

    @staticmethod
    def body(content: str | bytes, content_type: str = "application/json", **headers: str) -> Handler:
        data = content.encode() if isinstance(content, str) else content

        async def handle(request: web.Request, payload: dict[str, Any]) -> web.StreamResponse:
            extra = {name.replace("_", "-"): value for name, value in headers.items()}
            return web.Response(body=data, headers={"Content-Type": content_type, **extra})

        return handle

    @staticmethod
    def redirect(location: str, status: int = 307) -> Handler:
        return Faults.status(status, "", Location=location)

    @staticmethod
    def silence() -> Handler:
        async def handle(request: web.Request, payload: dict[str, Any]) -> web.StreamResponse:
            await asyncio.sleep(600)
            return web.Response()

        return handle

    @staticmethod
    def reset() -> Handler:
        async def handle(request: web.Request, payload: dict[str, Any]) -> web.StreamResponse:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()

        return handle

    @staticmethod
    def stream(pieces: list[bytes], *, pause: float = 0.0, then: str = "close", repeat: bytes = b"") -> Handler:
        """Write ``pieces``, then "close" the body, "hang", "abort" the connection, or write ``repeat`` for ever."""

        async def handle(request: web.Request, payload: dict[str, Any]) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            for piece in pieces:
                await response.write(piece)
                if pause:
                    await asyncio.sleep(pause)
            while then == "repeat":
                await response.write(repeat)
                await asyncio.sleep(pause or 0.001)
            if then == "hang":
                await asyncio.sleep(600)
            if then == "abort":
                assert request.transport is not None
                await asyncio.sleep(0.02)  # what was written has to leave first
                request.transport.abort()
            return response

        return handle

    @staticmethod
    def endless(block: bytes, **headers: str) -> Handler:
        async def handle(request: web.Request, payload: dict[str, Any]) -> web.StreamResponse:
            extra = {name.replace("_", "-"): value for name, value in headers.items()}
            response = web.StreamResponse(headers={"Content-Type": "application/json", **extra})
            await response.prepare(request)
            while True:
                await response.write(block)

        return handle


class OpenAIServer:
    """The server: ``with OpenAIServer() as server:``; ``server.base_url`` is what a model is given.

    ``script(...)`` queues replies and faults, one per request; when the queue is empty ``default`` answers.
    ``requests`` are the requests so far; ``most_at_once`` is how many ran together at the highest.
    """

    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self.default: Reply | Handler = text("Hello there.")
        self.running = self.most_at_once = 0
        self._queue: deque[Reply | Handler] = deque()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self.port = 0
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="openai-server", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def payloads(self) -> list[dict[str, Any]]:
        return [request.payload for request in self.requests]

    def script(self, *replies: Reply | Handler) -> OpenAIServer:
        self._queue.extend(replies)
        return self

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        payload = await request.json() if request.can_read_body else {}
        self.requests.append(Recorded(request.path, dict(request.headers), payload))
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            reply = self._queue.popleft() if self._queue else self.default
            return await (self._good(request, payload, reply) if isinstance(reply, Reply) else reply(request, payload))
        except ConnectionError:
            return web.Response()
        finally:
            self.running -= 1

    async def _good(self, request: web.Request, payload: dict[str, Any], reply: Reply) -> web.StreamResponse:
        if reply.delay:
            await asyncio.sleep(reply.delay)
        model = str(payload.get("model"))
        if not payload.get("stream"):
            return web.json_response(reply.body(model))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in reply.events(model, bool((payload.get("stream_options") or {}).get("include_usage"))):
            await response.write(event)
        return response
