"""Execute the notebooks anew from their recordings and store them (``make notebooks``).

``notebooks.py --record NAME`` first asks the real model and keeps its answers as the notebook's recording.

Nothing changes when nothing changed: outputs whose text is the same, and whose markup differs in times only, are kept
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

from support.kernels import NOTEBOOKS, recording_of, replay_environment

# Times, and the bars and axes drawn from them: they differ from run to run.
MEASURED = re.compile(r' style="[^"]*"|<i\b[^>]*>[^<]*</i>|(&lt;)?\d[\d.,]*(\u00a0|&nbsp;| )?(ms|s|min)?\b')
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
            data["text/html"] = MEASURED.sub("", data["text/html"])
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


BEGIN = """from lionagi.testing import record as _record
_recorder = _record({path!r})
_recorder.__enter__()"""
END = "_recorder.__exit__(None, None, None)"


def record(path: Path) -> None:
    """Run the notebook on the models that it names and write what they answered into its recording."""
    notebook = nbformat.read(path, as_version=4)
    kept = recording_of(path)
    kept.parent.mkdir(exist_ok=True)
    begin = nbformat.v4.new_code_cell(BEGIN.format(path=str(kept)))
    notebook.cells = [begin, *notebook.cells, nbformat.v4.new_code_cell(END)]
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}}
    )
    surroundings = {name: value for name, value in os.environ.items() if name != "LIONAGI_REPLAY"}
    client.execute(env={**surroundings, "LIONAGI_NB_STATIC": "1"})
    print(f"{path.name}: recorded into {kept.relative_to(NOTEBOOKS)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        for name in sys.argv[2:]:
            record(NOTEBOOKS / f"{Path(name).stem}.ipynb")
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        print(f"{file.name}: {'changed' if run(file) else 'unchanged'}")
