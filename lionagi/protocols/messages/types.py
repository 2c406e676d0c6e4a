"""Roles, senders and recipients of messages."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias
from uuid import UUID

from pydantic import BeforeValidator, Field, InstanceOf

from lionagi._errors import ValidationError, short_repr
from lionagi.protocols.generic.element import Element

__all__ = ("MessageRole", "Party", "SenderRecipient", "validate_sender_recipient")


class MessageRole(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    UNSET = "unset"
    ACTION = "action"


SenderRecipient: TypeAlias = MessageRole | str | UUID

_ROLES: dict[str, MessageRole] = {role.value: role for role in MessageRole}


def validate_sender_recipient(value: Any) -> SenderRecipient:
    """Return the value as a role, a UUID or a name.

    Elements stand for their ids, None for UNSET, the word of a role for the role, and a UUID's text for the UUID; any
    other text is a name. Another type is a ValidationError.
    """
    if isinstance(value, (MessageRole, UUID)):
        return value
    if value is None:
        return MessageRole.UNSET
    if isinstance(value, str):
        role = _ROLES.get(value)
        if role is not None:
            return role
        if len(value) not in (32, 36):
            return value
        try:
            return UUID(value)
        except ValueError:
            return value
    if isinstance(value, Element):
        return value.id
    raise ValidationError(f"Invalid sender or recipient: {short_repr(value)}; use a role, a name, an Element or its id")


# The first two alternatives are there so that what is read already passes without a call of Python.
Party: TypeAlias = Annotated[
    InstanceOf[UUID] | InstanceOf[MessageRole] | Annotated[Any, BeforeValidator(validate_sender_recipient)],
    Field(union_mode="left_to_right"),
]
"""The annotation of a field that holds a sender or a recipient."""
