"""Numbers, sizes, cuts and hidden characters, said the same way in every view."""

from __future__ import annotations

import re

__all__ = ("cap_word", "clip", "count", "duration", "hidden", "joined", "show_hidden", "size")

# Controls, direction marks, zero-width and tag characters, fillers that look like nothing, lone surrogates.
# Tab and newline are left: they are laid out, not hidden. U+FE0F is left: it only chooses a symbol's coloured form.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def hidden(text: str) -> list[tuple[str, bool]]:
    r"""Split `text` into runs; True marks a run that is the escape (such as ``\u202e``) of a hidden character."""
    if not _HIDDEN.search(text):
        return [(text, False)] if text else []
    runs: list[tuple[str, bool]] = []
    at = 0
    for match in _HIDDEN.finditer(text):
        if match.start() > at:
            runs.append((text[at : match.start()], False))
        runs.append((_escape(match.group()), True))
        at = match.end()
    if at < len(text):
        runs.append((text[at:], False))
    return runs


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def show_hidden(text: str) -> str:
    r"""Return `text` with every hidden character written as its escape, so that no terminal or reader is fooled."""
    return _HIDDEN.sub(lambda m: _escape(m.group()), text)


def clip(text: str, limit: int) -> str:
    """Return `text`, or its beginning and how long it is in all: ``We have refunded … (312 chars)``."""
    if len(text) <= limit:
        return text
    tail = f" … ({len(text):,} chars)"
    head = text[: max(limit - len(tail), 1)]
    cut = head.rfind(" ")
    return (head[:cut] if cut > len(head) // 2 else head).rstrip() + tail


def count(n: int, noun: str, plural: str = "") -> str:
    """Return ``1 tool``, ``2 tools``, ``1,240 requests``; `plural` where adding an s is wrong."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def joined(words: tuple[str, ...]) -> str:
    """Return ``1``, ``1 and 2``, ``1, 2 and 3``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def cap_word(text: str) -> str:
    """Return `text` with its first letter as a capital, the rest untouched."""
    return text[:1].upper() + text[1:]


def duration(seconds: float | None) -> str:
    """Return ``<1 ms``, ``38 ms``, ``1.24 s``, ``12.4 s``, ``2 min 05 s``; a dash for None. Spaces do not break."""
    if seconds is None:
        return "–"
    if seconds < 0.0005:
        return "<1\u00a0ms"
    if seconds < 0.9995:
        return f"{max(round(seconds * 1000), 1)}\u00a0ms"
    if seconds < 59.95:
        return f"{seconds:.2f}\u00a0s" if seconds < 9.995 else f"{seconds:.1f}\u00a0s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,}\u00a0min\u00a0{rest:02d}\u00a0s"


def size(n: int) -> str:
    """Return ``61 B``, ``1.9 kB``, ``84 kB``, ``1.2 MB`` (decimal) with a space that does not break."""
    for limit, unit in ((1e3, "B"), (1e6, "kB"), (1e9, "MB")):
        if n < limit:
            value = n / (limit / 1e3)
            return (
                f"{n}\u00a0B"
                if unit == "B"
                else f"{value:.1f}\u00a0{unit}"
                if value < 9.95
                else f"{value:.0f}\u00a0{unit}"
            )
    return f"{n / 1e9:.1f}\u00a0GB"
