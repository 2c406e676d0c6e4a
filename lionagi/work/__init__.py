"""Typed forms: declared fields, values, rules, and every problem in one pass; nothing here schedules or runs work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
