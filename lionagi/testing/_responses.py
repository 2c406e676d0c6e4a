"""Entries as an endpoint serves them: chat completions, stream chunks and errors of the kinds that a script names."""

from __future__ import annotations

import builtins
import json
import secrets
from typing import Any, cast

from lionagi.ln.jsons import clean_surrogates
from lionagi.service.types import StreamChunk

from ._types import (
    ErrorResponse,
    ResponseEntry,
    StreamChunkSpec,
    StreamResponse,
    StructuredResponse,
    TextResponse,
    ToolCallResponse,
)

__all__ = ("chat_completion", "chunk_of", "entry_chunks", "error_of", "http_error", "text_of_entry")

_STATUS = {"rate_limit": 429, "server_error": 500, "bad_request": 400}
_NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def text_of_entry(entry: ResponseEntry) -> str | None:
    """Return the answer's text, None where the entry is a tool call or an error."""
    if isinstance(entry, TextResponse):
        return clean_surrogates(entry.content)
    if isinstance(entry, StructuredResponse):
        return json.dumps(entry.data)
    if isinstance(entry, StreamResponse):
        return clean_surrogates("".join(chunk.content or "" for chunk in entry.chunks if chunk.type == "text"))
    return None


def chat_completion(entry: ResponseEntry, model: str, *, native_calls: bool = False) -> dict[str, Any]:
    """Return an entry as an OpenAI chat completion.

    Usage, finish reason and refusal are the recorded ones where the entry has a recording, else zeros and "stop" or
    "tool_calls".

    Args:
        entry: Any entry but an error.
        model: The model's name in the response.
        native_calls: Turn the tool_use chunks of a stream entry into tool calls, as an API answer that held several
            calls is recorded.
    """
    message: dict[str, Any] = {"role": "assistant", "content": text_of_entry(entry)}
    calls = _tool_calls(entry, native_calls)
    if calls:
        message["tool_calls"] = calls
        message["content"] = message["content"] or None
    recording = entry.recording
    if recording is not None and recording.refusal is not None:
        message |= {"refusal": recording.refusal, "content": message["content"] or None}
    finish = recording.finish_reason if recording is not None else None
    usage = recording.usage if recording is not None else None
    return {
        "id": f"chatcmpl-scripted-{secrets.token_hex(6)}",
        "object": "chat.completion",
        "created": 0,
        "model": model or "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}],
        "usage": dict(_NO_USAGE if usage is None else usage),
    }


def _tool_calls(entry: ResponseEntry, native_calls: bool) -> list[dict[str, Any]]:
    if isinstance(entry, ToolCallResponse):
        return [_tool_call(entry.name, entry.arguments, entry.id)]
    if native_calls and isinstance(entry, StreamResponse):
        used = [chunk for chunk in entry.chunks if chunk.type == "tool_use"]
        return [_tool_call(chunk.tool_name or "", chunk.tool_input, chunk.tool_id) for chunk in used]
    return []


def _tool_call(name: str, arguments: object, call_id: str | None) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": call_id or f"call_{secrets.token_hex(5)}",
        "type": "function",
        "function": {"name": name, "arguments": text},
    }


def chunk_of(spec: StreamChunkSpec) -> StreamChunk:
    """Return a spec as the chunk that a consumer gets; its metadata is a copy."""
    chunk = StreamChunk(*spec.__dict__.values())  # a spec has the fields of a chunk, in their order
    chunk.metadata = dict(chunk.metadata)
    return chunk


def entry_chunks(entry: ResponseEntry, model: str) -> list[StreamChunk]:
    """Return the chunks of an entry as an agentic endpoint streams it; an error is its error chunk only.

    A text entry is a text delta and a result chunk, a tool call or structured entry one result chunk that holds the
    unstreamed response, as JSON and in its metadata.
    """
    if isinstance(entry, ErrorResponse):
        return [StreamChunk("error", content=entry.message, is_error=True)]
    if isinstance(entry, StreamResponse):
        return [chunk_of(spec) for spec in entry.chunks]
    response = chat_completion(entry, model)
    finish = response["choices"][0]["finish_reason"]
    metadata = {"done": True, "raw": response, "usage": response["usage"], "finish_reason": finish}
    if isinstance(entry, TextResponse):
        text = response["choices"][0]["message"]["content"]
        return [StreamChunk("text", content=text, is_delta=True), StreamChunk("result", metadata=metadata)]
    return [StreamChunk("result", content=json.dumps(response), metadata=metadata)]


def error_of(entry: ErrorResponse) -> Exception:
    """Return the exception of an error entry.

    rate_limit, server_error and bad_request are ``aiohttp.ClientResponseError`` (429, 500, 400) that have
    ``status_code`` too; timeout is ``asyncio.TimeoutError``; value_error is ``ValueError``.
    """
    status = _STATUS.get(entry.kind)
    if status is not None:
        return http_error(status, entry.message)
    if entry.kind == "timeout":
        return TimeoutError(entry.message)
    return builtins.ValueError(entry.message)


def http_error(status: int, message: str) -> Exception:
    """Return an ``aiohttp.ClientResponseError`` with that status; aiohttp is loaded by the first one."""
    import aiohttp
    from multidict import CIMultiDict, CIMultiDictProxy
    from yarl import URL

    url = URL("https://scripted.invalid")
    # RequestInfo wants the proxy, which cannot be pickled; every error can
    headers = cast("CIMultiDictProxy[str]", CIMultiDict[str]())
    error = aiohttp.ClientResponseError(
        aiohttp.RequestInfo(url, "POST", headers, url), (), status=status, message=message
    )
    error.status_code = status  # pyright: ignore[reportAttributeAccessIssue]
    return error
