"""The packages' source as the architecture tests read it: parsed once, never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ("PACKAGES", "ROOT", "Function", "Module", "docstring_nodes", "modules", "modules_of_tests", "source_lines")

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("lionagi", "lionagi_nb")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Function:
    """One function and how long its body is, signature and docstring aside."""

    module: Module
    name: str
    node: FunctionNode

    @property
    def length(self) -> int:
        """Return the lines from the first statement after the docstring to the last."""
        body = self.node.body[1:] if ast.get_docstring(self.node, clean=False) is not None else self.node.body
        return (self.node.end_lineno or 0) - body[0].lineno + 1 if body else 0

    @property
    def place(self) -> str:
        """Return ``path:line name``."""
        return f"{self.module.where(self.node)} {self.name}"


@dataclass(frozen=True)
class Module:
    """One parsed file."""

    path: Path
    name: str
    text: str
    tree: ast.Module

    @property
    def relative(self) -> str:
        """Return the path from the project's root, with slashes."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def is_package(self) -> bool:
        """Return whether this is an ``__init__``."""
        return self.path.name == "__init__.py"

    @property
    def is_public(self) -> bool:
        """Return whether no part of the dotted name is private."""
        return not any(part.startswith("_") for part in self.name.split("."))

    @property
    def exported(self) -> tuple[str, ...] | None:
        """Return ``__all__`` as written, None where the module has none."""
        for node in self.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            named = any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
            if named and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                return tuple(ast.literal_eval(node.value))
        return None

    def where(self, node: ast.AST) -> str:
        """Return ``path:line`` of a node."""
        return f"{self.relative}:{getattr(node, 'lineno', 1)}"

    def functions(self) -> Iterator[Function]:
        """Yield every function, methods and nested ones included."""
        for node in ast.walk(self.tree):
            if isinstance(node, FunctionNode):
                yield Function(self, node.name, node)

    def imports(self) -> Iterator[tuple[str, ast.stmt]]:
        """Yield each imported dotted name with its statement, wherever it stands; ``from a import b`` is ``a.b``."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self.resolve(node)
                yield from ((f"{base}.{alias.name}", node) for alias in node.names)

    def resolve(self, node: ast.ImportFrom) -> str:
        """Return the absolute name of the module that a from-import names."""
        if node.level == 0:
            return node.module or ""
        parts = self.name.split(".")
        keep = len(parts) - node.level + (1 if self.is_package else 0)
        return ".".join([*parts[:keep], *([node.module] if node.module else [])])


def docstring_nodes(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstring constants of a module, its classes and its functions."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | FunctionNode) or not node.body:
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            yield first.value


def source_lines(module: Module) -> int:
    """Return the number of lines of a module, docstrings aside."""
    doc = sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in docstring_nodes(module.tree))
    return module.text.count("\n") - doc


def read(path: Path, name: str) -> Module:
    """Parse one file."""
    text = path.read_text(encoding="utf-8")
    return Module(path, name, text, ast.parse(text, filename=str(path)))


def dotted(path: Path) -> str:
    """Return the dotted name of a file of the project."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> tuple[Module, ...]:
    """Return every module of the packages, in order of path."""
    return tuple(read(path, dotted(path)) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))


@cache
def modules_of_tests() -> tuple[Module, ...]:
    """Return every file of the tests, support included."""
    return tuple(read(path, dotted(path)) for path in sorted((ROOT / "tests").rglob("*.py")))
