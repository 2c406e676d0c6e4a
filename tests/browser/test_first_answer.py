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
PICTURE = {"x": 40, "y": 430, "width": 1210, "height": 2060}


def place(lab: Lab) -> Path:
    """Put the notebook into the Lab without its outputs, answering from its recording."""
    notebook = nbformat.read(NOTEBOOKS / NAME, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    setting = f"import os\nos.environ['LIONAGI_REPLAY'] = {str(recording_of(NOTEBOOKS / NAME))!r}"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(setting))
    path = lab.notebooks / NAME
    nbformat.write(notebook, path)
    return path


def test_the_first_notebook_shows_its_answer_and_its_views_in_light_and_dark(
    lab: Lab, open_notebook: Callable[..., LabPage]
) -> None:
    opened = open_notebook(place(lab), 1280, 3300)
    opened.run_all()
    page = opened.page
    views = page.locator(".jp-OutputArea-output .lnb")
    views.nth(6).wait_for()
    assert page.get_by_text("CityResponse(city='Paris', country='France')", exact=True).first.is_visible()
    for dark in (False, True):
        opened.set_theme(dark)
        titles = [views.nth(number).locator(".l-ti") for number in range(views.count())]
        assert all(title.is_visible() for title in titles)
        assert [title.inner_text().split()[0] for title in titles] == [
            "Schema", "Schema", "Actions", "Timeline", "Schema", "Actions", "Timeline"
        ]  # fmt: skip
        assert views.get_by_text("hidden from the model").first.is_visible()
        opened.screenshot(f"first_answer_{'dark' if dark else 'light'}")
        if not dark:
            page.screenshot(path=ARTIFACTS / "first_answer_picture.png", clip=PICTURE)  # pyright: ignore[reportArgumentType]
    assert page.get_by_text("Traceback").count() == 0
