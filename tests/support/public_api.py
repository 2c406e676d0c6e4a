"""A text of the whole public surface, read from the source, so that it is the same on every Python version."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support.source import ROOT, FunctionNode, Module, modules

__all__ = ("PUBLIC_API", "describe")

PUBLIC_API = ROOT / "tests" / "architecture" / "public_api.txt"


def signature(node: FunctionNode) -> str:
    """Return ``def name(arguments) -> result`` on one line."""
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{start} {node.name}({ast.unparse(node.args)}){result}"


def members(node: ast.ClassDef) -> Iterator[str]:
    """Yield the public fields and methods that a class itself declares."""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_"):
            default = f" = {ast.unparse(item.value)}" if item.value is not None else ""
            yield f"{item.target.id}: {ast.unparse(item.annotation)}{default}"
        elif (
            isinstance(item, ast.Assign)
            and isinstance(item.targets[0], ast.Name)
            and not item.targets[0].id.startswith("_")
        ):
            yield ast.unparse(item)
        elif isinstance(item, FunctionNode) and (not item.name.startswith("_") or item.name == "__init__"):
            marks = [f"@{ast.unparse(mark)} " for mark in item.decorator_list]
            yield "".join(marks) + signature(item)


def definitions(module: Module) -> dict[str, list[str]]:
    """Return the lines that describe each name bound at the top of a module."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            base = module.resolve(node)
            found.update({a.asname or a.name: [f"{a.asname or a.name} = {base}.{a.name}"] for a in node.names})
    for node in module.tree.body:
        if isinstance(node, FunctionNode):
            found[node.name] = [signature(node)]
        elif isinstance(node, ast.ClassDef):
            bases = ", ".join(map(ast.unparse, node.bases))
            found[node.name] = [f"class {node.name}({bases})", *(f"    {line}" for line in members(node))]
    return found


def describe() -> str:
    """Return one block for each public module: its dotted name, then its exported names in order."""
    blocks = []
    for module in modules():
        if module.is_public and module.exported:
            known = definitions(module)
            lines = [f"    {line}" for name in sorted(module.exported) for line in known.get(name, [name])]
            blocks.append("\n".join([module.name, *lines]))
    return "\n\n".join(blocks) + "\n"
