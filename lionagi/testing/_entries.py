"""A finished call as a script entry."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, cast

from lionagi._errors import LionError, ProviderResponseError
from lionagi.service.api_calling import APICalling
from lionagi.service.types import Answer, StreamChunk

from ._fingerprint import fingerprint, request_text
from ._types import (
    EntryRecording,
    ErrorKind,
    ErrorResponse,
    RecordedModel,
    ResponseEntry,
    StreamChunkSpec,
    StreamResponse,
    StructuredResponse,
    TextResponse,
    ToolCallResponse,
)

__all__ = ("entry_of", "model_of")


def model_of(call: APICalling) -> RecordedModel:
    """Return who answered: provider, endpoint, kind, the model that was asked for, and the endpoint's flags."""
    endpoint = call.endpoint
    return RecordedModel(
        provider=endpoint.config.provider,
        endpoint=endpoint.config.endpoint,
        kind="agentic" if endpoint.is_cli else "api",
        model=str(call.payload.get("model") or endpoint.config.kwargs.get("model") or ""),
        capabilities=asdict(endpoint.capabilities),
    )


def entry_of(call: APICalling, chunks: list[StreamChunk] | None) -> ResponseEntry:
    """Return the entry that serves a call's answer again, or its failure.

    An answer that an API gave with several tool calls, or with text beside one, becomes a stream entry of text and
    tool_use chunks; so does the stream of an agentic endpoint, chunk by chunk.
    """
    recording = EntryRecording(
        fingerprint=fingerprint(call.payload),
        prompt=request_text(call.payload),
        duration=call.duration,
        chunks=None if chunks is None else [len(chunk.content or "") for chunk in chunks if chunk.type == "text"],
    )
    error = call.execution.error
    if isinstance(error, BaseException):
        return _failure(error, chunks or [], recording)
    try:
        entry = _answer(call, chunks or [], recording)
    except ProviderResponseError as unreadable:
        return _failure(unreadable, chunks or [], recording)
    recording.usage = call.usage
    recording.finish_reason = call.finish_reason
    return entry


def _answer(call: APICalling, chunks: list[StreamChunk], recording: EntryRecording) -> ResponseEntry:
    kinds = [chunk.type for chunk in chunks]
    if call.endpoint.is_cli and chunks and kinds not in (["result"], ["text", "result"]):
        return StreamResponse(chunks=[_spec(chunk) for chunk in chunks], recording=recording)
    answer = call.answer
    recording.refusal = answer.refusal
    aside = [_spec(chunk) for chunk in chunks if chunk.type in ("system", "thinking")]
    if answer.tool_calls or aside:
        return _calls_of(answer, aside, recording)
    if kinds == ["result"] and (data := _object(answer.text)) is not None:
        return StructuredResponse(data=data, recording=recording)
    return TextResponse(content=answer.text, recording=recording)


def _calls_of(answer: Answer, aside: list[StreamChunkSpec], recording: EntryRecording) -> ResponseEntry:
    calls = answer.tool_calls
    if len(calls) == 1 and not answer.text and not aside and isinstance(calls[0].arguments, dict):
        call = calls[0]
        return ToolCallResponse(name=call.function, arguments=calls[0].arguments, id=call.id, recording=recording)
    text = [StreamChunkSpec(type="text", content=answer.text, is_delta=True)] if answer.text else []
    used = [
        StreamChunkSpec(type="tool_use", tool_name=call.function, tool_id=call.id, tool_input=call.arguments)
        for call in calls
    ]
    return StreamResponse(chunks=[*aside, *text, *used], recording=recording)


def _object(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", data) if isinstance(data, dict) and json.dumps(data) == text else None


def _spec(chunk: StreamChunk) -> StreamChunkSpec:
    fields = chunk.to_dict()
    # the provider's raw event repeats what the chunk says, and may hold what must not be kept
    metadata = {key: value for key, value in chunk.metadata.items() if key != "raw"}
    return StreamChunkSpec.model_validate({**fields, "metadata": metadata})


def _failure(error: BaseException, chunks: list[StreamChunk], recording: EntryRecording) -> ErrorResponse:
    partial = "".join(chunk.content or "" for chunk in chunks if chunk.type == "text")
    recording.partial_text = partial or getattr(error, "partial_text", "") or None
    if isinstance(error, LionError):
        recording.error = type(error).__name__
    message = str(getattr(error, "message", "") or error) or type(error).__name__
    return ErrorResponse(kind=_kind_of(error), message=message, recording=recording)


def _kind_of(error: BaseException) -> ErrorKind:
    if isinstance(error, TimeoutError):
        return "timeout"
    status = getattr(error, "status", None) or getattr(error, "status_code", None)
    if not isinstance(status, int) or status < 400:
        return "value_error"
    return "rate_limit" if status == 429 else "server_error" if status >= 500 else "bad_request"
