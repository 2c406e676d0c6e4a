"""The first notebook in a real JupyterLab: run all cells, and see answer, schema, tools and timeline in both themes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from support.kernels import NOTEBOOKS, recording_of
from support.lab import Lab, LabPage

pytestmark = pytest.mark.browser

NAME = "01_first_answer.ipynb"
ARTIFACTS = NOTEBOOKS.parent / "artifacts"
MARGIN = 8


def place(lab: Lab) -> Path:
    """Put the notebook into the Lab without its outputs."""
    notebook = nbformat.read(NOTEBOOKS / NAME, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    path = lab.notebooks / NAME
    nbformat.write(notebook, path)
    return path


def picture(opened: LabPage) -> None:
    """Take the picture of the part with the tool, from its heading to the last view: code, answer and all views."""
    page = opened.page
    top = page.locator("h2", has_text="Let it use a tool").bounding_box()
    last = page.locator(".jp-OutputArea-output .lnb").last.bounding_box()
    code = page.locator(".jp-Notebook .jp-InputArea").first.bounding_box()
    assert top is not None
    assert last is not None
    assert code is not None
    y = top["y"] - MARGIN
    page.screenshot(
        path=ARTIFACTS / "first_answer_picture.png",
        clip={
            "x": code["x"] - MARGIN,
            "y": y,
            "width": code["width"] + 2 * MARGIN,
            "height": last["y"] + last["height"] + MARGIN - y,
        },
    )


def titles(opened: LabPage) -> list[str]:
    """Return the first word of each view's title, in order; every one of them can be seen."""
    found = opened.page.locator(".jp-OutputArea-output .lnb .l-ti").all()
    assert all(title.is_visible() for title in found)
    return [title.inner_text().split()[0] for title in found]


def test_the_first_notebook_shows_its_answer_and_its_views_in_light_and_dark(
    lab: Lab, open_notebook: Callable[..., LabPage]
) -> None:
    opened = open_notebook(place(lab), 1280, 3300)
    opened.run_unseen(f"import os; os.environ['LIONAGI_REPLAY'] = {str(recording_of(NOTEBOOKS / NAME))!r}")
    opened.run_all()
    page = opened.page
    views = page.locator(".jp-OutputArea-output .lnb")
    views.nth(6).wait_for()
    assert page.get_by_text("CityResponse(city='Paris', country='France')", exact=True).first.is_visible()
    for dark in (False, True):
        opened.set_theme(dark)
        assert titles(opened) == ["Schema", "Schema", "Actions", "Timeline", "Schema", "Actions", "Timeline"]
        assert views.get_by_text("hidden from the model").first.is_visible()
        opened.screenshot(f"first_answer_{'dark' if dark else 'light'}")
        if not dark:
            picture(opened)
    assert page.get_by_text("Traceback").count() == 0
