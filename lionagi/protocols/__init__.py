"""Identified values, messages, and tools: what the verbs work with.

``protocols.mcp`` is loaded at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.protocols import mcp

__all__ = ("mcp",)

__getattr__, __dir__ = lazy_names(__name__, modules=__all__)
