"""The text form: tables of at most 100 columns, two spaces between columns, no space at the end of a line."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ._format import show_hidden

__all__ = ("WIDTH", "clean", "hang", "rows_table")

WIDTH = 100


def clean(lines: Sequence[str]) -> str:
    """Join lines into a text form: hidden characters escaped, no spaces at line ends, no blank line at the end."""
    return "\n".join(show_hidden(line.replace("\t", "    ")).rstrip() for line in lines).rstrip("\n")


def hang(head: str, words: str, *, width: int = WIDTH) -> list[str]:
    """Return `head` + `words` broken at spaces, every further line indented to where `words` begins."""
    room = max(width - len(head), 20)
    parts = textwrap.wrap(" ".join(words.split("\n")), room, break_on_hyphens=False, drop_whitespace=True) or [""]
    return [head + parts[0], *(" " * len(head) + part for part in parts[1:])]


def rows_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    floor: Sequence[int] = (),
    notes: Sequence[str] = (),
) -> list[str]:
    """Return head, rule and rows. Columns are as wide as their widest cell; the widest give way above `WIDTH`.

    A cell too long for its column goes on under itself. `right` lists right-aligned columns, `floor` least widths;
    `notes` are lines under each row, indented to the second column.
    """
    grid = [[" ".join(cell.split("\n")) for cell in row] for row in rows]
    wide = [max(len(row[i]) for row in (heads, *grid)) for i in range(len(heads))]
    wide = [max(w, floor[i] if i < len(floor) else 0) for i, w in enumerate(wide)]
    while sum(wide) + 2 * (len(wide) - 1) > WIDTH:
        wide[wide.index(max(wide))] -= 1
    lines = [_line(list(heads), wide, right), _line(["-" * w for w in wide], wide, ())]
    for k, row in enumerate(grid):
        cells = [_indented(cell, wide[i]) for i, cell in enumerate(row)]
        for n in range(max(len(c) for c in cells)):
            lines.append(_line([c[n] if n < len(c) else "" for c in cells], wide, right))
        if k < len(notes) and notes[k]:
            lines += hang(" " * (wide[0] + 2), notes[k])
    return lines


def _indented(cell: str, width: int) -> list[str]:
    lead = " " * (len(cell) - len(cell.lstrip(" ")))
    return textwrap.wrap(cell.strip(), width, initial_indent=lead, subsequent_indent=lead, break_on_hyphens=False) or [
        ""
    ]


def _line(cells: Sequence[str], wide: Sequence[int], right: Sequence[int]) -> str:
    return "  ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(cells, wide, strict=True)))
