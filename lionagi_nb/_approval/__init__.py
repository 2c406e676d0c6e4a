"""Asking the person at the notebook before a tool runs. The widget is loaded by the first question."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .widget import question

__all__ = ("question",)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".widget", __name__), name)
