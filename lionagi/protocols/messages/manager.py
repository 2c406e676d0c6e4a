"""MessageManager: the messages of one branch, and the ways to add to them."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar, cast
from uuid import UUID

from lionagi._errors import ExecutionError, NotFoundError, ValidationError, short_repr
from lionagi.protocols.generic.pile import Pile
from lionagi.protocols.generic.progression import Progression
from lionagi.protocols.messages import create
from lionagi.protocols.messages.action_request import ActionRequest
from lionagi.protocols.messages.action_response import ActionResponse
from lionagi.protocols.messages.assistant_response import AssistantResponse
from lionagi.protocols.messages.instruction import Instruction
from lionagi.protocols.messages.message import Message
from lionagi.protocols.messages.system import System

__all__ = ("MessageManager",)

M = TypeVar("M", bound=Message)
Hook = Callable[[Message], Any]


class MessageManager:
    """The messages of a conversation in order, with at most one System message, at the head.

    Args:
        messages: Messages to begin with: a pile, which is taken as it is, or an iterable.
        progression: Their order, the given one when omitted.
        system: The System message.
        on_message_added: A function, or several, called with each message that is added; may be asynchronous, then
            only ``a_add_message`` adds.
    """

    create_instruction = staticmethod(create.create_instruction)
    create_assistant_response = staticmethod(create.create_assistant_response)
    create_action_request = staticmethod(create.create_action_request)
    create_action_response = staticmethod(create.create_action_response)
    create_system = staticmethod(create.create_system)
    create_message = staticmethod(create.create_message)

    def __init__(
        self,
        messages: Pile[Message] | Iterable[Message] | dict[str, Any] | None = None,
        progression: Any = None,
        system: System | None = None,
        on_message_added: Hook | Iterable[Hook] | None = None,
    ) -> None:
        if isinstance(messages, dict):
            messages = Pile[Message].from_dict(cast("dict[str, Any]", messages))
        if not isinstance(messages, Pile):
            messages = Pile[Message](messages, item_type=Message, order=progression)
        self.messages: Pile[Message] = messages
        self.system: System | None = None
        self._on_message_added: list[Hook] = (
            [on_message_added] if callable(on_message_added) else list(on_message_added or ())
        )
        if system is not None:
            self.set_system(system)
        elif messages and isinstance(messages[0], System):
            self.system = messages[0]

    @property
    def progression(self) -> Progression:
        """The order of the messages."""
        return self.messages.progression

    def set_system(self, system: System) -> None:
        """Put the System message at the head, in place of the one that is there."""
        if not isinstance(system, System):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValidationError(f"System message must be a System instance, not {short_repr(system)}")
        if self.system is not None:
            self.messages.exclude(self.system)
        self.messages.exclude(system)
        self.messages.insert(0, system)
        self.system = system

    # -- adding

    def add_message(self, **kwargs: Any) -> Message:
        """Make the message that the arguments of ``create_message`` describe, add it and call the hooks.

        A message that is there already is updated where it stands.

        Raises:
            ExecutionError: A hook is asynchronous; nothing was added. It is a RuntimeError.
        """
        hooks = tuple(self._on_message_added)
        for hook in hooks:
            if inspect.iscoroutinefunction(hook):
                raise ExecutionError(f"Async on_message_added callback {short_repr(hook)}: use a_add_message()")
        message = self._place(create.create_message(**kwargs))
        errors: list[Exception] = []
        for hook in hooks:
            try:
                hook(message)
            except Exception as error:
                errors.append(error)
        _raise_all(errors)
        return message

    async def a_add_message(self, **kwargs: Any) -> Message:
        """Do what ``add_message`` does under the pile's lock, and await asynchronous hooks outside of it.

        Every hook is called; one failure is raised as it is, several as an exception group. None means "not given".
        """
        hooks = tuple(self._on_message_added)
        async with self.messages:
            message = self._place(create.create_message(**{k: v for k, v in kwargs.items() if v is not None}))
        await self._call_hooks((message,), hooks)
        return message

    async def add_block(self, messages: Sequence[Message], after: UUID | None = None) -> None:
        """Add messages that belong together, in one step that nothing can come between, then call the hooks.

        Args:
            messages: The messages, in order; no System message among them.
            after: Id of the message they follow; at the end when None or when that message is gone.
        """
        if after is None or after not in self.messages.collections or self.messages.keys()[-1] == after:
            self.messages.update(messages)
        else:
            order = self.progression.order
            at = len(order) - order[::-1].index(after)
            for offset, message in enumerate(messages):
                self.messages.insert(at + offset, message)
        if self._on_message_added:
            await self._call_hooks(messages, tuple(self._on_message_added))

    async def _call_hooks(self, messages: Sequence[Message], hooks: Sequence[Hook]) -> None:
        errors: list[Exception] = []
        for message in messages:
            for hook in hooks:
                try:
                    outcome = hook(message)
                    if isinstance(outcome, Awaitable):
                        await outcome
                except Exception as error:
                    errors.append(error)
        _raise_all(errors)

    def _place(self, message: Message) -> Message:
        if isinstance(message, System):
            self.set_system(message)
        else:
            self.messages.append(message)
        return message

    # -- clearing

    def clear_messages(self) -> None:
        """Remove all messages but the System message."""
        self.messages.clear()
        if self.system is not None:
            self.messages.append(self.system)

    async def aclear_messages(self) -> None:
        """Do ``clear_messages`` under the pile's lock."""
        async with self.messages:
            self.clear_messages()

    # -- looking

    def _last(self, kind: type[M]) -> M | None:
        found = self.messages.filter_by_type(kind, reverse=True, num_items=1)
        return found[0] if found else None

    @property
    def last_response(self) -> AssistantResponse | None:
        """The latest answer, None before the first."""
        return self._last(AssistantResponse)

    @property
    def last_instruction(self) -> Instruction | None:
        """The latest instruction, None before the first."""
        return self._last(Instruction)

    @property
    def assistant_responses(self) -> Pile[AssistantResponse]:
        """The answers, as a pile of the same messages."""
        return self.messages.filter_by_type(AssistantResponse, as_pile=True)

    @property
    def instructions(self) -> Pile[Instruction]:
        """The instructions, as a pile of the same messages."""
        return self.messages.filter_by_type(Instruction, as_pile=True)

    @property
    def action_requests(self) -> Pile[ActionRequest]:
        """The tool requests, as a pile of the same messages."""
        return self.messages.filter_by_type(ActionRequest, as_pile=True)

    @property
    def action_responses(self) -> Pile[ActionResponse]:
        """The tool results, as a pile of the same messages."""
        return self.messages.filter_by_type(ActionResponse, as_pile=True)

    @property
    def actions(self) -> Pile[Message]:
        """Tool requests and results, as a pile of the same messages."""
        return self.messages.filter_by_type((ActionRequest, ActionResponse), as_pile=True)

    def to_chat_msgs(self, progression: Any = None) -> list[dict[str, Any]]:
        """Return ``{"role", "content"}`` of each message in the order, those that do not render left out."""
        if progression is not None and not len(progression):
            return []
        order = self.progression if progression is None else Progression(progression)
        try:
            messages = [self.messages.collections[one] for one in order]
        except KeyError as error:
            raise ValidationError(f"One or more messages in the progression are not in the pile: {error}") from error
        return [found for message in messages if (found := message.chat_msg) is not None]

    # -- changing

    def remove_last_instruction_tool_schemas(self) -> None:
        """Take the tool schemas out of the latest instruction."""
        if (last := self.last_instruction) is not None:
            last.update(tool_schemas=[])

    def concat_recent_action_responses_to_instruction(self, instruction: Instruction) -> None:
        """Add the tool results at the end of the conversation to an instruction's context."""
        recent: list[dict[str, Any]] = []
        for message in reversed(self.messages.values()):
            if isinstance(message, ActionResponse):
                recent.append(message.history_entry)
            elif not isinstance(message, ActionRequest) and message is not instruction:
                break
        if recent:
            instruction.update(context=recent[::-1], handle_context="extend")

    # -- the pile, by short names

    def __len__(self) -> int:
        return len(self.messages)

    def __bool__(self) -> bool:
        return bool(self.messages)

    def __contains__(self, item: object) -> bool:
        return item in self.messages

    def get(self, key: Any) -> Message:
        """Return a message by position or id; an absent one is a NotFoundError."""
        found = self.messages[key]
        if not isinstance(found, Message):
            raise NotFoundError(f"{short_repr(key)} names no single message")
        return found


def _raise_all(errors: list[Exception]) -> None:
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("several on_message_added callbacks failed", errors)
