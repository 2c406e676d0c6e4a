"""Names that a package loads at their first use (PEP 562), so that importing it stays cheap."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any

__all__ = ("lazy_names",)


def lazy_names(
    package: str, homes: Mapping[str, str] | None = None, *, modules: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package: ``__getattr__, __dir__ = lazy_names(__name__, {…})``.

    Args:
        package: The package's ``__name__``.
        homes: The module of each name; with a leading dot it lies in the package.
        modules: Modules of the package that are names themselves.
    """
    found = {**dict.fromkeys(modules), **(homes or {})}

    def get(name: str) -> Any:
        if name not in found:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = found[name]
        value = import_module(f".{name}", package) if home is None else getattr(import_module(home, package), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *found})

    return get, names
