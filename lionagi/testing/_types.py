"""What a script file may hold: typed response entries, their conditions, the recording blocks, and the call record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lionagi.service.types import ChunkType

__all__ = (
    "EntryRecording",
    "ErrorKind",
    "ErrorResponse",
    "RecordedCall",
    "RecordedModel",
    "ResponseEntry",
    "ResponseType",
    "ScriptRecording",
    "StreamChunkSpec",
    "StreamResponse",
    "StructuredResponse",
    "TextResponse",
    "ToolCallResponse",
    "WhenMatcher",
    "last_user_text",
    "text_of",
    "tool_names_of",
)

ResponseType = Literal["text", "tool_call", "structured", "stream", "error"]
ErrorKind = Literal["rate_limit", "timeout", "server_error", "bad_request", "value_error"]


class _Strict(BaseModel):
    # built at first use: the registry imports this module for every model, scripted or not
    model_config = ConfigDict(extra="forbid", defer_build=True)

    def model_post_init(self, _context: Any) -> None:
        # which fields were given is of no interest, and a set of names for each of many thousand entries is large
        object.__setattr__(self, "__pydantic_fields_set__", _names_of(type(self)))


@lru_cache(64)
def _names_of(kind: type[BaseModel]) -> set[str]:
    return set(kind.model_fields)


class WhenMatcher(_Strict):
    """The condition of one entry; an entry with an empty matcher is served by position.

    ``call_index`` (equal) and ``after_calls`` (at least) are gates: both must hold. Of the content predicates
    ``prompt_contains`` (any letter case), ``prompt_regex`` (``re.search``) and ``has_tool`` (exact name) only the
    first configured one decides, in this order; ``combine="all"`` asks for all of them. The prompt is the last user
    message of the payload.
    """

    prompt_contains: str | None = None
    prompt_regex: str | None = None
    has_tool: str | None = None
    after_calls: int | None = None
    call_index: int | None = None
    combine: Literal["first", "all"] = "first"

    @field_validator("prompt_regex")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"prompt_regex {value!r} is not a regular expression: {error}") from error
        return value

    def is_empty(self) -> bool:
        """Return True where no condition is configured (``combine`` alone is none)."""
        return (
            self.prompt_contains is None
            and self.prompt_regex is None
            and self.has_tool is None
            and self.after_calls is None
            and self.call_index is None
        )


class RecordedModel(_Strict):
    """The identity under which a recorded model is replayed.

    Attributes:
        provider: The registered provider name.
        endpoint: The endpoint path, e.g. "chat/completions".
        kind: Whether the endpoint was an API or an agentic (CLI) one: it decides which road a call takes.
        model: The model name as it was sent.
        capabilities: The endpoint's flags (``structured_output``, ``system_role`` …), so that a request is built as
            it was, even where the provider's module cannot be imported.
    """

    provider: str
    endpoint: str
    kind: Literal["api", "agentic"] = "api"
    model: str = ""
    capabilities: dict[str, bool] = Field(default_factory=dict)

    @property
    def key(self) -> str:
        """``provider/endpoint/model``, as the entries of a file with several models name it."""
        return f"{self.provider}/{self.endpoint}/{self.model}"


class ScriptRecording(RecordedModel):
    """Where a recorded script came from: its (first) model, when, and the other models of the same file.

    ``when`` is the start of the first recorded call, ISO 8601 in UTC.
    """

    when: str | None = None
    others: list[RecordedModel] = Field(default_factory=list[RecordedModel])


class EntryRecording(_Strict):
    """What is known of one recorded call beside its answer.

    Attributes:
        fingerprint: Hash of the normalised messages, schema and tools; None matches any prompt.
        prompt: The same request as text, for the difference that a stale recording shows.
        usage: Token counts as the provider reported them.
        finish_reason: As the provider reported it.
        refusal: The text with which the model refused.
        chunks: Lengths in characters of the text pieces of a streamed answer; None where it was not streamed.
        source: ``RecordedModel.key`` of the answering model where the file holds several; None is the script's own.
        error: Class name of the recorded error, of the tree in ``lionagi._errors``.
        partial_text: What had arrived when the recorded error came.
        duration: Seconds from the call to the end of its answer.
    """

    fingerprint: str | None = None
    prompt: str = ""
    usage: dict[str, Any] | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    chunks: list[int] | None = None
    source: str | None = None
    error: str | None = None
    partial_text: str | None = None
    duration: float | None = None


class _Entry(_Strict):
    when: WhenMatcher | None = None
    recording: EntryRecording | None = None


class TextResponse(_Entry):
    """An answer of plain text (text that holds JSON is parsed as a model's would be)."""

    type: Literal["text"] = "text"
    content: str


class ToolCallResponse(_Entry):
    """One native function call; a missing ``id`` is generated when the entry is served."""

    type: Literal["tool_call"] = "tool_call"
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    id: str | None = None


class StructuredResponse(_Entry):
    """A JSON object, served as the answer's text."""

    type: Literal["structured"] = "structured"
    data: dict[str, Any]


class StreamChunkSpec(_Strict):
    """One chunk of a scripted stream; the fields are those of ``lionagi.service.types.StreamChunk``."""

    type: ChunkType
    content: str | None = None
    tool_name: str | None = None
    tool_id: str | None = None
    tool_input: Any = None
    tool_output: Any = None
    is_error: bool = False
    is_delta: bool = False
    metadata: dict[str, Any] = Field(default_factory=dict)


class StreamResponse(_Entry):
    """A stream of chunks; served unstreamed it is its text chunks joined."""

    type: Literal["stream"] = "stream"
    chunks: list[StreamChunkSpec]


class ErrorResponse(_Entry):
    """A failing call; ``delay_ms`` milliseconds pass on the endpoint's clock before it fails."""

    type: Literal["error"] = "error"
    kind: ErrorKind = "value_error"
    message: str = "scripted error"
    delay_ms: int = 0


ResponseEntry = TextResponse | ToolCallResponse | StructuredResponse | StreamResponse | ErrorResponse


def text_of(content: object) -> str | None:
    """Return a message's content as text: a string as it is, the text parts of a list joined, else None."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [_mapping(part).get("text") for part in cast("list[object]", content)]
    kept = [text for text in texts if isinstance(text, str)]
    return "".join(kept) if kept else None


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def last_user_text(payload: Mapping[str, Any]) -> str | None:
    """Return the text of the last user message, else a string under "input", else None."""
    messages: list[object] = payload.get("messages") or []
    for entry in reversed(messages):
        message = _mapping(entry)
        if message.get("role") == "user":
            return text_of(message.get("content"))
    text = payload.get("input")
    return text if isinstance(text, str) else None


def tool_names_of(payload: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that a payload offers, in order (``function.name`` or ``name``)."""
    tools: list[object] = payload.get("tools") or []
    entries = [_mapping(tool) for tool in tools]
    names = [_mapping(entry.get("function", entry)).get("name") for entry in entries]
    return [name for name in names if isinstance(name, str)]


@dataclass(slots=True)
class RecordedCall:
    """One call that the scripted endpoint served, in the order in which the calls began.

    Attributes:
        index: The call's number since the script was attached, from 0.
        payload: A top-level copy of what was sent; ``payload["messages"]`` is the sent list itself, not a copy.
        headers: The sent headers by name, credential values masked; a mapping that calls may share.
        response_type: The entry's ``type``.
        response: The normal response, the list of delivered chunks of a stream entry, or None for an error.
        was_streamed: Whether the call was a streaming one.
        matched_by: "positional", or the condition that chose the entry.
        when_index: Index in the script of the conditional entry, None for a positional one.
        closed_early: True where the consumer has not read the stream to its end.
        started_at: Seconds since the epoch on the endpoint's clock.
        duration: Seconds on the endpoint's clock.
    """

    index: int
    payload: dict[str, Any]
    headers: dict[str, Any]
    response_type: str
    response: Any
    was_streamed: bool = False
    matched_by: str = "positional"
    when_index: int | None = None
    closed_early: bool = False
    started_at: float = 0.0
    duration: float = 0.0

    @property
    def last_user_message(self) -> str | None:
        """The text of the last user message, None where there is none."""
        return last_user_text(self.payload)

    @property
    def system_message(self) -> str | None:
        """The text of the first system (or developer) message, None where there is none."""
        for message in self.payload.get("messages") or ():
            if message.get("role") in ("system", "developer"):
                return text_of(message.get("content"))
        return None

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools that the call offered."""
        return tool_names_of(self.payload)
