"""Asking the person at the notebook before a tool runs. The widget is loaded by the first question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from .widget import question

__all__ = ("question",)

__getattr__, __dir__ = lazy_names(__name__, {"question": ".widget"})
