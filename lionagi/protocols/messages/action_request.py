"""ActionRequest: a model asks for a tool call."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from pydantic import BaseModel

from lionagi import ln
from lionagi._errors import ValidationError, short_repr
from lionagi.ln.jsons import fuzzy_json
from lionagi.protocols.messages.message import Message, MessageContent
from lionagi.protocols.messages.text import plain_data
from lionagi.protocols.messages.types import MessageRole

__all__ = ("ActionRequest", "ActionRequestContent", "read_arguments", "read_function")


def read_function(function: Any) -> str:
    """Return a tool's name: a text, or the ``__name__`` of a callable."""
    if isinstance(function, str):
        return function
    name = getattr(function, "__name__", None) if callable(function) else None
    if name is None:
        raise ValidationError(f"Function must be a string or callable with a name, not {short_repr(function)}")
    return name


def read_arguments(arguments: Any) -> dict[str, Any]:
    """Return arguments as a mapping, out of a mapping, a model or JSON text (repaired where that is possible)."""
    if isinstance(arguments, dict):
        return cast("dict[str, Any]", arguments)
    if isinstance(arguments, BaseModel):
        return arguments.model_dump(exclude_unset=True)
    if isinstance(arguments, str):
        try:
            read: Any = fuzzy_json(arguments)
        except ValueError:
            read = None
        if isinstance(read, dict):
            return cast("dict[str, Any]", read)
    raise ValidationError(f"Arguments must be a dictionary, not {short_repr(arguments)}")


@dataclass(slots=True, init=False, repr=False, eq=False)
class ActionRequestContent(MessageContent):
    """The call that is asked for.

    Attributes:
        function: The tool's name; a callable stands for its name.
        arguments: By parameter name; JSON text is read.
        action_response_id: The id of the answering ActionResponse, None before.
    """

    function: str = ""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    action_response_id: str | None = None

    @classmethod
    def normalized(cls, fields: dict[str, Any], base: Any = None) -> dict[str, Any]:
        """Read callables, JSON text, and the older nesting under ``action_request``."""
        given = dict(fields)
        given.update(given.pop("action_request", None) or {})
        if "function" in given:
            given["function"] = read_function(given["function"])
        if "arguments" in given:
            given["arguments"] = read_arguments(given["arguments"])
        if given.get("action_response_id") is not None:
            given["action_response_id"] = str(given["action_response_id"])
        return given

    def _render(self) -> str:
        return ln.dump_yaml(plain_data({"Function": self.function, "Arguments": self.arguments})).strip()


class ActionRequest(Message):
    """A message that asks for a tool call."""

    _role: ClassVar[MessageRole] = MessageRole.ACTION
    _content_type: ClassVar[type[MessageContent]] = ActionRequestContent

    @property
    def function(self) -> str:
        """The tool's name."""
        return self.content.function

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by parameter name."""
        return self.content.arguments

    @property
    def request(self) -> dict[str, Any]:
        """``{"function", "arguments"}``."""
        return {"function": self.content.function, "arguments": self.content.arguments}

    def is_responded(self) -> bool:
        """Tell whether an ActionResponse answers this request."""
        return self.content.action_response_id is not None
