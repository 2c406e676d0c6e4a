"""The verbs of a branch: chat, communicate, run, parse, act, operate and interpret.

``operations.interpret`` is loaded at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lionagi.operations import interpret

__all__ = ("interpret",)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
