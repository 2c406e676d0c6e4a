"""The trace as a value, and the function that makes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from lionagi.ln.trace import Span, Trace
from lionagi_nb._format import count, duration
from lionagi_nb._markup import render
from lionagi_nb._pieces import Piece, Pieces, plain, sentence
from lionagi_nb._records import is_branch, mapping, words
from lionagi_nb._text import rows_table
from lionagi_nb._timeline.view import axis, bar_of
from lionagi_nb._views import MAX_ROWS, StatusMark, View, status

from .ring import last_trace

__all__ = ("StageRow", "TraceView", "trace")

_MARKS = {
    "ok": StatusMark("✓", "ok", "ok"),
    "early": StatusMark("✓", "early return", "ok"),
    "error": StatusMark("✗", "error", "error"),
    "cancelled": StatusMark("□", "cancelled", "off"),
    "open": StatusMark("●", "running", "pending"),
}
_EARLY = "actions not run"
_NAMED = ("tool", "authorize")


class StageRow(NamedTuple):
    """A stage: how deep it lies, its name and what it is about, how it ended, what happened, when and how long.

    `measured` are facts that change from run to run, such as token counts; the text form leaves them out.
    """

    depth: int
    name: str
    about: str
    status: str
    what: str
    measured: str
    start: float
    duration: float | None


@dataclass(frozen=True, repr=False)
class TraceView(View):
    """The stages of a call, one inside the other, with the reason of every early return."""

    name: ClassVar[str] = "Trace"
    subject: str
    rows: tuple[StageRow, ...]

    def data(self) -> dict[str, Any]:
        """Return ``{"subject", "stages": [{"depth", "name", "about", "status", "what", "start", "duration", …}]}``."""
        return {"subject": self.subject, "stages": [row._asdict() for row in self.rows]}

    @property
    def verdict(self) -> str:
        """The key of the mark for the whole: the first stage's status, or that it returned early."""
        first = self.rows[0].status
        return "early" if first == "ok" and any(row.status == "not run" for row in self.rows) else first

    def _facts(self) -> list[str]:
        ran = [row for row in self.rows if row.status != "not run"]
        calls = sum(1 for row in ran if row.name == "model call")
        left = len(self.rows) - len(ran)
        found = [count(len(ran), "stage"), *([count(calls, "model call")] if calls else [])]
        return [*found, *([f"{left:,} not run"] if left else [])]

    def _lines(self) -> list[str]:
        head = f"Trace {self.subject}".rstrip()
        if not self.rows:
            return [f"{head}: no stages", _EMPTY]
        cells = [
            ["  " * row.depth + f"{row.name} {row.about}".rstrip(), str(_mark(row.status)), plain(sentence(row.what))]
            for row in self.rows[:MAX_ROWS]
        ]
        lines = [f"{head}: {_mark(self.verdict)}", ", ".join(self._facts()), ""]
        lines += rows_table(("stage", "status", "what happened"), cells)
        left = len(self.rows) - MAX_ROWS
        return [*lines, f"{left:,} more stages"] if left > 0 else lines

    def _html(self) -> str:
        whole = max((row.start + (row.duration or 0.0) for row in self.rows), default=0.0)
        top, labels = axis(whole)
        facts = [*self._facts(), *([duration(whole)] if self.rows else [])]
        return render(
            "trace.html.j2",
            "trace.css",
            subject=self.subject,
            verdict=_mark(self.verdict) if self.rows else None,
            fact=" · ".join(facts) if self.rows else "no stages",
            labels=labels,
            rows=[_row_html(row, i, top, self.verdict) for i, row in enumerate(self.rows[:MAX_ROWS])],
            more=len(self.rows) - MAX_ROWS,
            empty=_EMPTY,
        )


_EMPTY = "Nothing was traced here."


def _mark(word: str) -> StatusMark:
    return _MARKS.get(word) or status(word)


def _row_html(row: StageRow, place: int, top: float, verdict: str) -> dict[str, Any]:
    what: Pieces = sentence(row.what) if row.what else ()
    if row.measured:
        what = (*what, Piece("dim", f"{' · ' if row.what else ''}{row.measured}"))
    ran = row.status != "not run"
    return {
        "row": row,
        "mark": _mark(verdict if place == 0 else row.status),
        "what": what,
        "failed": row.status in ("error", "timeout"),
        "bar": bar_of(row.start, row.duration, top) if ran else None,
        "time": duration(row.duration) if ran else "–",
        "deep": min(row.depth, 2),
        "indent": 16 * min(row.depth, 6),
    }


def _rows(spans: Sequence[Span], depth: int = 0) -> Iterator[StageRow]:
    for span in spans:
        yield _row(span, depth)
        yield from _rows(span.children, depth + 1)
        if span.reason is not None and span.reason.startswith(_EARLY):
            yield StageRow(depth, "actions", "", "not run", span.reason, "", 0.0, None)
            yield StageRow(depth, "enrich", "", "not run", "No action ran.", "", 0.0, None)


def _row(span: Span, depth: int) -> StageRow:
    facts, reason = span.attributes, words(span.reason, 300)
    if reason.startswith(_EARLY):
        reason = ""
    about = words(facts.get("function")) if span.name in _NAMED else ""
    name = span.name
    if name == "parse attempt":
        name, about = "parse", f"attempt {facts.get('attempt', 0)}"
    # A tool that failed is a stage that went well: what came of the call is what a person asks about.
    ended = words(facts.get("status")) if name == "tool" and span.status == "ok" else ""
    return StageRow(
        depth,
        words(name),
        about,
        ended or span.status,
        reason or _what(span),
        _measured(facts),
        span.start,
        span.duration,
    )


def _what(span: Span) -> str:
    facts = span.attributes
    if span.name == "render" and isinstance(facts.get("messages"), int):
        return count(facts["messages"], "message")
    if span.name == "model call":
        return "/".join(part for part in (words(facts.get("provider")), words(facts.get("model"))) if part)
    if span.name == "enrich" and isinstance(facts.get("responses"), int):
        return count(facts["responses"], "response") + " added"
    if span.name == "tool" and facts.get("decided_by"):
        by = words(facts["decided_by"], 60)
        return by if by == "no gate" else f"allowed by {by}" if span.status == "ok" else ""
    return ""


def _measured(facts: Any) -> str:
    usage = mapping(facts.get("usage"))
    read = usage.get("prompt_tokens") or usage.get("input_tokens")
    wrote = usage.get("completion_tokens") or usage.get("output_tokens")
    return f"{read:,} tokens in, {wrote:,} out" if isinstance(read, int) and isinstance(wrote, int) else ""


def trace(source: Any = None) -> TraceView:
    """Return the stages of a trace, of a branch's last call, or of the last call at all.

    Args:
        source: What ``lionagi.trace()`` collected, or a branch; None for the newest. Branches and None need the
            extension (``%load_ext lionagi_nb``), which keeps the last 200 traces.

    Raises:
        TypeError: `source` is neither.
        LookupError: There is no trace of it.
    """
    if source is None or is_branch(source):
        found = last_trace(None if source is None else source.id)
        if found is None:
            raise LookupError("no trace is kept of it; load the extension first: %load_ext lionagi_nb")
        source = found
    if not isinstance(source, Trace):
        raise TypeError(f"trace() takes a trace or a branch, not {type(source).__name__}")
    first = source.spans[0].name if source.spans else ""
    return TraceView(words(first), tuple(_rows(source.spans)))
