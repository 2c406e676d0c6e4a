"""Filling and checking forms: every problem is collected, and the form that came in is never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from lionagi._errors import ConfigurationError, short_repr

if TYPE_CHECKING:
    from .form import FieldSpec, WorkForm
    from .rules import RuleSet

__all__ = ("TYPES", "FieldIssue", "Undeclared", "coerce_value", "fill_form", "fits", "validate_form")

Undeclared = Literal["keep", "reject"]
"""What becomes of values whose field is not declared: they stay, or each is a problem."""

TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}
_ABSENT = object()
_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class FieldIssue(BaseModel):
    """One problem of a form.

    Attributes:
        field: The field that it is about.
        kind: "required", "type", "undeclared", or the kind of the rule that failed; "unknown" for a bare text.
        rule_id: The rule that failed, None where it was none.
        message: The text, the same as in ``validation_errors``.
        value: The value that was refused.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    field: str
    kind: str
    rule_id: str | None = None
    message: str
    value: Any = None


def fits(kind: str, value: Any) -> bool:
    """Return whether a value is of a field type already; an int is one for float, and a bool is an int."""
    found = TYPES[kind]
    return isinstance(value, found) or (found is float and isinstance(value, int))


def coerce_value(name: str, kind: str, value: Any) -> Any:
    """Return a value as a field's type; see :meth:`lionagi.work.form.FieldSpec.coerce`."""
    reader = _READERS.get(kind)
    if reader is not None and isinstance(value, str):
        try:
            return reader(value)
        except (ValueError, KeyError):  # not such a text, or more digits than Python reads
            raise TypeError(_misfit(name, kind, value)) from None
    target = TYPES[kind]
    if value is None or isinstance(value, target):
        return value
    if target is float and isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            raise TypeError(_misfit(name, kind, value)) from None
    raise TypeError(_misfit(name, kind, value))


def _read_bool(text: str) -> bool:
    return _WORDS[text.lower()]


_READERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "bool": _read_bool}


def _misfit(name: str, kind: str, value: Any) -> str:
    return f"Field {name!r} takes {kind!r}, and {short_repr(value)} of type {type(value).__name__!r} is none."


def fill_form(
    form: WorkForm,
    values: Mapping[str, Any],
    *,
    ruleset: RuleSet | None = None,
    undeclared: Undeclared = "keep",
) -> WorkForm:
    """Return a checked copy of a form with these values in it; what the form held before is not taken over.

    A supplied value wins, None too; else the field's default is used; else the field stays out. The copy's status is
    "validated" or "error", whatever the form's was.

    Args:
        form: The form; it stays as it is.
        values: By field name. They are held, not copied.
        ruleset: Rules that look at the converted values.
        undeclared: "keep" leaves keys that no field declares in the values, after the declared ones; "reject" makes
            each a problem as well.

    Raises:
        TypeError: `values` is no mapping.
        ConfigurationError: `undeclared` is neither.
    """
    if not isinstance(values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"the values of a form are a mapping of field names to values, not {short_repr(values)}")
    filled: dict[str, Any] = {}
    issues: list[FieldIssue] = []
    defaults, types, absent = 0, TYPES, _ABSENT  # the loop runs for thousands of fields
    for name, spec in form.fields.items():
        value = values.get(name, absent)
        if type(value) is types[spec.type]:
            filled[name] = value
        elif value is not absent:
            filled[name] = _settled(spec, name, value, issues)
        elif spec.default is not None:
            defaults += 1
            filled[name] = _settled(spec, name, deepcopy(spec.default), issues)
        elif spec.required:
            issues.append(_missing(name))
    if len(values) > len(filled) - defaults:
        filled |= {name: value for name, value in values.items() if name not in filled}
    copy = _finished(form, filled, issues, ruleset, undeclared)
    copy._supplied = dict(values)  # pyright: ignore[reportPrivateUsage]
    return copy


def validate_form(form: WorkForm, *, ruleset: RuleSet | None = None, undeclared: Undeclared = "keep") -> WorkForm:
    """Return a checked copy of a form with the values that it holds; see :func:`fill_form`.

    Raises:
        ConfigurationError: `undeclared` is neither "keep" nor "reject".
    """
    values = dict(form.values)
    issues: list[FieldIssue] = []
    for name, spec in form.fields.items():
        value = values.get(name)
        if type(value) is TYPES[spec.type]:
            continue
        if value is not None:
            values[name] = _settled(spec, name, value, issues)
        elif spec.required:
            issues.append(_missing(name))
    return _finished(form, values, issues, ruleset, undeclared)


def _settled(spec: FieldSpec, name: str, value: Any, issues: list[FieldIssue]) -> Any:
    """Return a supplied value as the field's type, or as it is with a problem noted."""
    if value is None:
        if spec.required:
            issues.append(_missing(name))
        return None
    try:
        return spec.coerce(value)
    except TypeError as error:
        issues.append(FieldIssue(field=name, kind="type", message=str(error), value=value))
        return value


def _missing(name: str) -> FieldIssue:
    return FieldIssue(field=name, kind="required", message=f"Field {name!r} is required and has no value.")


def _finished(
    form: WorkForm,
    values: dict[str, Any],
    issues: list[FieldIssue],
    ruleset: RuleSet | None,
    undeclared: Undeclared,
) -> WorkForm:
    """Return the copy that holds the converted values, the fields' problems and then the rules'."""
    if undeclared not in ("keep", "reject"):
        raise ConfigurationError(f"undeclared must be 'keep' or 'reject', not {short_repr(undeclared)}")
    if undeclared == "reject":
        issues += [_undeclared(name, value) for name, value in values.items() if name not in form.fields]
    own = {"fields": dict(form.fields), "metadata": dict(form.metadata)}
    copy = form.model_copy(update={**own, "values": values, "status": "filled", "validation_errors": [], "issues": []})
    if ruleset is not None:
        issues += [
            FieldIssue(
                field=rule.field, kind=rule.check, rule_id=rule.rule_id, message=text, value=values.get(rule.field)
            )
            for rule, text in ruleset.failures(copy)
        ]
    copy.validation_errors = [issue.message for issue in issues]
    copy.issues = issues
    copy.status = "error" if issues else "validated"
    return copy


def _undeclared(name: Any, value: Any) -> FieldIssue:
    message = f"Key {short_repr(name)} is not declared; declare a field of that name, or leave it out."
    return FieldIssue(field=str(name), kind="undeclared", message=message, value=value)
