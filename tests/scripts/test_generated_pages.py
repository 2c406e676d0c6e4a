"""The pages that scripts write from the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.source import ROOT

TEST_FILE = '''
import pytest

pytestmark = pytest.mark.record("0001-D1-01")


@pytest.mark.record("0001-D1-02", "DEC-01-1")
def test_P1_faults_are_tried_again():
    """A fault is tried again.

    More words.
    """


@pytest.mark.record("DEC-01-2")
class TestGroup:
    @pytest.mark.proof
    async def test_P2_a_wait_is_obeyed(self):
        assert True
'''


def load(name: str) -> ModuleType:
    """Return a script of the project as a module."""
    import importlib

    return importlib.import_module(name)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list:
    """Return the tests that the scripts see in TEST_FILE."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    reader = load("_tests")
    path = tmp_path / "tests" / "test_x.py"
    path.parent.mkdir()
    path.write_text(TEST_FILE, encoding="utf-8")
    monkeypatch.setattr(reader, "ROOT", tmp_path)
    return reader.all_tests()


def test_markers_of_module_class_and_function_add_up(found: list) -> None:
    assert [test.records for test in found] == [
        ("0001-D1-01", "0001-D1-02", "DEC-01-1"),
        ("0001-D1-01", "DEC-01-2"),
    ]


def test_a_fact_is_the_docstring_else_the_name(found: list) -> None:
    assert [test.fact for test in found] == ["A fault is tried again", "P2 a wait is obeyed"]


def test_conformance_lists_each_id_with_its_tests(found: list) -> None:
    page = load("conformance").render(found)
    assert "3 of" not in page
    assert "4 statements are claimed." in page
    assert "| DEC-01-1 | A fault is tried again | [tests/test_x.py::test_P1" in page


def test_promises_tell_small_full_and_missing_apart(found: list) -> None:
    groups = [{"title": "T", "P1": ["a", "b"], "P2": ["c", "d"], "P3": ["e", "f"]}]
    results = {"P2": {"outcome": "held", "date": "2026-01-02", "revision": "abc"}}
    rows = {
        line[2:4]: line for line in load("promises").render(groups, found, results).splitlines() if line[:3] == "| P"
    }
    assert "test_P1_faults" in rows["P1"]
    assert "full figure held on 2026-01-02 at abc" in rows["P2"]
    assert rows["P3"].endswith("| not yet |")


def test_make_help_lists_the_two_commands() -> None:
    done = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True)
    assert {"make lab", "make test"} <= {" ".join(line.split()[:2]) for line in done.stdout.splitlines()}


def test_ran_counts_what_a_run_did(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(
        '<testsuites><testsuite tests="5" failures="1" errors="0" skipped="2" time="3.2"/></testsuites>',
        encoding="utf-8",
    )
    command = [sys.executable, str(ROOT / "scripts" / "ran.py"), str(tmp_path / "a.xml"), str(tmp_path / "none.xml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "make test: 3 tests ran in 3 s, 1 failed."
