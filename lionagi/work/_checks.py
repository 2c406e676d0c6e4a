"""The checks of rules: each returns a text for a value that fails and raises nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, cast

from lionagi._errors import short_repr

from ._patterns import PATTERN_ERRORS, finder
from .fill import TYPES, fits

if TYPE_CHECKING:
    from .rules import Rule

__all__ = ("CHECKS", "REGEX_MAX_INPUT_LENGTH")

REGEX_MAX_INPUT_LENGTH = 4096
"""Characters of a value that a pattern looks at; a longer one is a problem. It bounds the input, not the pattern."""


def _required(rule: Rule, value: Any) -> str | None:
    return None if value is not None else rule.message or f"Field {rule.field!r} is required and has no value."


def _type(rule: Rule, value: Any) -> str | None:
    if value is None:
        return None
    kind = rule.params.get("type", "str")
    if not isinstance(kind, str) or kind not in TYPES:
        return f"Rule {rule.rule_id!r} names an unknown type {short_repr(kind)}; use one of {', '.join(TYPES)}."
    if fits(kind, value):
        return None
    return rule.message or f"Field {rule.field!r} must be of type {kind!r}, not {type(value).__name__!r}."


def _range(rule: Rule, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, int | float):
        said = f"Field {rule.field!r} must be a number to be in a range, not {type(value).__name__!r}."
        return rule.message or said
    low, high = rule.params.get("min"), rule.params.get("max")
    try:
        if low is not None and not value >= low:
            return rule.message or f"Field {rule.field!r} must be at least {short_repr(low)}, not {short_repr(value)}."
        if high is not None and not value <= high:
            return rule.message or f"Field {rule.field!r} must be at most {short_repr(high)}, not {short_repr(value)}."
    except TypeError:
        return f"Rule {rule.rule_id!r} has bounds that are no numbers: min {short_repr(low)}, max {short_repr(high)}."
    return None


def _pattern(rule: Rule, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        return rule.message or f"Field {rule.field!r} must be text to match a pattern, not {type(value).__name__!r}."
    if len(value) > REGEX_MAX_INPUT_LENGTH:
        said = (
            f"Field {rule.field!r} has {len(value):,} characters; a pattern takes at most {REGEX_MAX_INPUT_LENGTH:,}."
        )
        return rule.message or said
    pattern = rule.params.get("pattern", "")
    try:
        found = finder(rule.params)(value) is not None
    except PATTERN_ERRORS as error:
        return f"Rule {rule.rule_id!r} has an invalid pattern {short_repr(pattern)}: {error}."
    if found:
        return None
    return (
        rule.message or f"Field {rule.field!r} does not match the pattern {short_repr(pattern)}: {short_repr(value)}."
    )


def _custom(rule: Rule, value: Any) -> str | None:
    check = rule.params.get("callable")
    if not callable(check):
        return f"Rule {rule.rule_id!r} is a custom check and needs a function in params['callable']."
    try:
        found = check(value)
        if type(found) is not bool and isinstance(found, Coroutine):  # the look at a class costs most of a check
            cast("Coroutine[Any, Any, Any]", found).close()
            return f"Rule {rule.rule_id!r} has an async function in params['callable']; give one that is not."
        passed = bool(found)
    except Exception as error:
        return f"Rule {rule.rule_id!r} raised {type(error).__name__}: {_text(error)}."
    if passed:
        return None
    said = rule.message or rule.params.get("error")
    return str(said) if said else f"Field {rule.field!r} failed the check {rule.rule_id!r}."


def _text(error: Exception) -> str:
    try:
        return str(error)[:200]
    except Exception:
        return short_repr(error)


CHECKS: dict[str, Callable[[Rule, Any], str | None]] = {
    "required": _required,
    "type": _type,
    "range": _range,
    "pattern": _pattern,
    "custom": _custom,
}
