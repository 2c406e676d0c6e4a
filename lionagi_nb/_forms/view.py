"""The view of a form's problems as a value, and the function that makes it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ValidationError as SchemaError

from lionagi.work.form import VALID_TRANSITIONS, WorkForm
from lionagi.work.rules import RuleSet
from lionagi_nb._format import count
from lionagi_nb._markup import render
from lionagi_nb._pieces import phrase, plain
from lionagi_nb._text import rows_table
from lionagi_nb._views import MAX_ROWS, StatusMark, View

from .rows import FormFacts, FormFieldRow, of_form, of_schema_error

__all__ = ("FormView", "errors")

_MARKS = {
    "ok": StatusMark("✓", "ok", "ok"),
    "validated": StatusMark("✓", "validated", "ok"),
    "completed": StatusMark("✓", "completed", "ok"),
    "submitted": StatusMark("✓", "submitted", "ok"),
    "error": StatusMark("✗", "error", "error"),
    "failed": StatusMark("✗", "failed", "error"),
    "raised": StatusMark("✗", "raised", "error"),
    "skipped": StatusMark("–", "skipped", "off"),
    "off": StatusMark("–", "off", "off"),
    "draft": StatusMark("○", "draft", "pending"),
    "filled": StatusMark("○", "filled", "pending"),
}
_KEPT = "kept in values; `li agent --form` would reject the file"
_REFUSED = "refused; declare a field of that name, or leave it out"


@dataclass(frozen=True, repr=False)
class FormView(View):
    """A form, field by field: what it holds, what was converted, what is wrong; its rules; undeclared keys."""

    name: ClassVar[str] = "Form"
    facts: FormFacts
    is_form: bool = True

    def data(self) -> dict[str, Any]:
        """Return ``{"title", "status", "fields": […], "rules": […], "undeclared": […], "allowed_next": […]}``."""
        facts = self.facts
        return {
            "title": facts.title,
            "status": facts.status,
            "fields": [row._asdict() for row in facts.fields],
            "rules": [row._asdict() for row in facts.rules],
            "undeclared": [row._asdict() for row in facts.undeclared],
            "allowed_next": list(facts.next),
        }

    def _words(self) -> list[str]:
        facts = self.facts
        wrong = sum(1 for row in facts.fields if row.problems)
        found = [count(len(facts.fields), "field")]
        if facts.problems:
            where = f" in {count(wrong, 'field')}" if wrong and facts.problems != wrong else ""
            found.append(f"{count(facts.problems, 'problem')}{where}")
        elif facts.status in ("validated", "submitted", "completed"):
            found.append("no problems")
        found += [count(len(facts.undeclared), "undeclared key")] if facts.undeclared else []
        found += [f"allowed next: {', '.join(facts.next)}"] if facts.next else []
        return found

    @property
    def _kind(self) -> str:
        return "Form" if self.is_form else "Errors"

    @property
    def _short(self) -> bool:
        return not self.facts.problems and not self.facts.undeclared and self.facts.status != "draft"

    def _lines(self) -> list[str]:
        facts = self.facts
        lines = [f"{self._kind} {facts.title}".rstrip() + f": {_MARKS[facts.status]}", ", ".join(self._words())]
        if self._short:
            return lines
        cells: list[list[str]] = []
        for row in facts.fields[:MAX_ROWS]:
            said = [f"{_MARKS['error']} {plain(phrase(text))}" for text in row.problems] or [str(_MARKS["ok"])]
            cells.append([row.name, _value_text(row), _expected(row), said[0]])
            cells += [["", "", "", text] for text in said[1:]]
        lines += ["", *rows_table(("field", "value", "expected", "problem"), cells)] if cells else []
        left = len(facts.fields) - MAX_ROWS
        lines += [f"{left:,} more fields"] if left > 0 else []
        if facts.rules:
            ruled = [
                [r.rule_id, plain(phrase(r.check)), r.field, f"{_MARKS[r.status]} {r.words}".rstrip()]
                for r in facts.rules[:MAX_ROWS]
            ]
            lines += ["", *rows_table(("rule", "check", "field", "result"), ruled)]
        if facts.undeclared:
            rest = [[u.name, u.value, plain(phrase(_REFUSED if u.refused else _KEPT))] for u in facts.undeclared]
            lines += ["", *rows_table(("undeclared", "value", "what happens"), rest[:MAX_ROWS])]
        return lines

    def _html(self) -> str:
        facts = self.facts
        tally = Counter(row.status for row in facts.rules)
        coerced = sum(1 for row in facts.fields if row.before)
        defaults = sum(1 for row in facts.fields if row.note == "default")
        kept = [count(len(facts.fields), "field")]
        kept += [f"{coerced:,} coerced"] if coerced else []
        kept += [count(defaults, "default")] if defaults else []
        return render(
            "forms.html.j2",
            "forms.css",
            kind=self._kind,
            title=facts.title,
            verdict=_MARKS[facts.status],
            fact=" · ".join(self._words()),
            short=self._short,
            kept=" · ".join(kept),
            marks=_MARKS,
            fields=[(row, [phrase(text) for text in row.problems]) for row in facts.fields[:MAX_ROWS]],
            more=len(facts.fields) - MAX_ROWS,
            rules=[(row, phrase(row.check), phrase(row.words)) for row in facts.rules[:MAX_ROWS]],
            rule_fact=" · ".join(
                [count(len(facts.rules), "rule"), *(f"{n:,} {word}" for word, n in tally.items() if word != "ok")]
            ),
            undeclared=[(row, phrase(_REFUSED if row.refused else _KEPT)) for row in facts.undeclared[:MAX_ROWS]],
        )


def _value_text(row: FormFieldRow) -> str:
    if not row.value:
        return "– no value"
    before = f"{row.before} → " if row.before else ""
    return f"{before}{row.value}{f' ({row.note})' if row.note else ''}"


def _expected(row: FormFieldRow) -> str:
    return row.kind if row.required is None else f"{row.kind} {'required' if row.required else 'optional'}"


def errors(source: Any, *, ruleset: RuleSet | None = None) -> FormView:
    """Return what is wrong with a form, field by field, or the places that pydantic refused.

    Args:
        source: A form that `fill_form` or `validate_form` returned, or pydantic's ValidationError.
        ruleset: The rules that were applied, so that those that passed are shown too.

    Raises:
        TypeError: `source` is neither.
    """
    if isinstance(source, WorkForm):
        return FormView(of_form(source, ruleset, VALID_TRANSITIONS))
    if isinstance(source, SchemaError):
        return FormView(of_schema_error(source), is_form=False)
    raise TypeError(f"errors() takes a form or a pydantic ValidationError, not {type(source).__name__}")
