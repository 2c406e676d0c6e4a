"""System: the standing instructions of a conversation."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from lionagi.protocols.messages.message import Message, MessageContent
from lionagi.protocols.messages.text import clean_text
from lionagi.protocols.messages.types import MessageRole, Party

__all__ = ("DEFAULT_SYSTEM", "System", "SystemContent")

DEFAULT_SYSTEM = "You are a helpful assistant. Answer carefully, and say so when you do not know."


@dataclass(slots=True, init=False, repr=False, eq=False)
class SystemContent(MessageContent):
    """The standing instructions.

    Attributes:
        system_message: Their text.
        system_datetime: A time to show above them; True stands for now (UTC, to the minute), False for none.
    """

    system_message: str = DEFAULT_SYSTEM
    system_datetime: str | None = None

    @classmethod
    def normalized(cls, fields: dict[str, Any], base: Any = None) -> dict[str, Any]:
        """Read True as the current time."""
        given = dict(fields)
        moment = given.get("system_datetime")
        if moment is True:
            given["system_datetime"] = datetime.now(UTC).isoformat(timespec="minutes")
        elif moment is False:
            given["system_datetime"] = None
        if given.get("system_message", "") is None:
            del given["system_message"]
        return given

    def _render(self) -> str:
        head = f"System Time: {self.system_datetime}\n\n" if self.system_datetime else ""
        return clean_text(f"{head}{self.system_message}")


class System(Message):
    """A message with standing instructions; at most one stands at the head of a conversation."""

    _role: ClassVar[MessageRole] = MessageRole.SYSTEM
    _content_type: ClassVar[type[MessageContent]] = SystemContent

    sender: Party = MessageRole.SYSTEM
    recipient: Party = MessageRole.ASSISTANT
