"""The verbs of a branch: chat, communicate, run, parse, act, operate and interpret.

``operations.interpret`` is loaded at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.operations import interpret

__all__ = ("interpret",)

__getattr__, __dir__ = lazy_names(__name__, modules=__all__)
