"""Pydantic bases and field templates."""

from __future__ import annotations

from .field_model import FieldModel
from .hashable_model import HashableModel

__all__ = ("FieldModel", "HashableModel")
