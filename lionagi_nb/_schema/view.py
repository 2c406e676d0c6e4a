"""The schema view as a value, and the function that makes it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, cast

from pydantic import BaseModel

from lionagi_nb._format import count, size
from lionagi_nb._json import byte_size, freeze, thaw
from lionagi_nb._markup import render
from lionagi_nb._pieces import plain
from lionagi_nb._text import hang, rows_table
from lionagi_nb._views import MAX_ROWS, View, status

from .rows import FieldRow, ValueRow, class_subject, field_rows, value_rows
from .source import MAX_CALLS, SchemaSource, of_format, of_operative

__all__ = ("Fold", "ResultSchemaView", "SchemaView", "schema")

_EMPTY = "It has no fields."
_HEADS = ("field", "type", "request", "response", "added by")


@dataclass(frozen=True)
class Fold:
    """A folded body: its title, its facts, its text or JSON text, and whether the text form mentions it."""

    title: str
    fact: str
    body: str
    is_json: bool = True
    in_text: bool = True


@dataclass(frozen=True, repr=False)
class SchemaView(View):
    """The fields of a call before it runs: what the model is asked for, what it never sees, who added each field."""

    name: ClassVar[str] = "Schema"
    subject: str
    rows: tuple[FieldRow, ...]
    folds: tuple[Fold, ...]

    def data(self) -> dict[str, Any]:
        """Return ``{"subject", "fields": [{"field", "type", "constraints", "request", "response", "added"}], …}``.

        The schemas of the folds stand under their titles.
        """
        return {
            "subject": self.subject,
            "fields": [{**asdict(row), "constraints": plain(row.constraints)} for row in self.rows],
            **{fold.title: thaw(fold.body) if fold.is_json else fold.body for fold in self.folds},
        }

    def _facts(self) -> tuple[str, ...]:
        hidden = sum(1 for row in self.rows if row.request == "hidden")
        sent = f"{len(self.rows) - hidden:,} sent to the model"
        return (count(len(self.rows), "field"), sent, *((f"{hidden} runtime only",) if hidden else ()))

    def _lines(self) -> list[str]:
        lines = hang("", f"Schema {self.subject}: {', '.join(self._facts())}")
        if not self.rows:
            return [*lines, _EMPTY]
        shown = self.rows[:MAX_ROWS]
        asked = ["hidden from model" if row.request == "hidden" else row.request for row in shown]
        cells = [(r.field, r.type, q, r.response, r.added) for r, q in zip(shown, asked, strict=True)]
        table = rows_table(_HEADS, cells, floor=(0, 20, 19, 8, 12), notes=[plain(row.constraints) for row in shown])
        more = len(self.rows) - len(shown)
        folds = [f"{fold.title.split(',')[0].lower()}: {_text_fact(fold.fact)}" for fold in self.folds if fold.in_text]
        return [*lines, "", *table, *([f"{more:,} more rows"] if more else []), "", *folds]

    def _html(self) -> str:
        return render(
            "schema.html.j2",
            "schema.css",
            view=self,
            fact=" · ".join(self._facts()),
            verdict=None,
            rows=self.rows[:MAX_ROWS],
            more=max(len(self.rows) - MAX_ROWS, 0),
            folds=self.folds,
            apart=(),
            apart_title="",
            empty=_EMPTY,
        )


@dataclass(frozen=True, repr=False)
class ResultSchemaView(View):
    """The fields of a result: which value the model produced, which are defaults, which the runtime added."""

    name: ClassVar[str] = "Schema"
    subject: str
    rows: tuple[ValueRow, ...]
    apart: tuple[ValueRow, ...]

    def data(self) -> dict[str, Any]:
        """Return ``{"subject", "fields": [{"field", "value", "produced_by"}]}`` with all fields and whole values."""
        return {
            "subject": self.subject,
            "fields": [
                {"field": row.field, "value": thaw(row.frozen), "produced_by": row.produced}
                for row in (*self.rows, *self.apart)
            ],
        }

    def _facts(self) -> tuple[str, ...]:
        made = [row.produced for row in self.rows]
        said = (("model", "from the model"), ("default", "left at the default"), ("runtime", "from the runtime"))
        return tuple(f"{made.count(who):,} {words}" for who, words in said if who in made) or ("no fields",)

    def _apart_title(self) -> str:
        return count(len(self.apart), "more field")

    def _lines(self) -> list[str]:
        lines = [f"Schema {self.subject}: {status('filled')}", ", ".join(self._facts())]
        if self.rows:
            cells = [
                (r.field, r.value, f"{r.produced}, {r.note}" if r.note else r.produced) for r in self.rows[:MAX_ROWS]
            ]
            lines += ["", *rows_table(("field", "value", "produced by"), cells)]
        if len(self.rows) > MAX_ROWS:
            lines.append(f"{len(self.rows) - MAX_ROWS:,} more rows")
        if self.apart:
            names = ", ".join(row.field for row in self.apart)
            lines += ["", *hang("", f"{self._apart_title()}, each holds its default: {names}")]
        return lines

    def _html(self) -> str:
        return render(
            "schema.html.j2",
            "schema.css",
            view=self,
            fact=" · ".join(self._facts()),
            verdict=status("filled"),
            rows=self.rows[:MAX_ROWS],
            more=max(len(self.rows) - MAX_ROWS, 0),
            folds=(),
            apart=self.apart,
            apart_title=self._apart_title(),
            empty=_EMPTY,
        )


def _text_fact(fact: str) -> str:
    return fact.replace(" · ", ", ").replace("\u00a0", " ")


def schema(
    source: Any, *, reason: bool = False, actions: Any = False, max_tool_calls: int = MAX_CALLS
) -> SchemaView | ResultSchemaView:
    """Return the schema view of a format before a run, or of a result after it.

    Args:
        source: A model class, a dict format or an Operative (before a run), or a result, that is a model instance.
        reason: Add the field that ``operate(reason=True)`` adds.
        actions: Add the fields of ``operate(actions=True)``: True, a branch (its tools, and how its endpoint takes the
            schema), or a list of tools or functions.
        max_tool_calls: As in ``operate``: the most requests that the schema lets the model make.

    Raises:
        TypeError: `source` is none of these.
        OperationError: `reason` or `actions` would override a field of the caller's, as it would in ``operate``.
    """
    kind = type(source).__name__
    if not isinstance(source, type) and hasattr(source, "request_type") and hasattr(source, "response_type"):
        return _before(of_operative(source, actions=actions, max_calls=max_tool_calls))
    if isinstance(source, type) and issubclass(source, BaseModel):
        return _before(of_format(source, reason=reason, actions=actions, max_calls=max_tool_calls))
    if isinstance(source, dict):
        return _before(
            of_format(cast("dict[str, Any]", source), reason=reason, actions=actions, max_calls=max_tool_calls)
        )
    if isinstance(source, BaseModel):
        rows, apart = value_rows(source)
        return ResultSchemaView(class_subject(type(source)), rows, apart)
    raise TypeError(f"schema() takes a model class, a dict format, an Operative or a result, not {kind}")


def _before(source: SchemaSource) -> SchemaView:
    rows = field_rows(source.response, source.own, source.request_schema, source.tools)
    request = freeze(source.shown)
    folds = [_json_fold("Request schema, exactly as sent", request, ("sent natively",) if source.native else ())]
    if source.offered:
        folds = [_json_fold("Tools, exactly as sent", freeze(source.offered), ("sent natively",))]
    elif source.prompt:
        fact = f"text · {size(byte_size(source.prompt))} · in the prompt"
        folds = [Fold("Request schema, exactly as sent", fact, source.prompt, is_json=False)]
    elif source.native is None:
        folds = [_json_fold("Request schema", request, ())]
    response: dict[str, Any] = source.response.model_json_schema()
    nested = cast("dict[str, Any]", response.get("$defs", {}))
    folds.append(_json_fold("Response schema", freeze(response), ()))
    if nested:
        names = ", ".join(_nested_name(name) for name in nested)
        folds.append(Fold("Nested models", names, freeze(nested), in_text=False))
    return SchemaView(source.subject, rows, tuple(folds))


def _nested_name(name: str) -> str:
    return {"ActionRequestModel": "ActionRequest", "ActionResponseModel": "ActionResponse"}.get(name, name)


def _json_fold(title: str, frozen: str, facts: tuple[str, ...]) -> Fold:
    return Fold(title, " · ".join(("JSON", size(byte_size(frozen)), *facts)), frozen)
