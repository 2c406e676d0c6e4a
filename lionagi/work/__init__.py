"""Typed forms: declared fields, values, rules, and every problem in one pass; nothing here schedules or runs work."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .fill import FieldIssue, fill_form, validate_form
    from .form import VALID_TRANSITIONS, FieldOutline, FieldSpec, FieldType, FormStatus, WorkForm
    from .rules import REGEX_MAX_INPUT_LENGTH, CheckKind, Rule, RuleSet

__all__ = (
    "REGEX_MAX_INPUT_LENGTH",
    "VALID_TRANSITIONS",
    "CheckKind",
    "FieldIssue",
    "FieldOutline",
    "FieldSpec",
    "FieldType",
    "FormStatus",
    "Rule",
    "RuleSet",
    "WorkForm",
    "fill_form",
    "validate_form",
)

_HOMES = {
    "REGEX_MAX_INPUT_LENGTH": ".rules",
    "VALID_TRANSITIONS": ".form",
    "CheckKind": ".rules",
    "FieldIssue": ".fill",
    "FieldOutline": ".form",
    "FieldSpec": ".form",
    "FieldType": ".form",
    "FormStatus": ".form",
    "Rule": ".rules",
    "RuleSet": ".rules",
    "WorkForm": ".form",
    "fill_form": ".fill",
    "validate_form": ".fill",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lionagi.work' has no attribute {name!r}")
    value = getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
