"""The chat completions format that OpenAI defined and many servers speak."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any, ClassVar, cast

from lionagi._errors import ConfigurationError, ParseError, ProviderConnectionError, ProviderError, ValidationError
from lionagi.ln.jsons import json_dumps, loads_json
from lionagi.providers._chat_stream import ChatAssembler
from lionagi.service.connections import http
from lionagi.service.connections.endpoint import Endpoint, result_chunk
from lionagi.service.connections.failures import error_from_body, stream_error
from lionagi.service.connections.registry import GENERIC_PROVIDER, register_endpoint
from lionagi.service.connections.retry import with_retries
from lionagi.service.connections.sse import DONE, EventParser
from lionagi.service.types import Capabilities, StreamChunk

__all__ = ("OpenAICompatibleEndpoint",)


@register_endpoint(GENERIC_PROVIDER, "chat/completions", aliases=["chat"])
class OpenAICompatibleEndpoint(Endpoint):
    """Chat completions at any ``base_url``; a key is sent only where one is given.

    A stream is over when ``[DONE]`` arrives. One that ends or breaks before raises, with what had arrived as
    ``partial_text``; nothing is sent again once the stream has begun.
    """

    key_optional: ClassVar[bool] = True
    capabilities = Capabilities(structured_output=True, native_tools=True)

    def create_payload(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return payload and headers as the base does; a missing ``base_url`` or model is a ConfigurationError."""
        payload, headers = super().create_payload(request, extra_headers, **kwargs)
        if not self.config.base_url:
            raise ConfigurationError(f"{self.config.provider} has no address: pass base_url")
        if not payload.get("model"):
            raise ConfigurationError(f"{self.config.provider} needs a model: pass model='…'")
        return payload, headers

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> Any:
        response = await http.request_json(self.config, payload, headers, clock=self.clock)
        self._check_error(response, headers)
        self.decode(response)  # an answer that cannot be read fails the call, not its reader
        return response

    async def stream(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk]:
        """Yield text (and thinking) as it arrives, then one result chunk with the whole answer."""
        payload, headers = self.create_payload(request, extra_headers, **kwargs)
        payload["stream"] = True
        if self.config.stream_usage:
            payload.setdefault("stream_options", {"include_usage": True})
        answer = ChatAssembler()
        async with AsyncExitStack() as stack:
            body = await with_retries(
                lambda: stack.enter_async_context(self._open(payload, headers)),
                requests=self.config.max_retries,
                clock=self.clock,
            )
            events = self._events(body, answer)
            stack.push_async_callback(events.aclose)
            async for data in events:
                event = self._read(data, answer, headers)
                text, thinking, content = self._add(event, answer)
                if content:
                    body.progressed()
                body.hold()
                if thinking:
                    yield StreamChunk("thinking", content=thinking, is_delta=True, metadata={"raw": event})
                if text:
                    yield StreamChunk("text", content=text, is_delta=True, metadata={"raw": event})
                body.resume()
        response = answer.response()
        yield result_chunk(response, self.decode(response))

    def _open(self, payload: dict[str, Any], headers: dict[str, str]) -> Any:
        return http.open_stream(self.config, payload, headers, clock=self.clock, idle=self.config.idle_timeout)

    async def _events(self, body: http.ByteStream, answer: ChatAssembler) -> AsyncGenerator[str]:
        """Yield the data of each event up to ``[DONE]``; an end before it is an error."""
        parser = EventParser(self.config.max_response_bytes, self.config.provider)
        while True:
            try:
                received = await body.read()
                events = parser.feed(received) if received else parser.end()
            except ProviderConnectionError as error:
                raise self._broken(f"the connection broke ({error.message})", answer) from None
            except ProviderError as error:
                error.partial_text = answer.text
                raise
            for data in events:
                if data == DONE:
                    return
                yield data
            if not received:
                raise self._broken("the stream ended before its end mark", answer)

    def _read(self, data: str, answer: ChatAssembler, headers: dict[str, str]) -> Any:
        try:
            event = loads_json(data)
        except ParseError:
            raise self._broken("the stream held a data line that is not JSON", answer) from None
        self._check_error(event, headers, answer)
        return event

    def _add(self, event: Any, answer: ChatAssembler) -> tuple[str, str, bool]:
        try:
            added = answer.add(event)
        except ValidationError as error:
            raise self._broken(f"the stream cannot be read ({error})", answer) from None
        if answer.size > self.config.max_response_bytes:
            limit = self.config.max_response_bytes
            raise self._broken(f"the answer grew above {limit} characters (max_response_bytes)", answer)
        return added

    def _broken(self, what: str, answer: ChatAssembler) -> ProviderError:
        return stream_error(what, provider=self.config.provider, partial_text=answer.text)

    def _check_error(self, body: Any, headers: dict[str, str], answer: ChatAssembler | None = None) -> None:
        """Raise what a body of status 200 reports as its error; some servers do that."""
        if not isinstance(body, dict) or not cast("dict[str, Any]", body).get("error"):
            return
        error = error_from_body(
            json_dumps(body),
            provider=self.config.provider,
            clock=self.clock,
            secrets=[*self.config.secrets(), *http.header_secrets(headers)],
        )
        error.partial_text = answer.text if answer is not None else ""
        raise error
