"""Branch, the facade over the verbs; sessions of several branches; context providers.

Names other than Branch's own are loaded at first use, so that a branch costs no more than it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.session.context import ContextProvider, ContextProviderRegistry, ProviderReport

__all__ = ("ContextProvider", "ContextProviderRegistry", "ProviderReport")

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, ".context"))
