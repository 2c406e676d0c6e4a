"""Message: a node with a role, a sender and a recipient, and the base of what messages contain."""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import Field, field_validator

from lionagi._errors import ValidationError, short_repr
from lionagi.ln.types import DataClass
from lionagi.protocols.graph.node import Node
from lionagi.protocols.messages.text import plain_data
from lionagi.protocols.messages.types import MessageRole, Party, validate_sender_recipient

__all__ = ("Message", "MessageContent", "RoledMessage", "edit_count")

_put = object.__setattr__
_KEPT = ("_rendered", "_chat")
_counter = itertools.count(1)
_edits = 0


def edit_count() -> int:
    """Return a number that changes whenever any message in the process is edited, for caches of rendered history."""
    return _edits


def _note_edit() -> None:
    global _edits
    _edits = next(_counter)


@dataclass(slots=True, init=False, repr=False, eq=False)
class MessageContent(DataClass):
    """The base of message contents: slotted records made with keywords; an omitted field has its default.

    What a content renders to is kept until one of its fields is assigned. Lists and mappings in it are shared with
    whoever passed them and must be replaced, not changed in place.
    """

    _rendered: Any = None
    _chat: dict[str, Any] | None = None

    def __init__(self, **fields: Any) -> None:
        given = self.normalized(fields) if fields else fields
        for name, default, factory in type(self)._rows or self._field_rows():
            _put(self, name, given.pop(name) if name in given else default if factory is None else factory())
        if given:
            name, value = given.popitem()
            raise ValidationError(
                f"Invalid parameter: {name} (={short_repr(value)}) is not a field of {type(self).__name__}; "
                f"remove it or use one of {', '.join(sorted(self.field_names()))}"
            )

    def __setattr__(self, name: str, value: Any) -> None:
        _put(self, name, value)
        _put(self, "_rendered", None)
        _put(self, "_chat", None)
        _note_edit()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [name for name, _, _ in self._field_rows() if name not in _KEPT]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    @classmethod
    def _field_rows(cls) -> tuple[Any, ...]:
        if cls._rows is None:
            cls.field_names()
        return cls._rows or ()

    @classmethod
    def made(cls, **fields: Any) -> Self:
        """Make a content of fields that are in their kept form already; nothing is read or checked."""
        new = object.__new__(cls)
        for name, default, factory in cls._rows or cls._field_rows():
            _put(new, name, fields[name] if name in fields else default if factory is None else factory())
        return new

    @classmethod
    def normalized(cls, fields: dict[str, Any], base: Self | None = None) -> dict[str, Any]:
        """Return constructor fields in their kept form, as a mapping of its own.

        Args:
            fields: What a caller gave, with the alternative spellings that the class accepts.
            base: The content that is updated, None for a new one.
        """
        return dict(fields)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make a content of a mapping of its fields, in any spelling that the class accepts."""
        return cls(**data)

    def to_dict(self, exclude: Any = None) -> dict[str, Any]:
        """Return the public fields that are neither None nor an empty text, list or mapping."""
        skip = exclude or ()
        return {
            name: value
            for name, _, _ in self._field_rows()
            if not name.startswith("_") and name not in skip and not _is_empty(value := getattr(self, name))
        }

    def with_updates(self, **kwargs: Any) -> Self:
        """Return a content with these fields replaced; the other values are shared, not copied."""
        cls = type(self)
        given = cls.normalized(kwargs, self)
        new = object.__new__(cls)
        for name, _, _ in cls._rows or cls._field_rows():
            _put(new, name, given.pop(name) if name in given else getattr(self, name))
        if given:
            cls(**given)
        _put(new, "_rendered", None)
        _put(new, "_chat", None)
        return new

    @property
    def rendered(self) -> Any:
        """The content as a model sees it: text, or a list of parts where there are images."""
        if self._rendered is None:
            _put(self, "_rendered", self._render())
        return self._rendered

    def chat(self, role: MessageRole) -> dict[str, Any]:
        """Return ``{"role", "content"}``; the same mapping every time until the content is edited."""
        if self._chat is None:
            _put(self, "_chat", {"role": role.value, "content": self.rendered})
        return self._chat  # pyright: ignore[reportReturnType]

    def _render(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not render")


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, dict, tuple, set)) and not value)


class Message(Node):
    """A message of a conversation.

    Attributes:
        content: An instance of the class's content type; a mapping of its fields is accepted, None is the default.
        sender: A role, a name or an id.
        recipient: Likewise.
        channel: A free label.
    """

    _role: ClassVar[MessageRole] = MessageRole.UNSET
    _content_type: ClassVar[type[MessageContent]] = MessageContent

    content: Any = Field(default=None, validate_default=True)
    sender: Party = MessageRole.UNSET
    recipient: Party = MessageRole.UNSET
    channel: str | None = None

    def __init__(self, **fields: Any) -> None:
        fields.pop("role", None)  # the role is the class's; dumps show it, so that it comes back here
        super().__init__(**fields)
        _put(self, "__pydantic_fields_set__", self.all_names)

    @field_validator("content", mode="before")
    @classmethod
    def _read_content(cls, value: Any) -> Any:
        wanted = cls._content_type
        if isinstance(value, wanted):
            return value
        if value is None:
            return wanted()
        if isinstance(value, dict):
            return wanted.from_dict(value)  # pyright: ignore[reportUnknownArgumentType]
        raise TypeError(f"content must be dict or {wanted.__name__} instance, not {short_repr(value)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "content":
            value = self._read_content(value)
            _note_edit()
        super().__setattr__(name, value)

    @property
    def role(self) -> MessageRole:
        """The role of the message's class."""
        return self._role

    @property
    def rendered(self) -> Any:
        """The content as a model sees it: text, or a list of parts where there are images."""
        return self.content.rendered

    @property
    def chat_msg(self) -> dict[str, Any] | None:
        """``{"role", "content"}`` for a payload, None where rendering fails.

        The mapping is made once and shared by all payloads of the conversation; do not change it.
        """
        try:
            return self.content.chat(self._role)
        except Exception:
            return None

    @property
    def image_content(self) -> list[dict[str, Any]] | None:
        """The image parts of the rendered content, None where there are none."""
        rendered = self.rendered
        if isinstance(rendered, str):
            return None
        return [part for part in rendered if part.get("type") == "image_url"] or None

    @property
    def is_broadcast(self) -> bool:
        """Whether the message names no recipient."""
        return self.recipient == MessageRole.UNSET

    @property
    def is_direct(self) -> bool:
        """Whether the message names a recipient."""
        return not self.is_broadcast

    def update(self, sender: Any = None, recipient: Any = None, **content_fields: Any) -> None:
        """Change sender, recipient and fields of the content in place; None leaves the party as it is."""
        if sender is not None:
            self.sender = validate_sender_recipient(sender)
        if recipient is not None:
            self.recipient = validate_sender_recipient(recipient)
        if content_fields:
            self.content = self.content.with_updates(**content_fields)

    def clone(self) -> Self:
        """Return a copy with an id of its own; ``metadata["clone_from"]`` is this message's id."""
        return type(self)(
            content=self.content.with_updates(),
            sender=self.sender,
            recipient=self.recipient,
            channel=self.channel,
            metadata={**self.metadata, "clone_from": str(self.id)},
        )

    def _dump(self, mode: Any) -> dict[str, Any]:
        content, metadata = self.content.to_dict(), self.metadata
        if mode == "json":
            content, metadata = plain_data(content), plain_data(metadata)
        return {
            "id": str(self.id),
            "created_at": self.created_at,
            "metadata": metadata,
            "content": content,
            "embedding": self.embedding,
            "sender": _party_text(self.sender),
            "recipient": _party_text(self.recipient),
            "channel": self.channel,
            "role": self._role.value,
        }


def _party_text(party: Any) -> str | None:
    return (party.value if isinstance(party, MessageRole) else str(party)) if party else None


RoledMessage = Message
