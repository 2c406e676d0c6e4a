"""History to payload: which messages a model sees, and in which form.

The payload holds one dict per turn side. Dicts of past messages are made once and shared by all later payloads, so
that a conversation of n turns costs n dicts and each call a list of references.

What the model sees of the history: instructions without their tools and formats, answers, and tool results folded
into the context of the instruction that follows them. Tool requests and results have no place of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from lionagi._errors import EmptyOutgoingContentError
from lionagi.protocols.messages.action_response import ActionResponse
from lionagi.protocols.messages.assistant_response import AssistantResponse
from lionagi.protocols.messages.instruction import Instruction, InstructionContent
from lionagi.protocols.messages.message import Message, edit_count
from lionagi.protocols.messages.types import MessageRole

__all__ = ("WireCache", "instruction_wire", "join_blocks", "render_payload")

Wire = dict[str, Any]


def join_blocks(*blocks: Any) -> str:
    """Return the blocks that are not empty, separated by a blank line."""
    return "\n\n".join(str(block) for block in blocks if block)


class WireCache:
    """The wire form of a history, extended from call to call while the history only grows."""

    __slots__ = ("_edits", "_ids", "_lead", "_pending", "_wires")

    def __init__(self) -> None:
        self._reset("")

    def _reset(self, lead: str) -> None:
        self._ids: Sequence[UUID] = ()
        self._wires: list[Wire] = []
        self._pending: list[Wire] = []
        self._lead = lead
        self._edits = edit_count()

    def extend_to(
        self, ids: Sequence[UUID], messages: Mapping[UUID, Message], lead: str
    ) -> tuple[list[Wire], list[Wire]]:
        """Return the wires of the messages ``ids``, and the tool results that no instruction has taken up yet.

        Args:
            ids: The history, oldest first.
            messages: Where the ids are found.
            lead: Text that belongs before the first instruction's guidance, for models without a system role.
        """
        known = len(self._ids)
        if lead != self._lead or self._edits != edit_count() or (known and self._ids != ids[:known]):
            self._reset(lead)
            known = 0
        for message_id in ids[known:]:
            self._add(messages[message_id])
        self._ids = list(ids) if ids else ()
        return self._wires, self._pending

    def _add(self, message: Message) -> None:
        if isinstance(message, Instruction):
            wire = instruction_wire(message.content, self._pending, "" if self._wires else self._lead, past=True)
            self._pending = []
            if wire is not None:
                self._wires.append(wire)
        elif isinstance(message, AssistantResponse):
            self._add_answer(message)
        elif isinstance(message, ActionResponse):
            self._pending.append(message.history_entry)

    def _add_answer(self, message: AssistantResponse) -> None:
        text = message.rendered
        if not text:
            return
        if not self._wires:
            raise ValueError("First message in progression must be an Instruction or System, not an answer.")
        last = self._wires[-1]
        if last["role"] == "assistant":
            self._wires[-1] = {"role": "assistant", "content": join_blocks(last["content"], text)}
        else:
            wire = message.chat_msg
            if wire is not None:
                self._wires.append(wire)


def instruction_wire(
    content: InstructionContent, outputs: Sequence[Wire], lead: str, *, past: bool = False
) -> Wire | None:
    """Return the wire dict of an instruction, or None where it renders to nothing.

    Args:
        content: The instruction's content; it is not changed.
        outputs: Tool results to fold into its context.
        lead: Text to put before its guidance.
        past: True for an instruction of the history, which loses its tools and its format.
    """
    changes: dict[str, Any] = {}
    if past and (content.tool_schemas or content.response_format is not None or content.structure is not None):
        changes = {"tool_schemas": [], "response_format": None, "structure": None}
    if outputs:
        changes["prompt_context"] = [*content.prompt_context, *outputs]
    if lead:
        changes["guidance"] = join_blocks(lead, content.guidance)
    if not changes:
        wire = content.chat(MessageRole.USER)
        return wire if wire["content"] else None
    rendered = content.with_updates(**changes).rendered
    return {"role": "user", "content": rendered} if rendered else None


def render_payload(
    cache: WireCache,
    ids: Sequence[UUID],
    messages: Mapping[UUID, Message],
    current: Instruction,
    *,
    system_text: str,
    system_role: bool,
) -> list[Wire]:
    """Return the ``messages`` list of a payload: system, history, current instruction.

    Args:
        cache: Kept with the branch, so that each past message is rendered once.
        ids: The history, oldest first, without ``current``.
        messages: Where the ids are found.
        current: The instruction of this call; not changed.
        system_text: The system message's text, "" for none.
        system_role: Whether the model takes a system message; otherwise the text leads the first guidance.

    Raises:
        EmptyOutgoingContentError: The current instruction renders to nothing.
        ValueError: The history begins with an answer.
    """
    lead = "" if system_role else system_text
    wires, pending = cache.extend_to(ids, messages, lead)
    wire = instruction_wire(current.content, pending, "" if wires else lead)
    if wire is None:
        raise EmptyOutgoingContentError(
            "The instruction is empty, so nothing was sent; give an instruction, guidance, context or images."
        )
    head = [{"role": "system", "content": system_text}] if system_role and system_text else []
    return [*head, *wires, wire]
