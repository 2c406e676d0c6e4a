"""The table of a form's problems, for a terminal and for a picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lionagi._errors import short_repr
from lionagi.ln.hidden import one_line

if TYPE_CHECKING:
    from rich.table import Table

    from lionagi.work._form_file import FormFileProblem

__all__ = ("problem_table", "shown_value")

_VALUE_LIMIT = 60


def shown_value(problem: FormFileProblem) -> str:
    """Return the repr of a problem's value on one line, at most 60 characters; "missing" where there is none."""
    return "missing" if problem.value is None else one_line(short_repr(problem.value, _VALUE_LIMIT))


def problem_table(problems: Iterable[FormFileProblem], title: str) -> Table:
    """Return a rich table of line, field, value and what was expected; no cell is read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(one_line(title)), title_justify="left", box=box.SIMPLE_HEAD, title_style="bold")
    table.add_column("Line", justify="right", style="dim")
    for heading, style in (("Field", "bold"), ("Value", "red"), ("Expected", "green")):
        table.add_column(heading, style=style, overflow="fold")
    for problem in problems:
        line = "" if problem.line is None else str(problem.line)
        cells = (problem.field, shown_value(problem), problem.expected)
        table.add_row(line, *(Text(one_line(cell)) for cell in cells))
    return table
