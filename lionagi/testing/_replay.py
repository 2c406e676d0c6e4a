"""Serving a recording: the recorded answers under the identity and kind of the endpoint that gave them.

The service layer loads this module by name, when ``iModel(replay=…)`` or LIONAGI_REPLAY names a file.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import lionagi._errors as errors
from lionagi._errors import LionError, ProviderError
from lionagi.ln.clock import SYSTEM_CLOCK, Clock, SystemClock
from lionagi.service.connections.agentic import AgenticEndpoint
from lionagi.service.connections.endpoint import Endpoint, result_chunk
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.connections.registry import EndpointRegistry
from lionagi.service.types import Capabilities, StreamChunk

from ._recording import Recording, open_recordings
from ._responses import chat_completion, chunk_of, entry_chunks, error_of, text_of_entry
from ._types import ErrorResponse, RecordedModel, ResponseEntry, StreamResponse

__all__ = ("AgenticReplayEndpoint", "ReplayEndpoint", "choose", "replay_endpoint", "serve_from")


class _ReplayClock(SystemClock):
    """Real time plus what the served answers took when they were recorded, so that views show those times.

    Nobody waits for them. There is one clock in a process, so that the calls of a branch keep their order whichever
    of its models answered.
    """

    def __init__(self) -> None:
        self.ahead = 0.0

    def time(self) -> float:
        """Return seconds since the epoch, the served answers' times added."""
        return SYSTEM_CLOCK.time() + self.ahead

    def monotonic(self) -> float:
        """Return seconds that never go back, the served answers' times added."""
        return SYSTEM_CLOCK.monotonic() + self.ahead


_REPLAY_CLOCK = _ReplayClock()


def _serve(recording: Recording, payload: dict[str, Any], clock: Clock) -> ResponseEntry:
    """Take the answer to a request and let its recorded time pass on a replay clock."""
    entry = recording.take(payload)
    if isinstance(clock, _ReplayClock) and entry.recording is not None:
        clock.ahead += max(entry.recording.duration or 0.0, 0.0)
    return entry


def choose(recordings: dict[str, Recording], provider: str | None, model: str | None) -> Recording:
    """Return the recording of the named model, of that model or provider where only one fits, else the first."""

    def fit(recording: Recording) -> tuple[bool, bool]:
        identity = recording.identity
        return bool(model) and identity.model == model, bool(provider) and identity.provider == provider

    return max(recordings.values(), key=fit)


def replay_endpoint(path: str | Path, provider: str | None, model: str | None, clock: Clock) -> Endpoint:
    """Return an endpoint that serves a recording, whatever provider the code names.

    Args:
        path: The recording.
        provider: What the code names; it only chooses where the file holds several models.
        model: As ``provider``.
        clock: The endpoint's clock; in the place of the system's, one on which recorded times pass.
    """
    return serve_from(choose(open_recordings(Path(path)), provider, model), clock)


def serve_from(recording: Recording, clock: Clock) -> Endpoint:
    """Return an endpoint that serves a recording on a clock, as ``replay_endpoint`` does."""
    kind = AgenticReplayEndpoint if recording.identity.kind == "agentic" else ReplayEndpoint
    endpoint = kind(recording)
    endpoint.clock = _REPLAY_CLOCK if clock is SYSTEM_CLOCK else clock
    return endpoint


def _config_of(identity: RecordedModel) -> EndpointConfig:
    return EndpointConfig(
        name=f"{identity.provider}_{identity.endpoint}",
        provider=identity.provider,
        endpoint=identity.endpoint,
        auth_type="none",
        # a recorded failure was the last of its attempts
        max_retries=1,
        kwargs={"model": identity.model} if identity.model else {},
    )


def _capabilities_of(identity: RecordedModel, default: Capabilities) -> Capabilities:
    if identity.capabilities:
        known = {name: on for name, on in identity.capabilities.items() if name in Capabilities.__dataclass_fields__}
        return Capabilities(**known)
    for entry in EndpointRegistry.list_providers():
        if entry["provider"] == identity.provider and entry["endpoint"] == identity.endpoint:
            return entry["class"].capabilities
    return default


