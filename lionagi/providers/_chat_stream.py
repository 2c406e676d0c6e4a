"""Putting a streamed chat completion together again."""

from __future__ import annotations

from io import StringIO
from typing import Any, cast

from lionagi._errors import ValidationError

__all__ = ("ChatAssembler",)


class ChatAssembler:
    """Takes the chunks of one streamed chat completion and builds the answer as it would have come unstreamed.

    Text is kept in one buffer, so that a million short pieces cost no more than the text itself.

    Attributes:
        size: Characters held so far.
    """

    def __init__(self) -> None:
        self.size = 0
        self._text: StringIO | None = None
        self._refusal: StringIO | None = None
        self._calls: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, StringIO] = {}
        self._head: dict[str, Any] = {}
        self._usage: dict[str, Any] | None = None
        self._finish: str | None = None

    @property
    def text(self) -> str:
        """The text so far."""
        return self._text.getvalue() if self._text is not None else ""

    def add(self, event: Any) -> tuple[str, str, bool]:
        """Take one chunk and return (its text, its thinking, whether it brought any content).

        JSON that is no chat completion chunk is a ValidationError.
        """
        if not isinstance(event, dict):
            raise ValidationError(f"an event is {type(event).__name__}, not a JSON object")
        event = cast("dict[str, Any]", event)
        if not self._head and "id" in event:
            self._head = {key: event[key] for key in ("id", "created", "model") if key in event}
        if isinstance(usage := event.get("usage"), dict):
            self._usage = cast("dict[str, Any]", usage)
        choice = self._choice(event)
        if choice is None:
            return "", "", False
        delta: dict[str, Any] = choice.get("delta") or {}
        if isinstance(finish := choice.get("finish_reason"), str):
            self._finish = finish
        text, refusal = _string(delta, "content"), _string(delta, "refusal")
        thinking = _string(delta, "reasoning_content") or _string(delta, "reasoning") or ""
        if text is not None:
            self._text = self._write(self._text, text)
        if refusal:
            self._refusal = self._write(self._refusal, refusal)
        for call in cast("list[Any]", delta.get("tool_calls") or []):
            self._add_call(call)
        return text or "", thinking, bool(text or thinking or refusal or delta.get("tool_calls") or finish)

    @staticmethod
    def _choice(event: dict[str, Any]) -> dict[str, Any] | None:
        choices: Any = event.get("choices")
        if not choices:
            return None  # a usage report or a provider's own event
        first: Any = cast("list[Any]", choices)[0] if isinstance(choices, list) else None
        if not isinstance(first, dict) or not isinstance(cast("dict[str, Any]", first).get("delta") or {}, dict):
            raise ValidationError("an event's choices are not those of a chat completion chunk")
        choice = cast("dict[str, Any]", first)
        return choice if not choice.get("index") else None

    def _write(self, buffer: StringIO | None, text: str) -> StringIO:
        buffer = buffer if buffer is not None else StringIO()
        buffer.write(text)
        self.size += len(text)
        return buffer

    def _add_call(self, call: Any) -> None:
        if not isinstance(call, dict):
            raise ValidationError("a tool call is no JSON object")
        call = cast("dict[str, Any]", call)
        index: Any = call.get("index")
        place = index if isinstance(index, int) else len(self._calls)
        function: Any = call.get("function") or {}
        if not isinstance(function, dict):
            raise ValidationError("a tool call's function is no JSON object")
        function = cast("dict[str, Any]", function)
        known = self._calls.setdefault(place, {"id": None, "type": "function", "function": {"name": ""}})
        if isinstance(call.get("id"), str):
            known["id"] = call["id"]
        known["function"]["name"] += _string(function, "name") or ""
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            known["function"]["arguments"] = arguments
        elif isinstance(arguments, str):
            self._arguments[place] = self._write(self._arguments.get(place), arguments)

    def response(self) -> dict[str, Any]:
        """Return the answer in the shape of an unstreamed chat completion."""
        message: dict[str, Any] = {"role": "assistant", "content": self._text.getvalue() if self._text else None}
        if self._refusal is not None:
            message["refusal"] = self._refusal.getvalue()
        if self._calls:
            if not message["content"]:
                message["content"] = None
            message["tool_calls"] = [self._call(place) for place in sorted(self._calls)]
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {"object": "chat.completion", **self._head, "choices": [choice], "usage": self._usage}

    def _call(self, place: int) -> dict[str, Any]:
        call = self._calls[place]
        if place in self._arguments:
            call["function"]["arguments"] = self._arguments[place].getvalue()
        call["function"].setdefault("arguments", "")
        return call


def _string(source: dict[str, Any], key: str) -> str | None:
    value = source.get(key)
    if value is None or isinstance(value, str):
        return value
    raise ValidationError(f"{key} is {type(value).__name__}, not text")
