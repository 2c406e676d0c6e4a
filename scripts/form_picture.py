"""Write docs/images/form_check.svg: what ``li form check`` shows on a terminal of 80 columns."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from lionagi.cli._gate import check_form
from lionagi.cli._table import problem_table
from lionagi.work._form_file import parse_form_text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "form_check.svg"
DOCUMENT = ROOT / "docs" / "forms.md"
NAME = "order.yaml"


def faulty_form() -> str:
    """Return the form file that docs/forms.md shows as the faulty one."""
    return re.findall(rf"```yaml title=\"{NAME}\"\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)[0]


def picture() -> str:
    """Return the table as SVG that loads nothing from elsewhere."""
    problems = check_form(parse_form_text(faulty_form()), NAME).problems
    console = Console(width=80, record=True, file=io.StringIO(), force_terminal=True)
    console.print(problem_table(problems, f"{len(problems)} problems in {NAME}"))
    template = re.sub(r"\s*@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    svg = console.export_svg(title=f"li form check {NAME}", code_format=template, unique_id="form-check")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}")
