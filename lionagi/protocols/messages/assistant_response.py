"""AssistantResponse: what a model answered."""

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from pydantic import BaseModel
from pydantic_core import from_json

from lionagi.protocols.messages.message import Message, MessageContent
from lionagi.protocols.messages.text import clean_data, clean_text
from lionagi.protocols.messages.types import MessageRole, Party

__all__ = ("AssistantResponse", "AssistantResponseContent", "response_text", "response_tool_calls")


@dataclass(slots=True, init=False, repr=False, eq=False)
class AssistantResponseContent(MessageContent):
    """The answer.

    Attributes:
        assistant_response: Its text; "" where the model only called tools. Lone surrogates are replaced.
    """

    assistant_response: str = ""

    @classmethod
    def normalized(cls, fields: dict[str, Any], base: Any = None) -> dict[str, Any]:
        """Read the text out of a raw answer."""
        given = dict(fields)
        if "assistant_response" in given:
            given["assistant_response"] = response_text(given["assistant_response"])
        return given

    def _render(self) -> str:
        return self.assistant_response


class AssistantResponse(Message):
    """A message with a model's answer; ``metadata["model_response"]`` keeps the answer as it came."""

    _role: ClassVar[MessageRole] = MessageRole.ASSISTANT
    _content_type: ClassVar[type[MessageContent]] = AssistantResponseContent

    recipient: Party = MessageRole.USER

    @property
    def response(self) -> str:
        """The answer's text."""
        return self.content.assistant_response

    @property
    def model_response(self) -> Any:
        """The answer as it came from the provider, ``{}`` where unknown."""
        return self.metadata.get("model_response", {})

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The native tool calls of the answer: ``{"function", "arguments", "id"}`` each, in order.

        ``arguments`` is a mapping, or the text as it came where that is not a JSON object.
        """
        return self.metadata.get("tool_calls", [])

    @classmethod
    def from_response(cls, raw: Any, sender: Any = None, recipient: Any = None) -> "AssistantResponse":
        """Make a message of a provider's answer.

        Args:
            raw: Text, a provider's response mapping (chat completions, messages, responses), a model, or a list of
                such parts, whose texts are joined.
            sender: Who answered.
            recipient: Who is answered; the user when omitted.
        """
        if isinstance(raw, list) and len(cast("list[Any]", raw)) == 1:
            raw = cast("list[Any]", raw)[0]
        if isinstance(raw, BaseModel):
            raw = raw.model_dump(exclude_none=True, exclude_unset=True)
        raw = clean_data(raw)
        metadata: dict[str, Any] = {"model_response": raw}
        calls = response_tool_calls(raw)
        if calls:
            metadata["tool_calls"] = calls
        return cls(
            content=AssistantResponseContent(assistant_response=raw),
            metadata=metadata,
            sender=sender,
            recipient=MessageRole.USER if recipient is None else recipient,
        )


def response_text(raw: Any) -> str:
    """Return the text of a provider's answer, "" where it holds none. Lone surrogates are replaced."""
    if isinstance(raw, str):
        return clean_text(raw)
    if isinstance(raw, BaseModel):
        raw = raw.model_dump(exclude_none=True, exclude_unset=True)
    if isinstance(raw, (list, tuple)):
        return "".join(response_text(part) for part in cast("list[Any]", raw))
    return clean_text(_mapping_text(cast("dict[str, Any]", raw))) if isinstance(raw, dict) else ""


def _mapping_text(raw: dict[str, Any]) -> str:
    if "choices" in raw:
        return "".join(_choice_text(choice) for choice in raw["choices"] or ())
    if "output" in raw and isinstance(raw["output"], list):
        items = cast("list[dict[str, Any]]", raw["output"])
        return "".join(_blocks_text(item.get("content")) for item in items if item.get("type") == "message")
    if "content" in raw:
        return _blocks_text(raw["content"])
    result = raw.get("result")
    return result if isinstance(result, str) else ""


def _choice_text(choice: dict[str, Any]) -> str:
    return _blocks_text(_choice_message(choice).get("content"))


def _choice_message(choice: dict[str, Any]) -> dict[str, Any]:
    return choice.get("message") or choice.get("delta") or {}


def _blocks_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for block in cast("list[Any]", content) if isinstance(content, list) else ():
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict) and cast("Any", block).get("type") in ("text", "output_text"):
            texts.append(cast("Any", block).get("text") or "")
    return "".join(texts)


def response_tool_calls(raw: Any) -> list[dict[str, Any]]:
    """Return the native tool calls of a provider's response mapping, see ``AssistantResponse.tool_calls``."""
    if not isinstance(raw, dict):
        return []
    answer = cast("dict[str, Any]", raw)
    calls: list[dict[str, Any]] = []
    for choice in answer.get("choices") or ():
        for call in _choice_message(choice).get("tool_calls") or ():
            made: dict[str, Any] = call.get("function") or {}
            calls.append(_call(made.get("name"), made.get("arguments"), call.get("id")))
    content = answer.get("content")
    for block in cast("list[Any]", content) if isinstance(content, list) else ():
        if isinstance(block, dict) and cast("Any", block).get("type") == "tool_use":
            used = cast("dict[str, Any]", block)
            calls.append(_call(used.get("name"), used.get("input"), used.get("id")))
    return calls


def _call(function: Any, arguments: Any, call_id: Any) -> dict[str, Any]:
    if arguments is None or arguments == "":
        arguments = {}
    elif isinstance(arguments, str):
        try:
            read = from_json(arguments)
        except ValueError:
            read = None
        arguments = clean_data(read) if isinstance(read, dict) else arguments
    return {"function": function or "", "arguments": arguments, "id": call_id}
