"""APICalling: one call of a model, and what is known about it afterwards."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from pydantic import Field, PrivateAttr

from lionagi._errors import ExecutionError
from lionagi.ln.types import Unset
from lionagi.protocols.generic.event import Event
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.replay import call_guards
from lionagi.service.types import Answer, StreamChunk

__all__ = ("APICalling",)


@dataclass(slots=True, eq=False, repr=False)
class _Facts:
    """What is noted while the call runs; apart from the model, whose attributes are slow to set once per chunk."""

    started_at: float | None = None
    took: float | None = None
    chunks: int = 0
    chars: int = 0
    answer: Answer | None = None
    end: dict[str, Any] | None = None
    source: AsyncGenerator[StreamChunk] | None = None


class APICalling(Event):
    """One call of an endpoint, blocking (``invoke``) or streamed (``stream``).

    Attributes:
        payload: What is sent; its ``messages`` list is the caller's own object, never a copy.
        endpoint: Who is asked; not part of dumps.
        headers: All headers, credentials included; neither dumped nor shown.
    """

    payload: dict[str, Any]
    endpoint: Endpoint = Field(exclude=True, repr=False)
    headers: dict[str, str] = Field(default_factory=dict, exclude=True, repr=False)

    _facts: _Facts = PrivateAttr(default_factory=_Facts)

    @property
    def request(self) -> dict[str, Any]:
        """The payload."""
        return self.payload

    @property
    def started_at(self) -> float | None:
        """Seconds since the epoch by the endpoint's clock, None before the start."""
        return self._facts.started_at

    @property
    def duration(self) -> float | None:
        """Seconds from start to end by the endpoint's clock, None before the end."""
        if self._facts.took is not None:
            return self._facts.took
        duration = self.execution.duration
        return None if duration is Unset else cast("float", duration)

    @property
    def streamed(self) -> bool:
        """Whether the call was, or is to be, streamed."""
        return self.streaming

    @property
    def chunks(self) -> int:
        """How many chunks arrived; 0 for a blocking call."""
        return self._facts.chunks

    @property
    def chars(self) -> int:
        """How many characters of text arrived."""
        answer = None if self.streaming else self._read_answer()
        return len(answer.text) if answer is not None else self._facts.chars

    @property
    def usage(self) -> dict[str, Any] | None:
        """The token counts that the provider reported for this call, None where it did not."""
        if self._facts.end is not None:
            return cast("dict[str, Any] | None", self._facts.end.get("usage"))
        response = self.execution.response
        usage = cast("dict[str, Any]", response).get("usage") if isinstance(response, dict) else None
        return cast("dict[str, Any]", usage) if isinstance(usage, dict) else None

    @property
    def finish_reason(self) -> str | None:
        """The provider's word for why the answer ended, None where it gave none."""
        if self._facts.end is not None:
            return cast("str | None", self._facts.end.get("finish_reason"))
        answer = self._read_answer()
        return answer.finish_reason if answer is not None else None

    @property
    def answer(self) -> Answer:
        """The response as the endpoint reads it, read once; an unreadable one is a ProviderResponseError."""
        if self._facts.answer is None:
            self.assert_completed()
            self._facts.answer = self.endpoint.decode(self.execution.response)
        return self._facts.answer

    def _read_answer(self) -> Answer | None:
        try:
            return self.answer
        except ExecutionError:  # the call failed, or its endpoint gives something else than an answer
            return None

    async def _invoke(self) -> Any:
        for refuse in call_guards:
            refuse(self.endpoint)
        facts, clock = self._facts, self.endpoint.clock
        facts.started_at, zero = clock.time(), clock.monotonic()
        try:
            return await self.endpoint.call(self.payload, skip_payload_creation=True, extra_headers=self.headers)
        finally:
            facts.took = clock.monotonic() - zero

    def _stream(self) -> AsyncGenerator[StreamChunk]:
        self.streaming = True
        self._facts.source = self._chunks_of()
        return self._facts.source

    async def _chunks_of(self) -> AsyncGenerator[StreamChunk]:
        for refuse in call_guards:
            refuse(self.endpoint)
        facts, clock = self._facts, self.endpoint.clock
        facts.started_at, zero = clock.time(), clock.monotonic()
        try:
            async with aclosing(self.endpoint.stream(self.payload, extra_headers=self.headers)) as chunks:
                async for chunk in chunks:
                    facts.chunks += 1
                    if chunk.type == "text":
                        facts.chars += len(chunk.content or "")
                    elif chunk.type == "result":
                        facts.end = chunk.metadata
                        self.execution.response = chunk.metadata.get("raw")
                    yield chunk
        finally:
            facts.took = clock.monotonic() - zero

    async def close_stream(self) -> None:
        """Close the endpoint's stream, so that a reader who stops early leaves no connection open."""
        if self._facts.source is not None:
            await self._facts.source.aclose()
