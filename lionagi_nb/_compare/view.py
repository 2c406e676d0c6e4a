"""The comparison as a value, and the function that makes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lionagi_nb._format import clip, count, joined
from lionagi_nb._markup import render
from lionagi_nb._pieces import Piece, Pieces, plain
from lionagi_nb._records import is_branch
from lionagi_nb._text import hang, rows_table
from lionagi_nb._transcript.view import TranscriptView, transcript
from lionagi_nb._views import MAX_ROWS, StatusMark, View, status

from .steps import CompareStep, Pair, field_marks, pair_up, steps_of, word_marks

__all__ = ("CompareView", "compare")

_MARKS = {
    "same": StatusMark("=", "same", "off"),
    "differs": StatusMark("≠", "differs", "pending"),
    "missing": StatusMark("−", "missing", "error"),
    "added": StatusMark("+", "added", "ok"),
}
IGNORED = "times, ids, token counts, guidance and context"


@dataclass(frozen=True, repr=False)
class CompareView(View):
    """Two conversations, step by step: what is the same, where they part, and what follows from it."""

    name: ClassVar[str] = "Compare"
    subject: str
    names: tuple[str, str]
    pairs: tuple[Pair, ...]

    @property
    def same(self) -> bool:
        """Whether no step differs."""
        return self.first_divergence is None

    @property
    def first_divergence(self) -> int | None:
        """The number (from 1) of the first step that is not the same, None where all are."""
        return next((n for n, pair in enumerate(self.pairs, 1) if pair.verdict != "same"), None)

    def data(self) -> dict[str, Any]:
        """Return ``{"same", "first_divergence", "steps": [{"number", "verdict", "first", "second"}]}``."""
        steps = [
            {"number": n, "verdict": p.verdict, "first": _step_data(p.first), "second": _step_data(p.second)}
            for n, p in enumerate(self.pairs, 1)
        ]
        return {"subject": self.subject, "same": self.same, "first_divergence": self.first_divergence, "steps": steps}

    @property
    def verdict(self) -> StatusMark:
        """ "same", or "differs at step n of m"."""
        at = self.first_divergence
        return (
            _MARKS["same"]
            if at is None
            else StatusMark("≠", f"differs at step {at:,} of {len(self.pairs):,}", "pending")
        )

    def _facts(self) -> list[str]:
        if self.same:
            return [count(len(self.pairs), "step"), "times and ids ignored"]
        tally = Counter(pair.verdict for pair in self.pairs)
        words = {"same": "same", "differs": "differ", "missing": "missing", "added": "added"}
        return [f"{tally[key]:,} {word}" for key, word in words.items() if tally[key]]

    def explanation(self) -> Pieces:
        """Why the conversations part where they do, in a sentence."""
        at = self.first_divergence
        if at is None:
            return ()
        return _explained(self.pairs[at - 1], at, last=at == len(self.pairs))

    def _lines(self) -> list[str]:
        head = f"Compare {self.subject}".rstrip()
        lines = [f"{head}: {self.verdict}", ", ".join(self._facts())]
        if self.same:
            return lines
        lines += hang("", plain(self.explanation()))
        cells = [
            [f"{n:,}", str(_MARKS[pair.verdict]), _cell(pair.first), _cell(pair.second)]
            for n, pair in enumerate(self.pairs[:MAX_ROWS], 1)
        ]
        lines += ["", *rows_table(("#", "status", *self.names), cells, right=(0,))]
        left = len(self.pairs) - MAX_ROWS
        return [*lines, f"{left:,} more rows"] if left > 0 else lines

    def _html(self) -> str:
        at = self.first_divergence
        same = self.pairs[: at - 1] if at is not None else ()
        shown = self.pairs[len(same) : len(same) + MAX_ROWS] if at is not None else ()
        return render(
            "compare.html.j2",
            "compare.css",
            view=self,
            fact=" · ".join(self._facts()),
            same=[_cell(pair.first) for pair in same[:MAX_ROWS]],
            same_words=_same_words(len(same)),
            rows=[_row_html(n, pair, n == at) for n, pair in enumerate(shown, len(same) + 1)],
            more=len(self.pairs) - len(same) - len(shown) if at is not None else 0,
            ignored=IGNORED,
        )


def _same_words(n: int) -> str:
    return "Step 1 is the same" if n == 1 else f"Steps 1 to {n:,} are the same"


def _explained(pair: Pair, at: int, *, last: bool) -> Pieces:
    step = pair.first or pair.second
    assert step is not None
    tail = "" if last else " Later steps follow from it."
    if pair.verdict == "missing":
        return (Piece("t", f"Step {at:,}, a {step.kind}, happened in the first only.{tail}"),)
    if pair.verdict == "added":
        return (Piece("t", f"Step {at:,}, a {step.kind}, happened in the second only.{tail}"),)
    if step.kind == "prompt":
        return (Piece("t", f"What was said to the model differs at step {at:,}.{tail}"),)
    if step.kind == "tool":
        return (
            Piece("t", "The tool "),
            Piece("code", step.name),
            Piece("t", f" was asked or ended differently.{tail}"),
        )
    marks = field_marks(pair)
    changed = tuple(dict.fromkeys(m.name for side in marks or () for m in side if m.mark in "−+"))
    if not changed:
        return (Piece("t", f"Same prompt up to step {at:,}; the model answered differently.{tail}"),)
    names = joined(tuple(f"`{name}`" for name in changed[:4])) + (
        f" and {len(changed) - 4:,} more" if len(changed) > 4 else ""
    )
    lead = f"Same prompt up to step {at:,}; the model answered "
    pieces = [Piece("code" if i % 2 else "t", part) for i, part in enumerate(names.split("`")) if part]
    return (Piece("t", lead), *pieces, Piece("t", f" differently.{tail}"))


def _cell(step: CompareStep | None) -> str:
    if step is None:
        return "– no such step"
    what = (
        f"tool {step.name} {status(step.status)}"
        if step.kind == "tool"
        else step.kind
        if not step.name
        else f"{step.kind} ({step.name})"
    )
    return f"{what}: {clip(' '.join(step.line.split()), 160)}"


def _step_data(step: CompareStep | None) -> dict[str, Any] | None:
    return None if step is None else {"kind": step.kind, "name": step.name, "status": step.status, "value": step.value}


def _row_html(number: int, pair: Pair, first: bool) -> dict[str, Any]:
    fields, said = field_marks(pair), word_marks(pair)
    sides = [
        {
            "step": step,
            "mark": status(step.status) if step is not None and step.kind == "tool" else None,
            "fields": fields[i] if fields else None,
            "words": said[i] if said else None,
            "line": clip(step.line, 600) if step is not None else "",
        }
        for i, step in enumerate((pair.first, pair.second))
    ]
    return {"number": number, "status": _MARKS[pair.verdict], "first": first, "sides": sides}


def compare(first: Any, second: Any, *, names: Sequence[str] = ("first", "second")) -> CompareView:
    """Return the comparison of two branches or of two transcripts.

    Args:
        first: A branch, or what `transcript` returned: how it was.
        second: The same for how it is now.
        names: What to call the two.

    Raises:
        TypeError: One of them is neither.
        ValueError: `names` are not two.
    """
    if len(names) != 2:
        raise ValueError(f"names must be two, one for each side, not {len(names)}")
    a, b = _transcript(first), _transcript(second)
    subject = a.subject if a.subject == b.subject else f"{a.subject or names[0]} and {b.subject or names[1]}"
    pair = (clip(str(names[0]), 60), clip(str(names[1]), 60))
    return CompareView(subject, pair, pair_up(steps_of(a.turns), steps_of(b.turns)))


def _transcript(value: Any) -> TranscriptView:
    if isinstance(value, TranscriptView):
        return value
    if not is_branch(value) or not hasattr(value, "messages"):
        raise TypeError(f"compare() takes two branches or two transcripts, not {type(value).__name__}")
    return transcript(value)
