"""From the chunks of one stream to messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionagi.protocols.messages.assistant_response import AssistantResponse, AssistantResponseContent
from lionagi.protocols.messages.create import create_action_request, create_action_response
from lionagi.protocols.messages.text import clean_data, clean_text

if TYPE_CHECKING:
    from lionagi.protocols.messages.action_request import ActionRequest
    from lionagi.protocols.messages.instruction import Instruction
    from lionagi.protocols.messages.message import Message
    from lionagi.service.connections.endpoint import Endpoint
    from lionagi.service.types import StreamChunk, ToolCall
    from lionagi.session.branch import Branch

__all__ = ("Collector",)


class Collector:
    """Gathers the chunks of one stream.

    Text between two tool uses becomes one AssistantResponse. Tool uses and results that the endpoint reports are
    history: it ran them itself. Tool calls in the final response are requests to us and end up on the last answer.

    Attributes:
        messages: What the stream has produced, in order.
        answers: The AssistantResponses among them.
        error: Text of an error chunk, None where there was none.
        ended: True once the endpoint said that nothing follows.
        complete: True once the stream has told its result.
    """

    def __init__(self, branch: Branch, instruction: Instruction, endpoint: Endpoint) -> None:
        self._branch_id = branch.id
        self._asked_by = instruction.sender
        self._endpoint = endpoint
        self.messages: list[Message] = []
        self.answers: list[AssistantResponse] = []
        self.error: str | None = None
        self.ended = False
        self.complete = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._result: dict[str, Any] = {}
        self._open: dict[str | None, ActionRequest] = {}

    def feed(self, chunk: StreamChunk) -> list[Message]:
        """Take one chunk and return the messages that it completed."""
        kind = chunk.type
        if kind == "text":
            if chunk.content:
                self._text.append(chunk.content)
            return []
        handler = getattr(self, f"_on_{kind}", None)
        return handler(chunk) if handler is not None else []

    @property
    def text(self) -> str:
        """The answer's text so far, all parts joined by blank lines."""
        return "\n\n".join(
            part for part in (*(a.content.assistant_response for a in self.answers), "".join(self._text)) if part
        )

    def _on_thinking(self, chunk: StreamChunk) -> list[Message]:
        if chunk.content:
            self._thinking.append(chunk.content)
        return []

    def _on_system(self, chunk: StreamChunk) -> list[Message]:
        session = chunk.metadata.get("session_id")
        if session and hasattr(self._endpoint, "session_id"):
            setattr(self._endpoint, "session_id", session)  # noqa: B010 - only agentic endpoints have it
        return []

    def _on_tool_use(self, chunk: StreamChunk) -> list[Message]:
        done = self._flush()
        request = create_action_request(
            function=clean_text(chunk.tool_name or ""),
            arguments=clean_data(chunk.tool_input or {}),
            sender=self._branch_id,
            recipient=self._asked_by,
        )
        self._open[chunk.tool_id] = request
        return self._add(*done, request)

    def _on_tool_result(self, chunk: StreamChunk) -> list[Message]:
        request = self._open.pop(chunk.tool_id, None)
        if request is None:
            return []
        response = create_action_response(
            action_request=request,
            action_output=clean_data(chunk.tool_output),
            sender=self._asked_by,
            recipient=self._branch_id,
        )
        if chunk.is_error:
            response.metadata["is_error"] = True
        return self._add(response)

    def _on_result(self, chunk: StreamChunk) -> list[Message]:
        self._result.update(chunk.metadata)
        self.complete = True
        return []

    def _on_error(self, chunk: StreamChunk) -> list[Message]:
        if chunk.metadata.get("benign_eos"):
            self.ended = True
        elif not chunk.metadata.get("reconnect_notice"):
            self.error = chunk.content or "(empty error)"
        return []

    def _add(self, *messages: Message) -> list[Message]:
        self.messages.extend(messages)
        return list(messages)

    def _flush(self, text: str | None = None, calls: tuple[ToolCall, ...] = ()) -> list[AssistantResponse]:
        """Return the answer that the text so far makes, none where there is nothing to say."""
        text = "".join(self._text) if text is None else text
        if not (text or calls):
            return []
        answer = self._answer(text, calls)
        self._text.clear()
        self._thinking.clear()
        self.answers.append(answer)
        return [answer]

    def _answer(self, text: str, calls: tuple[ToolCall, ...] = ()) -> AssistantResponse:
        metadata: dict[str, Any] = {}
        if self._thinking:
            metadata["thinking"] = clean_text("\n".join(self._thinking))
        if calls:
            metadata["tool_calls"] = [{"function": c.function, "arguments": c.arguments, "id": c.id} for c in calls]
        answer = AssistantResponse(
            content=AssistantResponseContent.made(assistant_response=text if text.isascii() else clean_text(text)),
            sender=self._branch_id,
            recipient=self._asked_by,
        )
        answer.metadata.update(metadata)
        return answer

    def so_far(self) -> list[Message]:
        """Return the messages so far; an answer that is still arriving is the last, its metadata ``partial``."""
        if not (text := "".join(self._text)):
            return list(self.messages)
        answer = self._answer(text)
        answer.metadata["partial"] = True
        return [*self.messages, answer]

    def finish(self) -> list[Message]:
        """Return the last answer, its metadata completed with what the endpoint reported at the end.

        A final response that came without any text before it is decoded as an unstreamed answer would be.
        """
        raw = self._result.get("raw")
        text, calls, refusal = None, (), None
        if raw is not None:
            decoded = self._endpoint.decode(raw)
            calls, refusal = decoded.tool_calls, decoded.refusal
            if not (self._text or self.answers):
                text = decoded.text or refusal or ""
        done = self._flush(text, calls)
        if done and self._result:
            response = raw if raw is not None else clean_data(self._result)
            done[-1].metadata["model_response"] = response
            if refusal:
                done[-1].metadata["refusal"] = refusal
        return self._add(*done)
