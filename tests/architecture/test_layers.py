"""Imports point downwards: a module imports from its own group or from lower layers, never sideways or up."""

from __future__ import annotations

import graphlib
from functools import cache

import grimp
import pytest
from support.source import PACKAGES, modules

# The longest prefix of a module's name decides. Equal layers with different groups may not import each other.
LAYERS: dict[str, tuple[int, str]] = {
    "lionagi_nb": (10, "notebook"),
    "lionagi": (9, "names"),
    "lionagi.types": (9, "names"),
    "lionagi.utils": (9, "names"),
    "lionagi.cli": (8, "cli"),
    "lionagi.testing": (7, "testing"),
    "lionagi.session": (6, "session"),
    "lionagi.hooks": (6, "session"),
    "lionagi.operations": (5, "operations"),
    "lionagi.providers": (4, "providers"),
    "lionagi.testing._endpoint": (4, "testing leaf"),
    "lionagi.testing._env": (4, "testing leaf"),
    "lionagi.testing._explain": (4, "testing leaf"),
    "lionagi.testing._fingerprint": (4, "testing leaf"),
    "lionagi.testing._matching": (4, "testing leaf"),
    "lionagi.testing._recording": (4, "testing leaf"),
    "lionagi.testing._replay": (4, "testing leaf"),
    "lionagi.testing._responses": (4, "testing leaf"),
    "lionagi.testing._script": (4, "testing leaf"),
    "lionagi.testing._types": (4, "testing leaf"),
    "lionagi.service": (3, "service"),
    "lionagi.work": (3, "work"),
    "lionagi.protocols": (2, "protocols"),
    "lionagi.ln": (1, "ground"),
    "lionagi.models": (1, "ground"),
    "lionagi._errors": (0, "bottom"),
    "lionagi._lazy": (0, "bottom"),
    "lionagi.version": (0, "bottom"),
}


@cache
def graph() -> grimp.ImportGraph:
    """Return the import graph, in-function imports counted and imports for typing only left out."""
    return grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)


def entry(module: str) -> str:
    """Return the row of the table that a module belongs to."""
    parts = module.split(".")
    return next(name for end in range(len(parts), 0, -1) if (name := ".".join(parts[:end])) in LAYERS)


def edges() -> list[tuple[str, str]]:
    """Return every (importer, imported) pair within the packages."""
    return [
        (name, other)
        for name in sorted(graph().modules)
        for other in sorted(graph().find_modules_directly_imported_by(name))
    ]


def test_every_module_has_a_layer() -> None:
    stray = [m.relative for m in modules() if entry(m.name) == "lionagi" and m.name != "lionagi"]
    assert not stray, f"give these a row in the layer table: {stray}"


@pytest.mark.parametrize("layer", sorted({number for number, _ in LAYERS.values()}, reverse=True))
def test_imports_point_to_lower_layers(layer: int) -> None:
    wrong = []
    for importer, imported in edges():
        (high, group), (low, other) = LAYERS[entry(importer)], LAYERS[entry(imported)]
        if high == layer and group != other and low >= high:
            wrong.append(f"{importer} ({high} {group}) -> {imported} ({low} {other})")
    assert not wrong, "\n".join(wrong)


def test_no_import_cycles() -> None:
    sorter = graphlib.TopologicalSorter(
        {name: graph().find_modules_directly_imported_by(name) for name in graph().modules}
    )
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        pytest.fail("import cycle: " + " -> ".join(error.args[1]))


def test_the_graph_holds_every_module() -> None:
    unseen = sorted({module.name for module in modules()} - set(graph().modules))
    assert not unseen, f"their directory has no __init__.py: {unseen}"
