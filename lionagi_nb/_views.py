"""What every view is: a frozen, picklable value with a text form, markup and plain data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

from ._format import clip
from ._markup import render
from ._text import clean

__all__ = ("MAX_ROWS", "STATUS", "StatusMark", "View", "status")

MAX_ROWS = 200


@dataclass(frozen=True)
class StatusMark:
    """A verdict: symbol, word and the colour's name (ok, error, denied, pending, off)."""

    symbol: str
    word: str
    colour: str

    def __str__(self) -> str:
        return f"{self.symbol} {self.word}"


STATUS = {
    s.word: s
    for s in (
        StatusMark("✓", "ok", "ok"),
        StatusMark("✓", "filled", "ok"),
        StatusMark("✗", "error", "error"),
        StatusMark("✗", "exhausted", "error"),
        StatusMark("◷", "timeout", "error"),
        StatusMark("⊘", "denied", "denied"),
        StatusMark("⊖", "refused", "denied"),
        StatusMark("–", "not run", "off"),
        StatusMark("□", "cancelled", "off"),
    )
}


def status(word: str) -> StatusMark:
    """Return the status of that word; an unknown word is a caution, never an error."""
    return STATUS.get(word) or StatusMark("!", clip(word, 20), "pending")


@dataclass(frozen=True, repr=False)
class View:
    """A value that shows itself: `text()`, `html()`, `data()`; its repr is its text form.

    The text form holds nothing that changes from run to run (no times, ids or token counts). `html()` is self-contained
    and needs neither script nor network. A view that cannot be built shows its text form, and warns.
    """

    name: ClassVar[str] = "View"

    def text(self) -> str:
        """Return the text form, at most 100 columns."""
        try:
            return clean(self._lines())
        except Exception as error:
            _warn(self.name, error)
            return clean([f"{self.name}: ✗ view failed", _words(error)])

    def html(self) -> str:
        """Return self-contained markup; at most 200 rows a table, 10 kB a folded body and 1 MB in all."""
        try:
            return self._html()
        except Exception as error:
            _warn(self.name, error)
            return render("failed.html.j2", "", name=self.name, text=self.text(), error=_words(error))

    def data(self) -> dict[str, Any]:
        """Return what the view shows as JSON-compatible values, all rows."""
        raise NotImplementedError

    def _lines(self) -> list[str]:
        raise NotImplementedError

    def _html(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}


def _words(error: BaseException) -> str:
    return clip(f"{type(error).__name__}: {error}", 500)


def _warn(name: str, error: BaseException) -> None:
    warnings.warn(f"the {name} view failed to build ({_words(error)}); its text form is shown", stacklevel=3)
