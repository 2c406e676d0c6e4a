"""The harness itself: a notebook is opened, run and shown in both themes of a real JupyterLab."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from support.lab import Lab, LabPage, write_notebook

pytestmark = pytest.mark.browser

CELLS = (
    "class Table:\n"
    "    def _repr_html_(self):\n"
    "        return '<table class=\"probe\"><tr><td>Paris</td></tr></table>'\n",
    "Table()",
)


def test_run_all_shows_an_html_table_in_light_and_dark(lab: Lab, open_notebook: Callable[[Path], LabPage]) -> None:
    path = write_notebook(lab.notebooks / "probe.ipynb", CELLS)
    opened = open_notebook(path)
    opened.run_all()
    table = opened.page.locator("table.probe td")
    table.wait_for()
    assert table.inner_text() == "Paris"
    backgrounds = set()
    for dark in (False, True):
        opened.set_theme(dark)
        assert table.is_visible()
        backgrounds.add(opened.page.evaluate("() => getComputedStyle(document.querySelector('.jp-Notebook')).color"))
        opened.screenshot(f"probe_{'dark' if dark else 'light'}")
    assert len(backgrounds) == 2


def test_save_writes_the_outputs(lab: Lab, open_notebook: Callable[[Path], LabPage]) -> None:
    path = write_notebook(lab.notebooks / "saved.ipynb", ["1 + 1"])
    opened = open_notebook(path)
    opened.run_all()
    opened.save()
    saved = nbformat.read(path, as_version=4)
    assert saved.cells[0].outputs[0]["data"]["text/plain"] == "2"
