"""AgenticEndpoint: an endpoint that runs an agent of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, ClassVar, cast

from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.types import Answer, StreamChunk

__all__ = ("AgenticEndpoint",)


class AgenticEndpoint(Endpoint):
    """An endpoint whose stream tells what an agent did: thinking, tools that it ran itself, text.

    Nothing is sent over HTTP and nothing is retried. A subclass overrides ``stream``, and ``_call`` where a blocking
    answer is something else than the end of the stream.

    Attributes:
        session_id: The agent's conversation, to be resumed by the next call; None before the first.
    """

    is_cli: ClassVar[bool] = True
    DEFAULT_CONCURRENCY_LIMIT: ClassVar[int] = 3
    DEFAULT_QUEUE_CAPACITY: ClassVar[int] = 10

    def __init__(self, config: EndpointConfig | dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self.session_id: str | None = None

    @property
    def provider_session_id(self) -> str | None:
        """The same as ``session_id``."""
        return self.session_id

    async def call(
        self,
        request: dict[str, Any],
        skip_payload_creation: bool = False,
        extra_headers: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Ask once; an agent may have acted before it failed, so it is never asked again by itself."""
        if skip_payload_creation:
            return await self._call(request, extra_headers or {}, **kwargs)
        payload, headers = self.create_payload(request, extra_headers, **kwargs)
        return await self._call(payload, headers, **kwargs)

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no _call")

    async def stream(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk, None]:
        """Yield what the agent does; what a subclass overrides."""
        raise NotImplementedError(f"{type(self).__name__} defines no stream")
        yield  # what makes this an async generator

    def decode(self, response: Any) -> Answer:
        """Read a chat completion, or an agent's own ``{"result": text, "usage"?: …}``."""
        if isinstance(response, dict) and "choices" not in response and "result" in response:
            data = cast("dict[str, Any]", response)
            return Answer(text=str(data["result"] or ""), usage=data.get("usage"), raw=data)
        return super().decode(response)

    def copy_runtime_state_to(self, other: Endpoint) -> None:
        """Give a copy the capabilities; its conversation starts anew."""
        other.capabilities = self.capabilities

    async def aclose(self) -> None:
        """Nothing is held between calls."""
