"""The scripted endpoint: a provider found like any other, whose answers come from a script in this process."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from functools import lru_cache
from typing import Any, ClassVar, Self, cast

from lionagi.ln.secrets import Secret, mask_headers
from lionagi.service.connections.agentic import AgenticEndpoint
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.connections.registry import EndpointType, register_endpoint
from lionagi.service.types import Capabilities, StreamChunk

from ._env import ENV_SCRIPT_PATH, resolve_script_path
from ._responses import chat_completion, chunk_of, entry_chunks, error_of
from ._script import ScriptModel
from ._types import ErrorResponse, RecordedCall, ResponseEntry, StreamResponse

__all__ = ("ScriptedEndpoint",)

logger = logging.getLogger(__name__)

_DUMMY_KEY = Secret("scripted-test-key")


@register_endpoint(
    provider="scripted",
    endpoint="chat/completions",
    aliases=["chat", "query_cli", "cli"],
    endpoint_type=EndpointType.AGENTIC,
    base_url="internal",
    auth_type="bearer",
)
class ScriptedEndpoint(AgenticEndpoint):
    """Answers calls from a script and records them; nothing is sent anywhere.

    The script is ``script=`` (anything that ``ScriptModel.coerce`` takes), else the file that LIONAGI_TEST_SCRIPT
    names, else an empty one with a warning. It never becomes part of the configuration or of a payload.

    Attributes:
        calls: One RecordedCall per served call, in the order in which the calls began.
    """

    is_cli: ClassVar[bool] = True
    in_process: ClassVar[bool] = True
    DEFAULT_QUEUE_CAPACITY: ClassVar[int] = 10
    DEFAULT_CONCURRENCY_LIMIT: ClassVar[int] = 3
    capabilities = Capabilities(structured_output=False, system_role=True, native_tools=True)

    def __init__(self, config: Any = None, **kwargs: Any) -> None:
        source = kwargs.pop("script", None)
        if isinstance(config, dict):
            config = dict(cast("dict[str, Any]", config))
            source = config.pop("script", source)
        if not isinstance(config, EndpointConfig):
            fields = cast("dict[str, Any]", config) or {}
            kwargs.setdefault("api_key", fields.get("api_key", _DUMMY_KEY))
        kwargs["requires_tokens"] = False
        super().__init__(config, **kwargs)
        self.calls: list[RecordedCall] = []
        self._served = 0
        self._script = _script_of(source)
        self._fixed_headers = _interned(*super()._headers(None).items())

    def _headers(self, extra: dict[str, str] | None) -> dict[str, str]:
        headers = dict(self._fixed_headers)
        return {**headers, **extra} if extra else headers

    @property
    def script(self) -> ScriptModel:
        """The script that is being served."""
        return self._script

    @property
    def served(self) -> int:
        """How many calls the script has answered since it was attached."""
        return self._served

    def attach_script(self, source: Any) -> None:
        """Serve another script from its start; the recorded calls stay, the call index starts at 0 again."""
        self._script = ScriptModel.coerce(source)
        self._script.reset()
        self._served = 0

    def clear_calls(self) -> None:
        """Forget the recorded calls; the script stands where it stood."""
        self.calls = []

    def clone(self) -> Self:
        """Return a copy that serves the script from its start and holds the records made so far."""
        other = type(self)(self.config, script=ScriptModel())
        other.clock = self.clock
        self.copy_runtime_state_to(other)
        return other

    def copy_runtime_state_to(self, other: Endpoint) -> None:
        """Give a copy the script, from its start, and the records made so far; later calls are each one's own."""
        super().copy_runtime_state_to(other)
        if isinstance(other, ScriptedEndpoint):
            other.attach_script(self._script)
            other.calls = list(self.calls)

    # a script answers in the shape of a chat completion only
    decode = Endpoint.decode

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> dict[str, Any]:
        entry, record = self._serve(dict(payload), headers, streamed=False)
        started = self.clock.monotonic()
        try:
            if isinstance(entry, ErrorResponse):
                await self._delay(entry)
                raise error_of(entry)
            record.response = chat_completion(entry, payload.get("model") or "")
            return record.response
        finally:
            record.duration = self.clock.monotonic() - started

    async def stream(
        self, request: Any, extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk, None]:
        """Yield the entry's chunks; an error entry is an error chunk, and then its exception.

        A text entry is a text delta and a result chunk, a tool call or structured entry only a result chunk; the
        result chunk's metadata is ``{"done": True, "raw": <the unstreamed response>, "usage": …, "finish_reason": …}``.
        """
        payload, headers = self.create_payload(request, extra_headers, **kwargs)
        payload["stream"] = True
        entry, record = self._serve(payload, headers, streamed=True)
        started, record.closed_early = self.clock.monotonic(), True
        delivered: list[StreamChunk] = []
        if isinstance(entry, StreamResponse):
            # one at a time, as they are asked for: a long stream made in advance costs its reader a pause
            count, chunks, record.response = len(entry.chunks), map(chunk_of, entry.chunks), delivered
        else:
            made = entry_chunks(entry, payload.get("model") or "")
            count, chunks = len(made), iter(made)
            if not isinstance(entry, ErrorResponse):
                record.response = made[-1].metadata["raw"]
        try:
            if isinstance(entry, ErrorResponse):
                await self._delay(entry)
            for chunk in chunks:
                delivered.append(chunk)
                yield chunk
            if isinstance(entry, ErrorResponse):
                raise error_of(entry)
        finally:
            record.duration = self.clock.monotonic() - started
            record.closed_early = len(delivered) < count

    def _serve(
        self, payload: dict[str, Any], headers: dict[str, str], *, streamed: bool
    ) -> tuple[ResponseEntry, RecordedCall]:
        index = self._served
        entry, matched_by, position = self._script.serve(payload, index)
        self._served = index + 1
        record = RecordedCall(
            index=index,
            # the list of messages is shared with the history: a copy per call would grow with its square
            payload=payload,
            headers=_masked(*headers.items()),
            response_type=entry.type,
            response=None,
            was_streamed=streamed,
            matched_by=matched_by,
            when_index=None if matched_by == "positional" else position,
            started_at=self.clock.time(),
        )
        self.calls.append(record)
        return entry, record

    async def _delay(self, entry: ErrorResponse) -> None:
        if entry.delay_ms > 0:
            await self.clock.sleep(entry.delay_ms / 1000)


@lru_cache(8)
def _interned(*headers: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return headers


@lru_cache(8)
def _masked(*headers: tuple[str, str]) -> dict[str, str]:
    return mask_headers(dict(headers))


def _script_of(source: Any) -> ScriptModel:
    if source is None:
        source = resolve_script_path()
    if source is None:
        logger.warning("no script: pass script= or set %s, or every call is an error", ENV_SCRIPT_PATH)
        return ScriptModel()
    return ScriptModel.coerce(source)
