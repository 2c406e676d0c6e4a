"""Branch, the facade over the verbs; sessions of several branches; context providers.

Names other than Branch's own are loaded at first use, so that a branch costs no more than it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lionagi.session.context import ContextProvider, ContextProviderRegistry, ProviderReport

__all__ = ("ContextProvider", "ContextProviderRegistry", "ProviderReport")


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"{__name__}.context"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
