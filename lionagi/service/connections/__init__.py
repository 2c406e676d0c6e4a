"""Endpoints and how they are reached. Import from the modules; :mod:`lionagi.service` re-exports the public names.

``connections.http`` and ``connections.failures`` load at first use: a branch that has not called a model does without
them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lionagi.service.connections import failures, http

__all__ = ("failures", "http")


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
