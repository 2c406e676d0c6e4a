"""What happens to the value that a Middle returned: one pure decision, proved as a truth table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from lionagi._errors import ExtractionError, SchemaRejectedError, short_repr
from lionagi.operations.types import HandleValidation, UnparsedResponse

__all__ = ("Verdict", "decide", "mismatch_error", "requests_of")


@dataclass(slots=True, frozen=True)
class Verdict:
    """What to do with a value.

    Attributes:
        action: "return" the value, return "none", "raise" the mismatch, or "act" on the value's requests.
        reason: Why its requests do not run, in words; None where there is nothing to explain.
    """

    action: Literal["return", "none", "raise", "act"]
    reason: str | None = None


def decide(
    value: Any,
    *,
    model_class: type[BaseModel] | None,
    handle_validation: HandleValidation,
    skip_validation: bool,
    invoke_actions: bool,
    has_action_param: bool,
) -> Verdict:
    """Return what happens to ``value``. The order is: raw shortcut, mismatch policy, action switch, requests."""
    if skip_validation:
        return Verdict("return", "skip_validation=True returns before the actions")
    if model_class is not None and not isinstance(value, model_class):
        why = f"the answer is no {model_class.__name__}, and handle_validation={handle_validation!r} decides"
        if handle_validation == "raise":
            return Verdict("raise", why)
        return Verdict("none" if handle_validation == "return_none" else "return", why)
    if not invoke_actions:
        return Verdict("return", "invoke_actions=False")
    requests = requests_of(value)
    if requests is None:
        return Verdict("return")
    if not has_action_param:
        return Verdict("return", "actions were not enabled in this call")
    return Verdict("act")


def requests_of(value: Any) -> Any:
    """Return the ``action_requests`` of a model or a mapping, None where there are none."""
    if isinstance(value, BaseModel):
        return getattr(value, "action_requests", None)
    if isinstance(value, dict):
        return value.get("action_requests")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return None


def mismatch_error(value: Any, model_class: type[BaseModel]) -> ExtractionError | SchemaRejectedError:
    """Return the error for a value that is no instance of the caller's model."""
    text = (
        f"The answer is not a {model_class.__name__}: {short_repr(value)}. Ask for simpler or bounded fields, "
        "or use handle_validation='return_value' to see the answer as it is."
    )
    if isinstance(value, UnparsedResponse) and value.failure_kind == "validation":
        return SchemaRejectedError(text, validation_error=value.validation_error)
    return ExtractionError(text)
