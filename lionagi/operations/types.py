"""The vocabulary of the verbs: frozen parameter objects, the Middle protocol and the parse errors.

A verb's public arguments are resolved once into one of these objects; every later stage reads only them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from lionagi._errors import ExtractionError, ParseError, SchemaRejectedError
from lionagi.ln.home import runs_dir
from lionagi.ln.types import ModelConfig, Params

if TYPE_CHECKING:
    from collections.abc import Callable

    from lionagi.ln.calls import AlcallParams
    from lionagi.session.branch import Branch

__all__ = (
    "ActionParam",
    "ChatParam",
    "ExtractionError",
    "HandleValidation",
    "InterpretParam",
    "Middle",
    "MorphParam",
    "ParseError",
    "ParseParam",
    "RunParam",
    "SchemaRejectedError",
    "StructuredOutput",
    "UnparsedResponse",
)

HandleValidation = Literal["raise", "return_value", "return_none"]
"""What a verb does with an answer that does not fit: raise, hand it over as it is, or return None."""

StructuredOutput = Literal["auto", "native", "prompt", "both"]
"""Where the request schema goes: the provider's own field, the prompt, both, or whichever the endpoint can do."""


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class MorphParam(Params):
    """The base of the verbs' parameters; None counts as not supplied."""

    _config: ClassVar[ModelConfig] = ModelConfig(none_as_sentinel=True)


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class ChatParam(MorphParam):
    """One model call: what is asked, of which model, with which history and output format."""

    guidance: Any = None
    context: Any = None
    sender: Any = None
    recipient: Any = None
    response_format: Any = None
    structure: Any = None
    progression: Any = None
    tool_schemas: Any = None
    images: Any = None
    image_detail: Any = None
    plain_content: str | None = None
    include_token_usage_to_model: bool = False
    imodel: Any = None
    imodel_kw: Any = None
    structured_output: StructuredOutput = "auto"

    @classmethod
    def from_branch(cls, branch: Branch, **overrides: Any) -> ChatParam:
        """Return the parameters that a plain call on ``branch`` uses, with ``overrides`` on top."""
        values: dict[str, Any] = {
            "sender": branch.user or "user",
            "recipient": branch.id,
            "images": [],
            "image_detail": "auto",
            "plain_content": "",
            "imodel": branch.chat_model,
            "imodel_kw": {},
        }
        return cls(**{**values, **overrides})


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class RunParam(ChatParam):
    """A model call that streams, and what it leaves on disk (nothing unless ``stream_persist``)."""

    stream_persist: bool = False
    persist_dir: Any = field(default_factory=runs_dir)
    snapshot_dir: str | Path | None = None


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class InterpretParam(MorphParam):
    """How ``interpret`` rewrites a text."""

    domain: str | None = None
    style: str | None = None
    sample_writing: str | None = None
    imodel: Any = None
    imodel_kw: Any = None


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class ParseParam(MorphParam):
    """How text becomes the asked-for format, and what happens where it does not."""

    response_format: Any = None
    structure: Any = None
    fuzzy_match_params: Any = None
    handle_validation: HandleValidation = "raise"
    alcall_params: Any = None
    imodel: Any = None
    imodel_kw: Any = None


@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class ActionParam(MorphParam):
    """How accepted tool requests run.

    ``tool_timeout`` is in seconds and ends one call; ``max_tool_calls`` caps the accepted calls of one turn,
    ``max_concurrent_tools`` those in flight at a time.
    """

    action_call_params: AlcallParams | None = None
    tools: Any = None
    strategy: Literal["concurrent", "sequential"] = "concurrent"
    suppress_errors: bool = True
    verbose_action: bool = False
    tool_timeout: float | None = None
    max_tool_calls: int = 64
    max_concurrent_tools: int = 16


class Middle(Protocol):
    """One logical exchange with a model: it may call the model several times and records its own messages."""

    async def __call__(
        self,
        branch: Branch,
        instruction: Any,
        chat_param: ChatParam,
        parse_param: ParseParam | None = None,
        clear_messages: bool = False,
        skip_validation: bool = False,
    ) -> Any:
        """Return text, a mapping, a model or None."""
        ...


def _unparsed(text: str, state: dict[str, Any]) -> UnparsedResponse:
    value = UnparsedResponse(text)
    value.__dict__.update(state)
    return value


class UnparsedResponse(str):
    """The raw text of an answer that could not be read as the asked-for format; behaves like ``str``.

    ``failure_kind`` is "extraction" or "validation"; ``validation_error`` is the schema's error where there is one.
    """

    failure_kind: Literal["extraction", "validation"] = "extraction"
    validation_error: Exception | None = None

    def __reduce__(self) -> tuple[Callable[..., UnparsedResponse], tuple[str, dict[str, Any]]]:
        return _unparsed, (str(self), dict(self.__dict__))
