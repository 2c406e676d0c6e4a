"""Numbers, sizes and cuts, said the same way in every view."""

from __future__ import annotations

from lionagi.ln.hidden import split_hidden

__all__ = ("cap_word", "clip", "count", "duration", "joined", "show_hidden", "size")


def show_hidden(text: str) -> str:
    r"""Return `text` with every hidden character written as its escape, so that no terminal or reader is fooled."""
    return "".join(run for run, _ in split_hidden(text))


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
