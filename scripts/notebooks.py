"""Execute the notebooks anew from their recordings and store them (``make notebooks``).

Nothing changes when nothing changed: outputs whose text is the same, and whose markup differs in numbers only, are kept
as they stand in the file, and what varies from run to run (times, the kernel's version) is not stored.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.kernels import NOTEBOOKS, replay_environment

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def essence(outputs: list[Any]) -> list[Any]:
    """Return the outputs as they count for a comparison: markup without its digits, no metadata."""
    found = []
    for output in outputs:
        data = dict(output.get("data", {}))
        if "text/html" in data:
            data["text/html"] = re.sub(r"\d+", "0", data["text/html"])
        found.append((output["output_type"], output.get("text"), output.get("ename"), data))
    return found


def tidy(notebook: Any, stored: list[Any]) -> None:
    """Make the executed notebook the same as the stored one wherever nothing changed."""
    notebook.metadata.clear()
    notebook.metadata.update(METADATA)
    for number, (cell, old) in enumerate(zip(notebook.cells, stored, strict=True)):
        cell.metadata.pop("execution", None)
        cell["id"] = old.get("id") or f"cell-{number}"
        if cell.cell_type == "code" and essence(cell.outputs) == essence(old.outputs):
            cell.outputs = old.outputs


def run(path: Path) -> bool:
    """Execute one notebook and store it; return whether the file changed."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    client = NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}}
    )
    client.execute(env={**os.environ, **replay_environment(path)})
    tidy(notebook, nbformat.reads(before, as_version=4).cells)
    after = nbformat.writes(notebook) + "\n"
    if after != before:
        path.write_text(after, encoding="utf-8")
    return after != before


if __name__ == "__main__":
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        print(f"{file.name}: {'changed' if run(file) else 'unchanged'}")
