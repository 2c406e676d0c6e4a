"""The models that a call and its answer share: instructions, reasons, tool requests and tool responses.

The field templates (``REASON_FIELD`` and the like) are made at their first use and are one object each.
"""

import json
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from lionagi._errors import ConfigurationError, ParseError, short_repr
from lionagi.ln.jsons import extract_json
from lionagi.ln.types import Unset, not_sentinel
from lionagi.models import FieldModel, HashableModel

__all__ = (
    "ACTION_REQUESTS_FIELD",
    "ACTION_REQUIRED_FIELD",
    "ACTION_RESPONSES_FIELD",
    "INSTRUCT_FIELD",
    "LIST_INSTRUCT_FIELD_MODEL",
    "REASON_FIELD",
    "ActionRequestModel",
    "ActionResponseModel",
    "Instruct",
    "Reason",
    "get_default_field",
)

ACTION_REQUESTS_FIELD: FieldModel
ACTION_REQUIRED_FIELD: FieldModel
ACTION_RESPONSES_FIELD: FieldModel
INSTRUCT_FIELD: FieldModel
LIST_INSTRUCT_FIELD_MODEL: FieldModel
REASON_FIELD: FieldModel

_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "y", "1", "on", "t", "correct"), True),
    **dict.fromkeys(("false", "no", "n", "0", "off", "f", "incorrect"), False),
}


def _lenient_bool(value: object) -> bool | None:
    """Return the truth value that a person or a model meant, None where it cannot be told."""
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return value != 0 if isinstance(value, int | float) else None


class Instruct(HashableModel):
    """What to ask, with the switches that travel with it.

    Attributes:
        instruction: Text, JSON-like data, or an Instruction message.
        guidance: How to go about it; JSON-like data.
        context: What to know for it; JSON-like data.
        reason: Whether the answer explains itself; words such as "yes" are understood, others are None.
        actions: Whether the answer may request tools; likewise.
        action_strategy: How requested tools run; None leaves it to the call.
    """

    instruction: Any = None
    guidance: Any = None
    context: Any = None
    reason: bool | None = None
    actions: bool | None = None
    action_strategy: Literal["sequential", "concurrent"] | None = None

    @field_validator("reason", "actions", mode="before")
    @classmethod
    def _read_switch(cls, value: object) -> bool | None:
        return _lenient_bool(value)

    @classmethod
    def handle(
        cls,
        instruct: "Instruct | dict[str, Any] | None" = None,
        instruction: Any = None,
        guidance: Any = None,
        context: Any = None,
        reason: bool | None = None,
    ) -> "Instruct":
        """Return an Instruct with the overrides in place; None and empty ones do not count.

        The given ``instruct`` is never changed: it is returned as it is, or copied.
        """
        given = {"instruction": instruction, "guidance": guidance, "context": context, "reason": reason}
        overrides = {name: value for name, value in given.items() if value is not None and value not in ("", [], {})}
        if not isinstance(instruct, Instruct):
            return cls.model_validate({**(instruct or {}), **overrides})
        return instruct.model_copy(update=overrides) if overrides else instruct


_BOUNDED_SCORE: Final[dict[str, Any]] = {
    "anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}],
}


class Reason(HashableModel):
    """Why a model answers as it does.

    ``confidence_score`` is from 0 to 1, rounded to 3 decimals; -1 where the model gave something else.
    """

    # A model's extra remark must not cost the whole answer.
    model_config = ConfigDict(extra="ignore", json_schema_extra={"description": "Why you answer as you do."})

    title: str | None = Field(default=None, description="The reason in a few words.")
    content: str | None = Field(default=None, description="The reasoning behind the answer.")
    confidence_score: float | None = Field(
        default=None,
        description="How sure you are, from 0 to 1.",
        json_schema_extra=_BOUNDED_SCORE,
    )

    @field_validator("confidence_score", mode="before")
    @classmethod
    def _read_score(cls, value: Any) -> float | None:
        if value is None:
            return None
        try:
            score = float(value)
        except (TypeError, ValueError, OverflowError):
            return -1
        return round(score, 3) if 0 <= score <= 1 else -1


# Other spellings of the two keys that models use.
_FUNCTION_KEYS: Final = ("function", "name", "function_name", "action", "tool", "recipient_name", "action_function")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "params", "action_arguments", "input")


