"""From a form, or an error of pydantic's, to the rows of the view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from lionagi_nb._format import clip
from lionagi_nb._records import mapping, words

__all__ = ("FormFacts", "FormFieldRow", "RuleRow", "UndeclaredRow", "of_form", "of_schema_error")

_SHOWN = 80  # characters of one value


class FormFieldRow(NamedTuple):
    """A declared field: its value and where it came from, what was expected, and its problems.

    `before` is what was supplied where it was converted; `note` says "coerced from str", "default" or "".
    """

    name: str
    value: str
    before: str
    note: str
    kind: str
    required: bool | None
    problems: tuple[str, ...]


class RuleRow(NamedTuple):
    """A rule and how it ended: "ok", "failed", "raised", "skipped" or "off", with the reason in words."""

    rule_id: str
    check: str
    field: str
    status: str
    words: str


class UndeclaredRow(NamedTuple):
    """A value that no field declares."""

    name: str
    value: str
    refused: bool


class FormFacts(NamedTuple):
    """Everything that the view shows of a form."""

    title: str
    status: str
    fields: tuple[FormFieldRow, ...]
    rules: tuple[RuleRow, ...]
    undeclared: tuple[UndeclaredRow, ...]
    problems: int
    next: tuple[str, ...]


def _python(value: Any) -> str:
    """A value as Python writes it, JSON's quotes for texts, cut at 80 characters."""
    if isinstance(value, str):
        return '"' + clip(value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"), _SHOWN - 2) + '"'
    try:
        return clip(repr(value).replace("\n", " "), _SHOWN)
    except Exception:  # a value that breaks its own protocol must not take the view down
        return f"<{type(value).__name__}>"


def of_form(form: Any, rules: Any, transitions: Mapping[str, Any]) -> FormFacts:
    """Return the facts of a work form, with the rules that were applied to it where they are given."""
    issues = cast("list[Any]", form.issues)
    fields = tuple(_field(form, name, spec, issues) for name, spec in form.fields.items())
    undeclared = tuple(
        _undeclared(name, value, issues) for name, value in form.values.items() if name not in form.fields
    )
    ruled = tuple(_rule(rule, form, issues) for rule in rules.rules()) if rules is not None else ()
    after = tuple(sorted(transitions.get(form.status, ())))
    return FormFacts(words(form.title), words(form.status), fields, ruled, undeclared, len(issues), after)


def _field(form: Any, name: str, spec: Any, issues: Sequence[Any]) -> FormFieldRow:
    supplied = mapping(form.supplied) if form.supplied is not None else None
    there = name in form.values and form.values[name] is not None
    value = form.values.get(name)
    before, note = "", ""
    if supplied is not None and there and name not in supplied:
        note = "default"
    elif supplied is not None and there and type(supplied[name]) is not type(value):
        before, note = _python(supplied[name]), f"coerced from {type(supplied[name]).__name__}"
    problems = tuple(_problem(issue) for issue in issues if issue.field == name and issue.kind != "undeclared")
    return FormFieldRow(name, _python(value) if there else "", before, note, spec.type, spec.required, problems)


def _problem(issue: Any) -> str:
    if issue.kind == "required" and issue.rule_id is None:
        return "required, and there is no value"
    if issue.kind == "type" and issue.rule_id is None:
        return "cannot be read as the expected type"
    return clip(f"rule `{issue.rule_id}`: {_said(issue)}" if issue.rule_id else str(issue.message), 300)


def _said(issue: Any) -> str:
    """The text of a failed rule without its name, which stands beside it."""
    return str(issue.message).removeprefix(f"Rule {issue.rule_id!r} ")


def _undeclared(name: Any, value: Any, issues: Sequence[Any]) -> UndeclaredRow:
    refused = any(issue.kind == "undeclared" and issue.field == str(name) for issue in issues)
    return UndeclaredRow(str(name), _python(value), refused)


def _rule(rule: Any, form: Any, issues: Sequence[Any]) -> RuleRow:
    said = next((_said(issue) for issue in issues if issue.rule_id == rule.rule_id), None)
    status, why = "ok", ""
    if not rule.enabled:
        status, why = "off", "disabled"
    elif said is not None:
        raised = rule.check == "custom" and said.startswith("raised ")
        status, why = ("raised" if raised else "failed"), clip(said.removeprefix("raised ") if raised else said, 300)
    elif rule.check in ("type", "range", "pattern") and form.values.get(rule.field) is None:
        status, why = "skipped", "no value"
    return RuleRow(rule.rule_id, _check(rule), rule.field, status, why)


def _check(rule: Any) -> str:
    params = mapping(rule.params)
    if rule.check == "pattern":
        return f"pattern `{clip(str(params.get('pattern', '')), 60)}`"
    if rule.check == "type":
        return f"type {params.get('type', 'str')}"
    if rule.check == "range":
        low, high = params.get("min"), params.get("max")
        bounds = (
            f"{low} to {high}" if None not in (low, high) else f"at least {low}" if high is None else f"at most {high}"
        )
        return f"range {bounds}" if (low, high) != (None, None) else "range"
    return str(rule.check)


def of_schema_error(error: Any) -> FormFacts:
    """Return the facts of pydantic's ValidationError: one row for each place that was refused."""
    found: dict[str, list[Any]] = {}
    for each in error.errors(include_url=False):
        found.setdefault(".".join(str(part) for part in each["loc"]) or "the value as a whole", []).append(each)
    rows = tuple(
        FormFieldRow(
            name,
            "" if each[0]["type"] == "missing" else _python(each[0]["input"]),
            "",
            "",
            words(each[0]["type"]).replace("_", " "),
            None,
            tuple(clip(words(one["msg"], 300), 300) for one in each),
        )
        for name, each in found.items()
    )
    return FormFacts(words(error.title), "error", rows, (), (), error.error_count(), ())
