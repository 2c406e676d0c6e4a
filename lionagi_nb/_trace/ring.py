"""The last traces of this process, kept while the extension is loaded."""

from __future__ import annotations

from collections import deque
from typing import Any

from lionagi.ln.trace import Trace, set_trace_sink

__all__ = ("KEPT", "last_trace", "start_keeping", "stop_keeping")

KEPT = 200
"""How many traces are kept; the oldest go."""

_ring: deque[Trace] = deque(maxlen=KEPT)
_before: list[Any] = []


def start_keeping() -> None:
    """Keep every finished trace from now on; what looked at them before goes on looking."""
    before = set_trace_sink(None)
    _before.append(before)

    def keep(trace: Trace) -> None:
        _ring.append(trace)
        if before is not None:
            before(trace)

    set_trace_sink(keep)


def stop_keeping() -> None:
    """Forget the traces and put back what looked at them before."""
    if _before:
        set_trace_sink(_before.pop())
        _ring.clear()


def last_trace(branch_id: Any = None) -> Trace | None:
    """Return the newest trace, of one branch where its id is given; None where there is none."""
    for trace in reversed(_ring):
        if branch_id is None or any(span.attributes.get("branch") == branch_id for span in trace.spans):
            return trace
    return None
