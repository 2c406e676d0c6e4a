"""The action view as a value, and the function that makes it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lionagi.operations.operate._results import turn_of
from lionagi_nb._format import count, duration, size
from lionagi_nb._json import byte_size, inline, thaw
from lionagi_nb._markup import render
from lionagi_nb._pieces import Piece, Pieces, join_names, plain, sentence, separator
from lionagi_nb._records import is_branch, records, subject
from lionagi_nb._text import hang
from lionagi_nb._views import MAX_ROWS, STATUS, View, status

from .rows import ActionGroup, ActionRow, collect, from_result

__all__ = ("ActionsView", "actions")

_LATE = re.compile(r"\s*[^.!?]*\blate result\b.*$")
_TOOL_WIDTH = 30


@dataclass(frozen=True, repr=False)
class ActionsView(View):
    """The tool calls of a branch, a turn or a result, with the requests that never ran and why."""

    name: ClassVar[str] = "Actions"
    subject: str
    groups: tuple[ActionGroup, ...]
    offered: tuple[str, ...] = ()
    turns: int = 0

    def data(self) -> dict[str, Any]:
        """Return ``{"subject", "turns": [{"title", "facts", "rows": […]}]}``, arguments and outputs as JSON values."""
        return {
            "subject": self.subject,
            "offered": list(self.offered),
            "turns": [
                {
                    "title": g.title,
                    "facts": [*g.facts[:-1], g.facts[-1] + g.code],
                    "rows": [_row_data(r) for r in g.rows],
                }
                for g in self.groups
            ],
        }

    @property
    def total(self) -> int:
        """The number of requests."""
        return sum(len(group.rows) for group in self.groups)

    def _shown(self) -> tuple[tuple[tuple[ActionGroup, tuple[ActionRow, ...]], ...], int]:
        shown: list[tuple[ActionGroup, tuple[ActionRow, ...]]] = []
        left = MAX_ROWS
        for group in self.groups:
            if left <= 0:
                break
            shown.append((group, group.rows[:left]))
            left -= len(group.rows)
        return tuple(shown), max(self.total - MAX_ROWS, 0)

    def _tally(self) -> tuple[tuple[str, int], ...]:
        found = Counter(row.status for group in self.groups for row in group.rows)
        order = list(STATUS)
        return tuple(sorted(found.items(), key=lambda kv: order.index(kv[0]) if kv[0] in order else len(order)))

    def _fact(self) -> str:
        if not self.total:
            return "no requests"
        n = sum(1 for group in self.groups if group.title.startswith("Turn"))
        return count(self.total, "request") + (f" in {count(n, 'turn')}" if n else "")

    def _empty(self) -> Pieces:
        if not self.offered:
            none = "No turn has been recorded here." if not self.turns else "The model was offered no tool."
            return (
                Piece("dim", none + " "),
                Piece("code", "operate(actions=True)"),
                Piece("dim", " offers the branch’s tools."),
            )
        n = len(self.offered)
        lead = f"The model asked for no tool. {count(n, 'tool')} {'was' if n == 1 else 'were'} offered: "
        return (Piece("dim", lead), *join_names(self.offered), Piece("dim", "."))

    def _lines(self) -> list[str]:
        head = f"Actions {self.subject}".rstrip()
        if not self.groups:
            return [f"{head}: no requests", *hang("", plain(self._empty()))]
        lines = [f"{head}: {self._fact()}", *hang("", _tally_text(self._tally()))]
        shown, more = self._shown()
        rows = [row for _, part in shown for row in part]
        columns = (
            max(3, len(f"{len(rows):,}")),
            max((len(str(status(r.status))) for r in rows), default=0),
            min(max((len(r.function) for r in rows), default=0), _TOOL_WIDTH),
        )
        for group, part in shown:
            lines += ["", *hang("", f"{group.title}: {', '.join(group.facts)}{group.code}")]
            for row in part:
                lines += _row_lines(row, columns)
        return [*lines, f"{more:,} more rows"] if more else lines

    def _html(self) -> str:
        shown, more = self._shown()
        span = sum(group.span for group in self.groups)
        return render(
            "actions.html.j2",
            "actions.css",
            view=self,
            fact=self._fact() + (f" · {duration(span)}" if span else ""),
            tally=[(status(word), n) for word, n in self._tally()],
            groups=[(group, [_row_html(row) for row in part]) for group, part in shown],
            more=more,
            empty=self._empty(),
        )


def _tally_text(tally: tuple[tuple[str, int], ...]) -> str:
    return "  ".join(f"{status(word).symbol} {n:,} {status(word).word}" for word, n in tally)


def _outcome(row: ActionRow) -> Pieces:
    if row.status == "ok":
        return (Piece("code", inline(thaw(row.output or "null"))),)
    return sentence(row.reason)


def _row_lines(row: ActionRow, columns: tuple[int, int, int]) -> list[str]:
    number, verdict, tool = columns
    head = f"{row.number:>{number},}  {status(row.status)!s:<{verdict}}  {row.function:<{tool}}  "
    indent = " " * (number + verdict + tool + 6)
    lines = [head.rstrip()] if len(row.function) > tool else []
    arguments = hang(indent if lines else head, inline(thaw(row.arguments)))
    words = plain(_outcome(row)) if row.status == "ok" else plain(sentence(_LATE.sub("", row.reason)))
    return [*lines, *arguments, *hang(f"{indent[:-2]}→ ", words)]


def _row_html(row: ActionRow) -> dict[str, Any]:
    return {
        "row": row,
        "status": status(row.status),
        "arguments": inline(thaw(row.arguments)),
        "outcome": _outcome(row),
        "time": duration(row.duration),
        "sizes": (size(byte_size(row.arguments)), size(byte_size(row.output or ""))),
        "facts": _facts(row),
    }


def _facts(row: ActionRow) -> list[tuple[str, Pieces]]:
    """The lines under an opened row: who decided, and what the audit record says."""
    facts: list[tuple[str, Pieces]] = []
    if row.decided_by not in ("", "selection", "arguments", "cap"):
        facts.append(("Check", (Piece("t", "the arguments fit the tool’s schema"),)))
    if row.decided_by == "no gate":
        facts.append(("Decision", (Piece("t", "allowed; no gate is set"),)))
    elif row.decided_by:
        said = row.status if row.status in ("denied", "refused") else "stopped" if row.duration is None else "allowed"
        facts.append(("Decision", (Piece("t", f"{said} by "), Piece("code", row.decided_by))))
    audit: list[Piece] = []
    if row.duration is None:
        audit.append(Piece("t", "never ran"))
    else:
        ran = "ran once" if row.attempt == 1 else f"attempt {row.attempt}"
        audit.append(Piece("t", f"{ran}, {_ENDS.get(row.status, row.status)}"))
        if row.started_at is not None:
            clock = f"{_clock(row.started_at)} to {_clock(row.started_at + row.duration)}"
            audit += [separator(), Piece("dim", clock)]
    if row.record is not None:
        audit += [separator(), Piece("dim", f"record {row.record:,} in "), Piece("code", "branch.logs")]
    facts.append(("Audit", tuple(audit)))
    return facts


_ENDS = {"ok": "finished ok", "error": "raised", "timeout": "ended by its deadline", "cancelled": "cancelled"}


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def _row_data(row: ActionRow) -> dict[str, Any]:
    made = row._asdict()
    made["arguments"] = thaw(row.arguments)
    made["output"] = None if row.output is None else thaw(row.output)
    return made


def actions(source: Any, branch: Any = None) -> ActionsView:
    """Return the action view of a branch, or of one result of `operate`.

    Args:
        source: A branch (all its turns), or a result.
        branch: The branch that made the result. With it the view has the records of that turn: statuses, times and
            who decided. Without it the view shows what the result itself holds.

    Raises:
        TypeError: `source` is neither a branch nor something that holds action requests or responses.
    """
    if is_branch(source):
        groups, offered, turns = collect(records(source))
        return ActionsView(subject(source), groups, offered, turns)
    turn = turn_of(source)
    if branch is not None and turn is not None:
        groups, offered, turns = collect(records(branch), turn)
        return ActionsView(_kind(source), groups, offered, turns)
    if (
        not isinstance(source, Mapping)
        and not hasattr(source, "action_requests")
        and not hasattr(source, "action_responses")
    ):
        raise TypeError(f"actions() takes a branch or a result of operate(actions=True), not {type(source).__name__}")
    return ActionsView(_kind(source), from_result(source), (), 1)


def _kind(result: Any) -> str:
    return "result" if isinstance(result, Mapping) else type(result).__name__.removesuffix("Response")
