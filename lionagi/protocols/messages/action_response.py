"""ActionResponse: what a tool call came to."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from lionagi import ln
from lionagi.protocols.messages.action_request import read_arguments, read_function
from lionagi.protocols.messages.message import Message, MessageContent
from lionagi.protocols.messages.text import clip_text, json_bytes, plain_data
from lionagi.protocols.messages.types import MessageRole

__all__ = ("HISTORY_LIMIT", "ActionResponse", "ActionResponseContent")

HISTORY_LIMIT = 64 * 1024  # bytes of one tool's output that later prompts carry

_put = object.__setattr__


@dataclass(slots=True, init=False, repr=False, eq=False)
class ActionResponseContent(MessageContent):
    """The outcome of a call.

    Attributes:
        function: The tool's name.
        arguments: The arguments of the request.
        output: What the tool returned, whole; an error's facts where it failed.
        action_request_id: The id of the answered request.
        error: The error's text, None where the call succeeded.
    """

    function: str = ""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    output: Any = None
    action_request_id: str | None = None
    error: str | None = None

    @classmethod
    def normalized(cls, fields: dict[str, Any], base: Any = None) -> dict[str, Any]:
        """Read callables, JSON text, and the older nesting under ``action_response``."""
        given = dict(fields)
        given.update(given.pop("action_response", None) or {})
        if "function" in given:
            given["function"] = read_function(given["function"])
        if "arguments" in given:
            given["arguments"] = read_arguments(given["arguments"])
        if given.get("action_request_id") is not None:
            given["action_request_id"] = str(given["action_request_id"])
        return given

    def to_dict(self, exclude: Any = None) -> dict[str, Any]:
        """Return the fields that are not empty; an output is kept whatever it is, unless it is None."""
        data = super(ActionResponseContent, self).to_dict(exclude)
        if self.output is not None and "output" not in (exclude or ()):
            data["output"] = self.output
        return data

    def _entry(self) -> dict[str, Any]:
        return {
            "function": self.function,
            "arguments": plain_data(self.arguments),
            "output": _clipped(self.output),
        }

    def _render(self) -> str:
        return ln.dump_yaml({key.capitalize(): value for key, value in self._entry().items()}).strip()


def _clipped(output: Any) -> Any:
    """Return the output as JSON data; a text, or the JSON text of data, cut to HISTORY_LIMIT where it is longer."""
    data = plain_data(output)
    if isinstance(data, str):
        return clip_text(data, HISTORY_LIMIT)
    if not isinstance(data, (dict, list)):
        return data
    raw = json_bytes(data)  # pyright: ignore[reportUnknownArgumentType]
    return data if len(raw) <= HISTORY_LIMIT else clip_text(raw.decode(), HISTORY_LIMIT)  # pyright: ignore[reportUnknownVariableType]


class ActionResponse(Message):
    """A message with the outcome of a tool call."""

    _role: ClassVar[MessageRole] = MessageRole.ACTION
    _content_type: ClassVar[type[MessageContent]] = ActionResponseContent

    @property
    def function(self) -> str:
        """The tool's name."""
        return self.content.function

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the request."""
        return self.content.arguments

    @property
    def output(self) -> Any:
        """What the tool returned, whole."""
        return self.content.output

    @property
    def result(self) -> Any:
        """The same as ``output``."""
        return self.content.output

    @property
    def success(self) -> bool:
        """Whether the call ended without an error."""
        return self.content.error is None

    @property
    def request_id(self) -> str | None:
        """The id of the answered request."""
        return self.content.action_request_id

    @property
    def response(self) -> dict[str, Any]:
        """``{"function", "arguments", "output"}`` with the output whole."""
        content = self.content
        return {"function": content.function, "arguments": content.arguments, "output": content.output}

    @property
    def history_entry(self) -> dict[str, Any]:
        """``{"function", "arguments", "output"}`` as JSON data for later prompts, the output cut to 64 KiB."""
        return self.content._entry()
