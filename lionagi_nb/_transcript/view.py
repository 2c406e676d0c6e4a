"""The transcript as a value, and the function that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lionagi_nb._format import count
from lionagi_nb._json import thaw
from lionagi_nb._markup import render
from lionagi_nb._records import is_branch, subject
from lionagi_nb._text import rows_table
from lionagi_nb._views import MAX_ROWS, View, status

from .rows import MessageRow, TurnGroup, collect, tally, tokens_of

__all__ = ("TranscriptView", "transcript")

_EMPTY = "Nothing has been said here yet."


@dataclass(frozen=True, repr=False)
class TranscriptView(View):
    """The conversation of a branch: who said what, the tool calls under the answer that asked for them, the tokens.

    Tokens are what the provider reported: for an answer what it wrote, for a turn what it read and wrote. The text
    form has none of them, because they may change from run to run.
    """

    name: ClassVar[str] = "Transcript"
    subject: str
    turns: tuple[TurnGroup, ...]

    def data(self) -> dict[str, Any]:
        """Return ``{"subject", "turns": [{"number", "facts", "tokens", "messages": [{"role", "text", …}]}]}``."""
        turns = [
            {"number": t.number, "facts": list(t.facts), "tokens": t.tokens, "messages": [_row_data(r) for r in t.rows]}
            for t in self.turns
        ]
        return {"subject": self.subject, "turns": turns}

    def _facts(self) -> list[str]:
        turns = sum(1 for turn in self.turns if turn.number)
        return [count(turns, "turn"), count(sum(turn.messages for turn in self.turns), "message")]

    def _shown(self) -> tuple[tuple[TurnGroup, ...], int]:
        left = MAX_ROWS
        for i, turn in enumerate(self.turns):
            left -= len(turn.rows) + sum(len(row.calls) for row in turn.rows)
            if left < 0 and i:
                return self.turns[:i], len(self.turns) - i
        return self.turns, 0

    def _lines(self) -> list[str]:
        head = f"Transcript {self.subject}".rstrip()
        if not self.turns:
            return [f"{head}: no messages", _EMPTY]
        shown, more = self._shown()
        cells: list[list[str]] = []
        for turn in shown:
            cells += [[f"turn {turn.number:,}", ", ".join(turn.facts)]] if turn.number else []
            for row in turn.rows:
                cells.append([row.role, _one_line(row)])
                cells += [["", f"  {status(c.status)} {c.function} {c.arguments} → {c.outcome}"] for c in row.calls]
        lines = [f"{head}: {', '.join(self._facts())}", "", *rows_table(("role", "message"), cells, floor=(9,))]
        return [*lines, f"{count(more, 'more turn')}"] if more else lines

    def _html(self) -> str:
        shown, more = self._shown()
        total = tokens_of(turn.tokens for turn in self.turns)
        silent = [f"{turn.number:,}" for turn in self.turns if turn.number and turn.tokens is None]
        facts = [*self._facts(), *([f"{total:,} tokens where known"] if total is not None else [])]
        return render(
            "transcript.html.j2",
            "transcript.css",
            view=self,
            fact=" · ".join(facts) if self.turns else "no messages",
            turns=[(turn, [_row_html(row) for row in turn.rows]) for turn in shown],
            more=more,
            silent=", ".join(silent[:12]) + (" …" if len(silent) > 12 else "") if total is not None else "",
            empty=_EMPTY,
        )


def _one_line(row: MessageRow) -> str:
    parts = [" ".join(row.text.split()), *(f"[{image}]" for image in row.images)]
    return " ".join(part for part in parts if part) or "–"


def _row_data(row: MessageRow) -> dict[str, Any]:
    return {
        "role": row.role,
        "text": row.text,
        "images": list(row.images),
        "parts": [{"label": f.label, "value": thaw(f.body) if f.is_json else f.body} for f in row.folds],
        "calls": [{"status": c.status, "function": c.function, "outcome": c.outcome} for c in row.calls],
        "tokens": row.tokens,
    }


def _row_html(row: MessageRow) -> dict[str, Any]:
    first, _, rest = ("", "", row.text) if row.code else row.text.partition("\n")
    return {
        "row": row,
        "first": first,
        "rest": "" if row.code else rest.strip("\n").split("\n") if rest.strip() else [],
        "calls": [(status(call.status), call) for call in row.calls],
        "tally": tally(row.calls),
        "open": len(row.calls) <= 5,
    }


def transcript(branch: Any) -> TranscriptView:
    """Return the conversation of a branch.

    Raises:
        TypeError: `branch` keeps no messages.
    """
    if not is_branch(branch) or not hasattr(branch, "messages"):
        raise TypeError(f"transcript() takes a branch, not {type(branch).__name__}")
    return TranscriptView(subject(branch), collect(branch))
