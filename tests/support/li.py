"""The command ``li`` in this process and as a child, and what its script saw of it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lionagi.cli.main import main
from lionagi.ln.jsons import json_dumps
from support.source import ROOT

# Runs in the child before anything else: a file appears as soon as the script is opened, which making a model does.
WATCH = """
import os, sys
script, seen = os.environ["LIONAGI_TEST_SCRIPT"], os.environ["LI_SCRIPT_SEEN"]
def watch(event, args):
    if event == "open" and str(args[0]) == script and not os.path.isdir(seen):
        os.mkdir(seen)
sys.addaudithook(watch)
"""


@dataclass(frozen=True)
class Ran:
    """What one run of ``li`` left: its status and what it wrote."""

    status: int
    out: str
    err: str


def li(*argv: str) -> Ran:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main.main(args=list(argv), prog_name="li")
    assert isinstance(ended.value.code, int)
    return Ran(ended.value.code, out.getvalue(), err.getvalue())


class LiProgram:
    """The command as a child process, in front of a scripted model.

    Attributes:
        home: Its LIONAGI_HOME.
        environment: All of its environment; change it before a run.
    """

    def __init__(self, place: Path, *entries: dict[str, Any]) -> None:
        self.place = place
        self.home = place / "home"
        script = place / "script.json"
        script.write_text(json_dumps({"responses": list(entries) or [{"type": "text", "content": "I was asked"}]}))
        (place / "watch").mkdir(exist_ok=True)
        (place / "watch" / "sitecustomize.py").write_text(WATCH)
        self._seen = place / "seen"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "PYTHONPATH": f"{place / 'watch'}{os.pathsep}{ROOT}",
            "LIONAGI_HOME": str(self.home),
            "LIONAGI_CHAT_PROVIDER": "scripted",
            "LIONAGI_CHAT_MODEL": "scripted-test",
            "LIONAGI_TEST_SCRIPT": str(script),
            "LI_SCRIPT_SEEN": str(self._seen),
        }

    @property
    def script_was_read(self) -> bool:
        """Whether any run made a model, which is when the script is read."""
        return self._seen.exists()

    def start(self, *argv: str, **options: Any) -> subprocess.Popen[str]:
        """Start it and return at once."""
        return subprocess.Popen(
            [sys.executable, "-c", "from lionagi.cli.main import main; main(prog_name='li')", *argv],
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                "cwd": self.place,
                "env": self.environment,
                **options,
            },
        )

    def run(self, *argv: str, **options: Any) -> Ran:
        """Run it to its end."""
        child = self.start(*argv, **options)
        out, err = child.communicate(timeout=50)
        return Ran(child.returncode, out or "", err or "")
