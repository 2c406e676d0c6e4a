"""The values that cross between an endpoint and its callers: stream chunks, answers, capabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from lionagi.ln.types.records import FrozenRecord, Record

__all__ = ("Answer", "Capabilities", "ChunkType", "StreamChunk", "ToolCall")

ChunkType = Literal["system", "thinking", "text", "tool_use", "tool_result", "result", "error"]


@dataclass(slots=True, repr=False, eq=False)
class StreamChunk(Record):
    """One piece of a streamed answer.

    A streaming API endpoint yields ``text`` chunks with ``is_delta`` True and then exactly one ``result`` chunk whose
    metadata is ``{"done": True, "raw": <the answer as it would have come unstreamed>, "usage", "finish_reason"}``.
    ``tool_use`` and ``tool_result`` tell what an agentic endpoint did by itself; they ask for nothing.
    """

    type: ChunkType
    content: str | None = None
    tool_name: str | None = None
    tool_id: str | None = None
    tool_input: Any = None
    tool_output: Any = None
    is_error: bool = False
    is_delta: bool = False
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        """Return the type and every field that differs from its default; the values are not copied."""
        data: dict[str, Any] = {"type": self.type}
        for name in ("content", "tool_name", "tool_id", "tool_input", "tool_output"):
            if (value := getattr(self, name)) is not None:
                data[name] = value
        for name in ("is_error", "is_delta", "metadata"):
            if value := getattr(self, name):
                data[name] = value
        return data


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Capabilities(FrozenRecord):
    """What an endpoint can do by itself.

    Attributes:
        structured_output: It can constrain an answer to a JSON schema.
        strict_schema: Such a constraint is declared strict on the wire.
        system_role: It takes a message of role "system".
        native_tools: It takes tool schemas and answers with tool calls.
    """

    structured_output: bool = False
    strict_schema: bool = False
    system_role: bool = True
    native_tools: bool = False


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ToolCall(FrozenRecord):
    """A call that the model asks for; ``arguments`` is the raw text where it is not a JSON object, ``{}`` if absent."""

    function: str
    arguments: dict[str, Any] | str
    id: str | None = None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Answer(FrozenRecord):
    """A finished answer, whatever the wire format.

    Attributes:
        text: The answer's text, "" beside tool calls or a refusal only.
        tool_calls: The calls that the model asks for, in order.
        usage: Token counts as the provider reported them, None where it did not.
        finish_reason: The provider's own word: "stop", "length", "tool_calls", ….
        refusal: The model's words where it refused, None otherwise.
        raw: The whole response.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: dict[str, Any] | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    raw: Any = None
