"""The public surface: exported names exist, are documented, are unique, and change only on purpose."""

from __future__ import annotations

import ast
import importlib
import pickle
import re
from collections import defaultdict
from pathlib import Path

import pytest
from support.public_api import PUBLIC_API, describe
from support.source import FunctionNode, Module, modules

from lionagi import _errors

WITH_NAMES = [module for module in modules() if module.exported]
ERROR_CLASSES = sorted(
    {value for value in vars(_errors).values() if isinstance(value, type) and issubclass(value, _errors.LionError)},
    key=lambda cls: cls.__name__,
)


def public_definitions(module: Module) -> list[str]:
    """Return the names of public classes and functions at the top of a module."""
    found = [node.name for node in module.tree.body if isinstance(node, ast.ClassDef | FunctionNode)]
    return [name for name in found if not name.startswith("_")]


def words(text: str) -> set[str]:
    """Return the lower-case words of a name or a sentence, ``CamelCase`` and ``snake_case`` taken apart."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text.replace("_", " "))
    return {word.rstrip("s") for word in re.findall(r"[a-z0-9]+", spaced.lower())}


def test_every_public_module_says_what_it_exports() -> None:
    silent = [m.relative for m in modules() if m.is_public and public_definitions(m) and m.exported is None]
    assert not silent, f"without __all__: {silent}"


def test_every_public_definition_is_exported() -> None:
    hidden = {
        module.relative: missing
        for module in modules()
        if module.is_public and module.exported is not None
        if (missing := [name for name in public_definitions(module) if name not in module.exported])
    }
    assert not hidden, f"not in __all__: {hidden}"


@pytest.mark.parametrize("module", WITH_NAMES, ids=lambda module: module.name)
def test_every_exported_name_can_be_imported_once(module: Module) -> None:
    exported = module.exported or ()
    loaded = importlib.import_module(module.name)
    assert [name for name in exported if not hasattr(loaded, name)] == []
    assert len(set(exported)) == len(exported)


def test_public_class_names_are_defined_once() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module.where(node))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_docstrings_say_more_than_the_name() -> None:
    empty = []
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef | FunctionNode) and not node.name.startswith("_"):
                doc = ast.get_docstring(node)
                if doc is not None and not words(doc) - words(node.name) - {"the", "a", "an", "of", "return", ""}:
                    empty.append(f"{module.where(node)} {node.name}: {doc!r}")
    assert not empty


def test_the_public_surface_is_the_recorded_one() -> None:
    recorded = PUBLIC_API.read_text(encoding="utf-8") if PUBLIC_API.exists() else ""
    assert describe() == recorded, "the public surface changed: look at the difference, then run `make api`"


@pytest.mark.parametrize("cls", ERROR_CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_survives_pickling(cls: type[_errors.LionError]) -> None:
    cause = KeyError("k")
    error = cls("what failed", details={"a": 1}, cause=cause)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert (str(copy), copy.details, copy.status_code) == (str(error), {"a": 1}, error.status_code)
    assert repr(copy.__cause__) == repr(cause)


SIGNALS = {
    "lionagi/hooks/bus.py StopHook",  # a handler's way to say "the rest may be skipped"; the bus catches it
    "lionagi/ln/_json_repair.py _OverBudget",  # leaves the repair library, and becomes a ParseError at once
}
"""Exceptions that tell of no error and reach no caller."""


def test_errors_are_defined_in_one_module() -> None:
    stray = {
        f"{module.relative} {node.name}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and module.relative != "lionagi/_errors.py"
        if any(re.search(r"(Error|Exception|Interrupt|Exit|Timeout)$", ast.unparse(base)) for base in node.bases)
    }
    assert stray == SIGNALS


def test_the_recorded_surface_lies_beside_this_test() -> None:
    assert PUBLIC_API.parent == Path(__file__).parent
