"""Short runs of words with a role each, so that one value makes both the text form and the markup.

A cell is a tuple of pieces. The text form joins their text; `_markup` gives each role its element.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ._format import clip

__all__ = ("Piece", "Pieces", "Role", "join_names", "phrase", "plain", "sentence", "separator")

Role = Literal["t", "code", "b", "bcode", "dim", "dimcode", "quote", "dimquote", "sep"]


class Piece(NamedTuple):
    """Text and its role: t(ext), code, b(old), bcode, dim, dimcode, quote (what someone said), sep(arator)."""

    role: Role
    text: str


Pieces = tuple[Piece, ...]

_CODE = re.compile(r"`([^`]+)`|\b([a-z_]+=(?:True|False|None|\d+))(?!\w)")
_LEAD = re.compile(r"^[^`.:]{3,40}?(?:`[^`]{1,60}`)?(?:\.(?=\s)|:(?=\s))")


def separator(text: str = ", ") -> Piece:
    """Return a separator: `text` in the text form, a middle dot in markup."""
    return Piece("sep", text)


def plain(pieces: Pieces) -> str:
    """Return the words of `pieces` as the text form shows them, quotes as straight ones."""
    return "".join(f'"{p.text}"' if p.role in ("quote", "dimquote") else p.text for p in pieces)


def join_names(names: tuple[str, ...], role: Role = "code", limit: int = 12) -> Pieces:
    """Return names joined by commas, at most `limit` of them and then how many more there are."""
    out: list[Piece] = []
    for i, name in enumerate(names[:limit]):
        if i:
            out.append(Piece("t", ", "))
        out.append(Piece(role, clip(name, 200)))
    if len(names) > limit:
        out.append(Piece("t", f", … {len(names) - limit:,} more"))
    return tuple(out)


def sentence(words: str, limit: int = 300) -> Pieces:
    """Return a reason as pieces: what it begins with in bold, names in backticks and `key=value` as code."""
    words = clip(" ".join(words.split()), limit)
    lead = _LEAD.match(words)
    if lead is None:
        return _coded(words, bold_first=True)
    return _coded(words[: lead.end()], bold=True) + _coded(words[lead.end() :])


def phrase(words: str, limit: int = 300) -> Pieces:
    """Return words as pieces: names in backticks and `key=value` as code, nothing in bold."""
    return _coded(clip(" ".join(words.split()), limit))


def _coded(words: str, *, bold: bool = False, bold_first: bool = False) -> Pieces:
    out: list[Piece] = []
    at = 0
    for match in _CODE.finditer(words):
        if match.start() > at:
            out.append(Piece("b" if bold else "t", words[at : match.start()]))
        strong = bold or (bold_first and match.start() == 0)
        out.append(Piece("bcode" if strong else "code", match.group(1) or match.group(2)))
        at = match.end()
    if at < len(words):
        out.append(Piece("b" if bold else "t", words[at:]))
    return tuple(out)
