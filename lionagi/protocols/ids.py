"""Ids under their usual import path."""

from __future__ import annotations

from lionagi.protocols.generic.element import ID

__all__ = ("ID",)
