"""Sentinels, parameter objects and field descriptions."""

from __future__ import annotations

from .enums import Enum
from .operable import Operable
from .params import DataClass, ModelConfig, Params
from .sentinels import Undefined, UndefinedType, Unset, UnsetType, is_sentinel, not_sentinel
from .spec import Meta, Spec

__all__ = (
    "DataClass",
    "Enum",
    "Meta",
    "ModelConfig",
    "Operable",
    "Params",
    "Spec",
    "Undefined",
    "UndefinedType",
    "Unset",
    "UnsetType",
    "is_sentinel",
    "not_sentinel",
)