def _first(data: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((data[key] for key in keys if key in data), None)


def _normal_request(data: dict[str, Any]) -> dict[str, Any]:
    function, arguments = _first(data, _FUNCTION_KEYS), _first(data, _ARGUMENT_KEYS)
    if isinstance(function, dict):
        inner = cast("dict[str, Any]", function)
        arguments = _first(inner, _ARGUMENT_KEYS) if arguments is None else arguments
        function = _first(inner, _FUNCTION_KEYS)
    return {"function": function, "arguments": arguments}


class ActionRequestModel(HashableModel):
    """A model's request to call one tool.

    A blank function is None, and so are arguments that are no JSON object (JSON text of an object is one): the request
    then fails alone when it is executed, instead of costing the whole answer. A padded name is kept, as another name.
    """

    model_config = ConfigDict(extra="ignore", json_schema_extra={"description": "One tool call."})

    function: str | None = Field(default=None, description="Name of the tool to call, exactly as it is listed.")
    arguments: dict[str, Any] | None = Field(default=None, description="Arguments by parameter name.")

    @model_validator(mode="before")
    @classmethod
    def _read_spellings(cls, data: Any) -> Any:
        return _normal_request(cast("dict[str, Any]", data)) if isinstance(data, dict) else data

    @field_validator("function", mode="before")
    @classmethod
    def _read_function(cls, value: object) -> str | None:
        return value if isinstance(value, str) and value.strip() else None

    @field_validator("arguments", mode="before")
    @classmethod
    def _read_arguments(cls, value: Any) -> dict[str, Any] | None:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return None
        if isinstance(value, BaseModel):
            return value.model_dump()
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None

    @classmethod
    def create(cls, content: Any) -> "list[ActionRequestModel]":
        """Return the requests found in ``content``: text with JSON in it, a mapping, a list of them, or a model.

        Common spellings of the keys are understood. Anything without a function and arguments gives an empty list.
        """
        try:
            found: Any = extract_json(content, fuzzy_parse=True) if isinstance(content, str) else content
        except ParseError:
            return []
        requests: list[ActionRequestModel] = []
        for item in _flat(found):
            data: Any = item.model_dump() if isinstance(item, BaseModel) else item
            if not isinstance(data, dict):
                return []
            request = cls.model_validate(data)
            if not request.function or not request.arguments:
                return []
            requests.append(request)
        return requests


class ActionResponseModel(HashableModel):
    """What one tool call gave.

    ``output`` is the tool's value, or ``{"error": <kind>, "message": <text>}`` where the call was denied or failed.
    """

    function: str = Field(default_factory=str)
    arguments: dict[str, Any] = Field(default_factory=dict)
    output: Any = None


def _flat(value: Any) -> list[Any]:
    """Return the items of a nested list in order, without None; a single value is a list of one."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        return [value]
    return [item for part in cast("list[Any]", value) for item in _flat(part)]


def _list_or_none(value: Any) -> list[Any] | None:
    return None if value is None else _flat(value)


def _required_or_none(value: object) -> bool | None:
    return None if value is None else bool(_lenient_bool(value))


# Kind -> type of one item, field name, whether it is a list, description.
_KINDS: Final[dict[str, tuple[type[Any], str, bool, str]]] = {
    "action_requests": (
        ActionRequestModel,
        "action_requests",
        True,
        "Tool calls to run, in order; empty where none is needed. Only listed tools exist.",
    ),
    "action_responses": (ActionResponseModel, "action_responses", True, "What the tool calls gave."),
    "action_required": (bool, "action_required", False, "Whether tool calls are needed."),
    "instruct": (Instruct, "instruct_model", False, "An instruction for a next step."),
    "reason": (Reason, "reason", False, "The reason behind the answer."),
}


def get_default_field(
    kind: Literal["action_requests", "action_responses", "action_required", "instruct", "reason"],
    default: Any = Unset,
    nullable: bool = True,
    listable: bool | None = None,
) -> FieldModel:
    """Return the template of one of the generated fields.

    Args:
        kind: Which one.
        default: The default; when omitted None where nullable, an empty list where listable.
        nullable: None is legal.
        listable: The field holds a list; when omitted, the two action lists do.

    Raises:
        ConfigurationError: The kind is unknown ("Unknown default field kind"). It is a ValueError.
    """
    if kind not in _KINDS:
        raise ConfigurationError(
            f"Unknown default field kind {short_repr(kind)}; use one of {', '.join(sorted(_KINDS))}"
        )
    base_type, name, is_list, description = _KINDS[kind]
    is_list = is_list if listable is None else listable
    validator: Callable[[Any], Any] | None = None
    if is_list:
        validator = _list_or_none if nullable else _flat
    elif kind == "action_required":
        validator = _required_or_none
    if not not_sentinel(default) and is_list and not nullable:
        default = list
    return FieldModel(
        base_type,
        name,
        nullable=nullable,
        listable=is_list,
        validator=validator,
        validator_mode="before",
        default=default,
        description=description,
    )


_CONSTANTS: Final[dict[str, Callable[[], FieldModel]]] = {
    "ACTION_REQUESTS_FIELD": lambda: get_default_field("action_requests"),
    "ACTION_REQUIRED_FIELD": lambda: get_default_field("action_required"),
    "ACTION_RESPONSES_FIELD": lambda: get_default_field("action_responses"),
    "INSTRUCT_FIELD": lambda: get_default_field("instruct"),
    "LIST_INSTRUCT_FIELD_MODEL": lambda: get_default_field("instruct", listable=True).with_metadata(
        "name", "instruct_models"
    ),
    "REASON_FIELD": lambda: get_default_field("reason"),
}
_lock = Lock()


def __getattr__(name: str) -> FieldModel:
    if name not in _CONSTANTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _lock:
        found = globals().get(name)
        if found is None:
            found = globals()[name] = _CONSTANTS[name]()
    return found
