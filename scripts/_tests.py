"""The project's tests as their source shows them: names, docstrings, record markers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Test:
    """One test function, the ids that its markers claim and the markers' names."""

    __test__ = False

    path: str
    name: str
    fact: str
    records: tuple[str, ...]
    marks: frozenset[str]

    @property
    def link(self) -> str:
        """Return a Markdown link to the file, relative to docs/; its text is what pytest takes on its command line."""
        return f"[{self.path}::{self.name}](../{self.path})"


def fact_of(node: FunctionNode) -> str:
    """Return what a test proves: the first line of its docstring, else its name read as words."""
    doc = ast.get_docstring(node)
    return doc.splitlines()[0].rstrip(".") if doc else node.name.removeprefix("test_").replace("_", " ")


def marks_of(nodes: list[ast.expr]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the record ids and the names of all pytest markers among some decorators."""
    records: list[str] = []
    names: set[str] = set()
    for node in nodes:
        call = node if isinstance(node, ast.Call) else None
        text = ast.unparse(call.func if call else node)
        if "mark." not in text:
            continue
        name = text.rpartition(".")[2]
        names.add(name)
        if name == "record" and call:
            records += [str(ast.literal_eval(argument)) for argument in call.args]
    return tuple(records), frozenset(names)


def module_marks(tree: ast.Module) -> list[ast.expr]:
    """Return the expressions of the module's ``pytestmark``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "pytestmark" for target in node.targets):
            return list(node.value.elts) if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
    return []


def tests_in(path: Path) -> Iterator[Test]:
    """Yield the tests of one file; a class's and the module's markers count for each of its tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    around = module_marks(tree)
    scopes = [(around, tree.body)]
    scopes += [(around + node.decorator_list, node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    for outer, body in scopes:
        for node in body:
            if isinstance(node, FunctionNode) and node.name.startswith("test"):
                records, marks = marks_of(outer + node.decorator_list)
                where = path.relative_to(ROOT).as_posix()
                yield Test(where, node.name, fact_of(node), records, marks)


def all_tests() -> list[Test]:
    """Return every test of the project in order of file and line."""
    paths = sorted({*(ROOT / "tests").rglob("test_*.py")})
    return [test for path in paths for test in tests_in(path)]


def cell(text: str) -> str:
    """Return text that is safe in a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;")
