"""Endpoints and how they are reached. Import from the modules; :mod:`lionagi.service` re-exports the public names.

``connections.http`` and ``connections.failures`` load at first use: a branch that has not called a model does without
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.service.connections import failures, http

__all__ = ("failures", "http")

__getattr__, __dir__ = lazy_names(__name__, modules=__all__)
