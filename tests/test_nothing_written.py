"""Nothing is written unasked."""

from __future__ import annotations

import compileall
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.source import PACKAGES, ROOT

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


# Root may write where the modes forbid it, unless these are taken away.
POWERLESS = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


def read_only_copy(tree: Path) -> dict[str, tuple[int, int]]:
    """Copy the repository without what is made in it, forbid writing, and return the size and time of each file."""
    made = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "artifacts", "site", "*.egg-info")
    shutil.copytree(ROOT, tree, ignore=made)
    # as an installation has it: the suite measures imports, and compiling is no part of them
    for package in PACKAGES:
        assert compileall.compile_dir(tree / package, quiet=1)
    for path in [tree, *tree.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    return listing(tree)


def listing(tree: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in tree.rglob("*")}


@pytest.mark.proof
@pytest.mark.timeout(7200)
def test_W5_the_whole_suite_passes_in_a_read_only_directory_without_HOME(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    before = read_only_copy(tree)
    with tempfile.TemporaryDirectory() as scratch:  # not in tmp_path: the path of a socket may have 107 characters
        environment = {"PATH": os.environ["PATH"], "TMPDIR": scratch, "PYTHONPATH": str(tree)}
        refused = subprocess.run([*POWERLESS, "touch", str(tree / "new")], env=environment, capture_output=True)
        assert refused.returncode != 0
        done = subprocess.run(
            [*POWERLESS, sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
        )
    try:
        assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
        assert listing(tree) == before
    finally:
        for path in [tree, *(path for path in tree.rglob("*") if path.is_dir())]:
            path.chmod(0o700)
