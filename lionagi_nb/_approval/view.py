"""How an approval ended, as it stays in the saved notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from lionagi_nb._format import clip, count, duration, size
from lionagi_nb._json import byte_size, inline, thaw
from lionagi_nb._markup import render
from lionagi_nb._views import StatusMark, View

__all__ = ("ApprovalView",)

_MARKS = {
    "approved": StatusMark("✓", "approved", "ok"),
    "denied": StatusMark("⊘", "denied", "denied"),
    "no answer": StatusMark("⊘", "denied: no answer", "denied"),
    "cancelled": StatusMark("□", "cancelled", "off"),
}


@dataclass(frozen=True, repr=False)
class ApprovalView(View):
    """One approval: the tool, the arguments that were shown, and how it ended.

    `verdict` is "approved", "denied", "no answer" or "cancelled"; `arguments` is JSON text; `seconds` is how
    long it took.
    """

    name: ClassVar[str] = "Approval"
    function: str
    arguments: str
    verdict: str
    by: str = "you"
    reason: str = ""
    seconds: float | None = None

    def data(self) -> dict[str, Any]:
        """Return ``{"function", "arguments", "verdict", "by", "reason", "seconds"}``."""
        facts = {"function": self.function, "arguments": thaw(self.arguments), "verdict": self.verdict, "by": self.by}
        return {**facts, "reason": self.reason, "seconds": self.seconds}

    def _words(self) -> str:
        if self.verdict == "no answer":
            return "Nobody answered in time. The tool did not run; the other requests went on."
        if self.verdict == "cancelled":
            return "The run was cancelled before an answer came. The tool did not run."
        return f"Reason told to the model: “{clip(self.reason, 500)}”" if self.reason else ""

    def _lines(self) -> list[str]:
        lines = [f"Approval {self.function}: {_MARKS[self.verdict]}", inline(thaw(self.arguments))]
        return [*lines, self._words()] if self._words() else lines

    def _html(self) -> str:
        held = thaw(self.arguments)
        number = len(cast("dict[str, Any]", held)) if isinstance(held, dict) else 1
        facts = [f"by {self.by}"] if self.verdict in ("approved", "denied") else []
        facts += [f"after {duration(self.seconds)}"] if self.seconds is not None else []
        return render(
            "approval.html.j2",
            "approval.css",
            view=self,
            verdict=_MARKS[self.verdict],
            fact=" · ".join(facts),
            words=self._words(),
            label="What ran" if self.verdict == "approved" else "What was asked",
            size=f"{count(number, 'argument')}, as shown · {size(byte_size(self.arguments))}",
        )
