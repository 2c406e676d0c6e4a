"""Endpoints and how they are reached. Import from the modules; :mod:`lionagi.service` re-exports the public names.

``connections.http`` loads at first use: a branch that has not called a model does without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lionagi.service.connections import http

__all__ = ("http",)


def __getattr__(name: str) -> Any:
    if name == "http":
        return import_module(f"{__name__}.http")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
