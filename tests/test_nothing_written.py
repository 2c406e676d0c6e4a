"""Nothing is written unasked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.source import ROOT

CODE = """
import lionagi, lionagi_nb
from lionagi.session.session import Session
for name in set(lionagi.__all__) | {"__version__"}:
    getattr(lionagi, name)
lionagi.Branch(); Session(); lionagi.iModel("local"); lionagi.iModel("openai/some-model", api_key="k")
"""


@pytest.mark.record("DEC-19-1")
def test_W5_importing_constructing_and_exiting_leaves_no_file(tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("HOME", "TMPDIR", "cwd")}
    for place in places.values():
        place.mkdir()
    environment = {name: str(place) for name, place in places.items()} | {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-B", "-c", CODE],
        cwd=places["cwd"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path not in places.values()] == []
