"""An answer on the terminal while it arrives."""

from __future__ import annotations

from lionagi.cli._output import show

__all__ = ("AnswerStream",)


class AnswerStream:
    """Writes pieces of text, inert, to standard output; ``written`` says whether there were any."""

    def __init__(self) -> None:
        self.written = False
        self._held = ""
        self._ends_line = True

    def write(self, text: str) -> None:
        """Show a piece; a carriage return at its end waits for the newline that may follow in the next one."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        if text := text.removesuffix(self._held):
            show(text, end="")
            self.written = True
            self._ends_line = text.endswith("\n")

    def close(self) -> None:
        """End the last line."""
        held, self._held = self._held, ""
        if held:
            show(held, end="")
        if not self._ends_line:
            show("")
