"""The first notebook on the real local model: the same shapes as in the stored one, whatever the model says."""

from __future__ import annotations

import os
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from support.kernels import NOTEBOOKS

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]


def shape(output: Any) -> tuple[str, str]:
    """Return the kind of an output and the first word of its text: a view's or a class's name."""
    text = output.get("data", {}).get("text/plain", "")
    return output.output_type, text.split("(")[0].split(" ")[0]


def shapes(notebook: Any) -> list[list[tuple[str, str]]]:
    """Return the shapes of each code cell's outputs."""
    return [[shape(one) for one in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def test_the_first_notebook_runs_on_the_real_model_with_the_stored_shapes() -> None:
    stored = nbformat.read(NOTEBOOKS / "01_first_answer.ipynb", as_version=4)
    live = nbformat.read(NOTEBOOKS / "01_first_answer.ipynb", as_version=4)
    surroundings = {name: value for name, value in os.environ.items() if name != "LIONAGI_REPLAY"}
    NotebookClient(live, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}}).execute(
        env=surroundings
    )
    assert shapes(live) == shapes(stored)
    texts = [one["data"]["text/plain"] for cell in live.cells if cell.cell_type == "code" for one in cell.outputs]
    assert texts[-1].startswith("Timeline first answer: ✓ ok")
    assert not any("✗" in text for text in texts)
