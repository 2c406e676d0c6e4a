"""Characters that a reader does not see, or that a terminal obeys: which they are, and how they are made visible."""

from __future__ import annotations

from lionagi.ln.patterns import late_pattern

__all__ = ("one_line", "reveal", "split_hidden")

# Controls, direction marks, zero-width and tag characters, separators that break lines, fillers that look like
# nothing, lone surrogates. U+FE0F is left: it only chooses a symbol's coloured form.
_HIDDEN = late_pattern(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# What prose needs: layout, and the joiners that Persian, Indic scripts and emoji are spelt with.
_OF_PROSE = frozenset("\n\t\u200c\u200d")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def reveal(text: str) -> str:
    r"""Return prose that no terminal obeys: hidden characters stand as their escapes, such as ``\x1b`` or ``\u202e``.

    Newlines (``\r\n`` included), tabs and the zero-width joiners of ordinary spelling stay.
    """
    return _HIDDEN.sub(
        lambda found: found.group() if found.group() in _OF_PROSE else _escape(found.group()),
        text.replace("\r\n", "\n"),
    )


def one_line(text: str) -> str:
    r"""Return the text on one line, every hidden character as its escape, newlines and tabs too."""
    return _HIDDEN.sub(lambda found: _escape(found.group()), text)


def split_hidden(text: str) -> list[tuple[str, bool]]:
    r"""Split a text into runs, in order; True marks a run that is the escape of a hidden character.

    Newlines and tabs are left in the other runs: a page lays them out.
    """
    runs: list[tuple[str, bool]] = []
    at = 0
    for found in _HIDDEN.finditer(text):
        if found.group() in "\n\t":
            continue
        if found.start() > at:
            runs.append((text[at : found.start()], False))
        runs.append((_escape(found.group()), True))
        at = found.end()
    return [*runs, (text[at:], False)] if at < len(text) else runs


def _escape(char: str) -> str:
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
