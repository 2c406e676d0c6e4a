"""What must not stand anywhere: machine paths, left-over notes, banners, untyped ignores, tests that assert nothing."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from support.source import ROOT, FunctionNode, Module, modules, modules_of_tests

TEXT_ENDINGS = {
    "",
    ".py",
    ".md",
    ".toml",
    ".txt",
    ".yml",
    ".yaml",
    ".json",
    ".ipynb",
    ".cfg",
    ".html",
    ".css",
    ".js",
    ".jinja",
    ".tsv",
}
# Written apart, so that this file does not hold what it looks for.
FORBIDDEN = {
    "a path of one machine": re.compile(
        "|".join((r"(?<!\w)/wo" + "rk/", "/ho" + r"me/\w", "/ro" + "ot/", "/Use" + r"rs/\w", "/tmp/des" + "ign"))
    ),
    "a folder outside the repository": re.compile(r"\.\./sha" + r"red|\bsha" + r"red/(design|spec|tools|bench)"),
    "a left-over note": re.compile(r"#.*\b(TO" + "DO|FIX" + "ME|XX" + "X|HA" + r"CK)\b"),
    "a banner": re.compile(r"^\s*#\s*[-=#*~]{4,}", re.MULTILINE),
    "an ignore without its code": re.compile(r"#\s*(type: ign" + r"ore|pyright: ign" + r"ore(?!\[)|no" + r"qa(?!:))"),
    "a test put aside": re.compile("pytest" + r"\.mark\.(xfail|skip)\b"),
}
ASSERTS = re.compile(r"\bassert\b|raises|warns|\.fail\(|check|verify|expect|assert_|\bsnapshot\(")


def files() -> list[Path]:
    """Return the text files of the repository, tracked or about to be."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    found = [ROOT / name for name in listed] or [module.path for module in (*modules(), *modules_of_tests())]
    return [path for path in found if path.suffix in TEXT_ENDINGS and path.is_file() and path.name != "LICENSE"]


@pytest.mark.parametrize("what", sorted(FORBIDDEN))
def test_no_file_holds(what: str) -> None:
    only_python = what not in {"a path of one machine", "a folder outside the repository"}
    found = []
    for path in files():
        if only_python and path.suffix != ".py":
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in FORBIDDEN[what].finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line} {match.group().strip()!r}")
    assert not found, f"{what}: {found}"


@pytest.mark.parametrize(
    "module", [m for m in modules_of_tests() if m.path.name.startswith("test_")], ids=lambda m: m.relative
)
def test_every_test_asserts_something(module: Module) -> None:
    silent = [
        f"{module.where(node)} {node.name}"
        for node in ast.walk(module.tree)
        if isinstance(node, FunctionNode) and node.name.startswith("test_")
        if not ASSERTS.search("\n".join(map(ast.unparse, node.body)))
    ]
    assert not silent


def test_tests_mirror_the_tree() -> None:
    special = {
        "architecture",
        "browser",
        "kernels",
        "live",
        "proof",
        "support",
        "pipeline",
        "notebooks",
        "nb",
        "docs",
        "scripts",
        "data",
    }
    known = {path.name for path in (ROOT / "lionagi").iterdir() if path.is_dir()} | {"lionagi_nb"} | special
    stray = [
        p.name
        for p in (ROOT / "tests").iterdir()
        if p.is_dir() and p.name not in known and not p.name.startswith((".", "_"))
    ]
    assert not stray