def _error_of(entry: ErrorResponse, provider: str) -> Exception:
    recording = entry.recording
    kind = getattr(errors, recording.error, None) if recording is not None and recording.error else None
    if not isinstance(kind, type) or not issubclass(kind, LionError):
        return error_of(entry)
    if recording is not None and issubclass(kind, ProviderError):
        return kind(entry.message, provider=provider, partial_text=recording.partial_text or "")
    return kind(entry.message)


class ReplayEndpoint(Endpoint):
    """Serves the recorded answers of an API model; it is that model's endpoint in all but the network."""

    in_process: ClassVar[bool] = True

    def __init__(self, recording: Recording) -> None:
        super().__init__(_config_of(recording.identity))
        self.recording = recording
        self.capabilities = _capabilities_of(recording.identity, type(self).capabilities)

    def clone(self) -> Self:
        """Return an endpoint with the same cursor."""
        other = type(self)(self.recording)
        other.clock = self.clock
        return other

    async def aclose(self) -> None:
        """Nothing is held."""

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> dict[str, Any]:
        entry = _serve(self.recording, payload, self.clock)
        if isinstance(entry, ErrorResponse):
            raise _error_of(entry, self.config.provider)
        return chat_completion(entry, self.recording.identity.model, native_calls=True)

    async def stream(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk]:
        """Yield the text in the recorded pieces, then the result chunk."""
        payload, _ = self.create_payload(request, extra_headers, **kwargs)
        entry = _serve(self.recording, payload, self.clock)
        for chunk in _api_chunks(entry):
            yield chunk
        if isinstance(entry, ErrorResponse):
            raise _error_of(entry, self.config.provider)
        response = chat_completion(entry, self.recording.identity.model, native_calls=True)
        yield result_chunk(response, self.decode(response))


class AgenticReplayEndpoint(AgenticEndpoint):
    """Serves the recorded streams of an agentic model; what its agent did is shown again and done by nobody."""

    in_process: ClassVar[bool] = True

    def __init__(self, recording: Recording) -> None:
        super().__init__(_config_of(recording.identity))
        self.recording = recording
        self.capabilities = _capabilities_of(recording.identity, type(self).capabilities)

    def clone(self) -> Self:
        """Return an endpoint with the same cursor."""
        other = type(self)(self.recording)
        other.clock = self.clock
        return other

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> dict[str, Any]:
        entry = _serve(self.recording, payload, self.clock)
        if isinstance(entry, ErrorResponse):
            raise _error_of(entry, self.config.provider)
        return chat_completion(entry, self.recording.identity.model)

    async def stream(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk]:
        """Yield the recorded chunks; a recorded failure is an error chunk, and then the exception."""
        payload, _ = self.create_payload(request, extra_headers, **kwargs)
        entry = _serve(self.recording, payload, self.clock)
        for chunk in entry_chunks(entry, self.recording.identity.model):
            yield chunk
        if isinstance(entry, ErrorResponse):
            raise _error_of(entry, self.config.provider)


def _api_chunks(entry: ResponseEntry) -> Iterator[StreamChunk]:
    recording = entry.recording
    lengths = iter(recording.chunks or ()) if recording is not None else iter(())
    if isinstance(entry, StreamResponse):
        for spec in entry.chunks:
            if spec.type == "text":
                yield from _pieces(spec.content or "", lengths)
            elif spec.type not in ("tool_use", "result"):
                yield chunk_of(spec)
    elif isinstance(entry, ErrorResponse):
        yield from _pieces((recording.partial_text if recording is not None else None) or "", lengths)
    else:
        yield from _pieces(text_of_entry(entry) or "", lengths)


def _pieces(text: str, lengths: Iterator[int]) -> Iterator[StreamChunk]:
    """Yield a text as delta chunks of the recorded lengths; what no length covers is one last piece."""
    position = 0
    while position < len(text):
        length = next(lengths, len(text) - position)
        yield StreamChunk("text", content=text[position : position + length], is_delta=True)
        position += length
