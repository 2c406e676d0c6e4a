"""The timeline as a value, and the function that makes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from lionagi.ln.yamls import dump_yaml
from lionagi_nb._format import count, duration, size
from lionagi_nb._json import byte_size, freeze, thaw
from lionagi_nb._markup import render
from lionagi_nb._pieces import Pieces, plain
from lionagi_nb._records import Record, is_branch, mapping, records, subject, words
from lionagi_nb._text import hang, rows_table
from lionagi_nb._views import MAX_ROWS, View, status

from .messages import last_user_text
from .rows import CallRow, ToolRow, branch_rows, call_rows, recorded_calls
from .script import ScriptUse, UnusedEntry, answers, explain, read_script, unused_rows

__all__ = ("TimelineView", "axis", "bar_of", "timeline")

_STEPS = (1, 2, 2.5, 5)
_ROOM = 9  # characters that the last two labels of the axis may have together before they touch


@dataclass(frozen=True, repr=False)
class TimelineView(View):
    """Model calls in order, the tools between them, what answered each call, and what the script left over.

    `exhausted` is (call number, label and words) for the first call that found no entry. `script` is YAML
    of as many served answers as fit in about 12 kB; `answers` is how many of how many.
    """

    name: ClassVar[str] = "Timeline"
    subject: str
    rows: tuple[CallRow, ...]
    unused: tuple[UnusedEntry, ...] = ()
    unused_total: int = 0
    entries: int = 0
    exhausted: tuple[int, tuple[tuple[str, Pieces], ...]] | None = None
    script: str = ""
    answers: tuple[int, int] = (0, 0)

    def data(self) -> dict[str, Any]:
        """Return ``{"subject", "calls": [{"number", "status", "call", "matched_by", "tools", …}], "unused": […]}``."""
        return {
            "subject": self.subject,
            "calls": [_call_data(row) for row in self.rows],
            "unused": [{"number": u.number, "entry": plain(u.entry), "when": plain(u.when)} for u in self.unused],
            "exhausted": None if self.exhausted is None else self.exhausted[0],
            "script": self.script,
        }

    @property
    def verdict(self) -> str:
        """ "exhausted", the first other failure, or "ok"."""
        if self.exhausted is not None:
            return "exhausted"
        return next((row.status for row in self.rows if row.status != "ok"), "ok")

    def _facts(self) -> list[str]:
        tools = sum(len(row.tools) for row in self.rows)
        return [count(len(self.rows), "call"), *([count(tools, "tool")] if tools else [])]

    def _shown(self) -> tuple[tuple[CallRow, ...], int]:
        """The calls whose rows, tools counted, fit in one table, and how many calls are left out."""
        left = MAX_ROWS
        for i, row in enumerate(self.rows):
            left -= 1 + len(row.tools)
            if left < 0 and i:
                return self.rows[:i], len(self.rows) - i
        return self.rows, 0

    def _lines(self) -> list[str]:
        head = f"Timeline {self.subject}".rstrip()
        if not self.rows:
            return [f"{head}: no calls", _EMPTY]
        shown, more = self._shown()
        cells: list[list[str]] = []
        for row in shown:
            cells.append(
                [f"{row.number:,}", str(status(row.status)), plain(row.call), plain(row.matched), row.diff.short]
            )
            cells += [["", str(status(tool.status)), f"  tool {tool.function}", "", ""] for tool in row.tools]
        heads = ("#", "status", "call", "matched by", "messages")
        lines = [f"{head}: {status(self.verdict)}", ", ".join(self._facts()), ""]
        lines += rows_table(heads, cells, right=(0, 4))
        lines += [f"{more:,} more calls"] if more else []
        return [*lines, *self._exhausted_lines(), *self._unused_lines()]

    def _exhausted_lines(self) -> list[str]:
        if self.exhausted is None:
            return []
        call, rows = self.exhausted
        lines = ["", f"Call {call:,} found no entry"]
        for label, said in rows:
            first, _, rest = plain(said).partition("\n")
            lines += hang(f"  {label.lower():<12}  ", first) + (hang(" " * 16, rest) if rest else [])
        return lines

    def _unused_lines(self) -> list[str]:
        if not self.unused:
            return []
        cells = [[f"{u.number:,}", plain(u.entry), plain(u.when), plain(u.why)] for u in self.unused]
        left = self.unused_total - len(self.unused)
        lines = ["", f"Unused entries: {self.unused_total:,} of {self.entries:,}"]
        lines += rows_table(("#", "entry", "when", "why it was not served"), cells, right=(0,))
        return [*lines, f"{left:,} more rows"] if left else lines

    def _html(self) -> str:
        shown, more = self._shown()
        start, end = _extent(self.rows)
        top, labels = axis(end - start)
        facts = self._facts() + ([duration(end - start)] if end > start else [])
        return render(
            "timeline.html.j2",
            "timeline.css",
            view=self,
            verdict=status(self.verdict) if self.rows else None,
            fact=" · ".join(facts) if self.rows else "no calls",
            rows=[_row_html(row, start, top) for row in shown],
            labels=labels,
            more=more,
            more_unused=self.unused_total - len(self.unused),
            script_size=size(byte_size(self.script)),
            script_answers=_share(*self.answers),
            empty=_EMPTY,
        )


def _share(shown: int, total: int) -> str:
    return count(total, "answer") if shown == total else f"first {shown:,} of {count(total, 'answer')}"


_EMPTY = "No model call has been recorded here."


def _call_data(row: CallRow) -> dict[str, Any]:
    return {
        "number": row.number,
        "status": row.status,
        "call": plain(row.call),
        "matched_by": plain(row.matched),
        "messages": row.diff.fact,
        "started_at": row.started_at,
        "duration": row.duration,
        "tools": [{"status": t.status, "function": t.function, "duration": t.duration} for t in row.tools],
    }


def _timed(rows: Sequence[CallRow]) -> Iterable[tuple[float, float]]:
    for row in rows:
        for item in (row, *row.tools):
            if item.started_at is not None:
                yield item.started_at, item.started_at + (item.duration or 0.0)


def _extent(rows: Sequence[CallRow]) -> tuple[float, float]:
    spans = list(_timed(rows))
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else (0.0, 0.0)


def axis(span: float) -> tuple[float, list[str]]:
    """Return the round end of a time axis (seconds) and its five labels, the fourth empty where it touches the last."""
    span = max(span, 0.004)
    power = 1e-3
    while power * 20 < span:
        power *= 10
    step = next(s * power for s in (*_STEPS, 10) if s * power * 4 >= span)
    one, two, three, four = (_label(step * i) for i in range(1, 5))
    return step * 4, ["0", one, two, three if len(three) + len(four) <= _ROOM else "", four]


def _label(seconds: float) -> str:
    return f"{seconds * 1000:.4g}\u00a0ms" if seconds < 1 else f"{seconds:,.4g}\u00a0s"


def _bar(item: CallRow | ToolRow, start: float, top: float) -> dict[str, str] | None:
    return None if item.started_at is None else bar_of(item.started_at - start, item.duration, top)


def bar_of(start: float, seconds: float | None, top: float) -> dict[str, str] | None:
    """Return where a bar begins and how long it is, in percent of an axis that ends at `top`; None without a length."""
    if seconds is None:
        return None
    left = min(start / top * 100, 99.6)
    width = min(max(seconds / top * 100, 0.4), 100 - left)
    return {"left": f"{left:.2f}".rstrip("0").rstrip("."), "width": f"{width:.2f}".rstrip("0").rstrip(".")}


def _row_html(row: CallRow, start: float, top: float) -> dict[str, Any]:
    return {
        "row": row,
        "status": status(row.status),
        "bar": _bar(row, start, top),
        "time": duration(row.duration),
        "tools": [(t, status(t.status), _bar(t, start, top), duration(t.duration)) for t in row.tools],
    }


def timeline(source: Any) -> TimelineView:
    """Return the timeline of a branch, or of a list of recorded calls (`TestBranch.calls(branch)`).

    Raises:
        TypeError: `source` is neither.
    """
    kind = type(source).__name__
    if is_branch(source):
        return _of_branch(source)
    calls = list(cast("Iterable[Any]", source)) if isinstance(source, list | tuple) else None
    if calls is None or not all(hasattr(call, "matched_by") for call in calls):
        raise TypeError(f"timeline() takes a branch or a list of recorded calls, not {kind}")
    rows = call_rows(calls, ScriptUse(), MAX_ROWS)
    served = answers(calls, ScriptUse())
    return TimelineView("", rows, script=_yaml(served, "auto"), answers=(len(served), len(calls)))


def _of_branch(branch: Any) -> TimelineView:
    logs = [record for record in records(branch) if record.get("kind") in ("model_call", "tool_call")]
    calls, source = recorded_calls(branch)
    script = read_script(source, calls)
    rows = branch_rows(logs, calls, script, MAX_ROWS) if logs else call_rows(calls, script, MAX_ROWS)
    unused = unused_rows(script, MAX_ROWS)
    mode = str(getattr(source, "mode", "auto"))
    served = answers(calls, script)
    return TimelineView(
        subject(branch),
        rows,
        unused=unused,
        unused_total=len(script.unused()),
        entries=len(script.entries),
        exhausted=_exhausted(logs, rows, script),
        script=_yaml(served, mode),
        answers=(len(served), len(calls)),
    )


def _exhausted(logs: Sequence[Record], rows: Sequence[CallRow], script: ScriptUse) -> tuple[int, Any] | None:
    row = next((row for row in rows if row.status == "exhausted"), None)
    if row is None:
        return None
    record = [r for r in logs if r.get("kind") == "model_call"][row.number - 1]
    messages = cast("Sequence[Any]", record.get("messages") or ())
    offered = tuple(str(name) for name in cast("Iterable[Any]", record.get("tools") or ()))
    error = mapping(record.get("error"))
    said = re.search(r"call_index=(\d+)", words(error.get("message"), 2_000))
    index = int(said.group(1)) if said else row.number - 1
    return row.number, explain(script, last_user_text(messages), offered, index)


def _yaml(entries: Sequence[Record], mode: str) -> str:
    return dump_yaml({"version": 1, "mode": mode, "responses": thaw(freeze(list(entries)))}) if entries else ""
