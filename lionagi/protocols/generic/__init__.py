"""Elements, and the collections, orders, events and logs made of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lionagi.protocols.generic.element import ID, Element
from lionagi.protocols.generic.event import Event, EventStatus, Execution
from lionagi.protocols.generic.log import Log
from lionagi.protocols.generic.pile import Pile
from lionagi.protocols.generic.progression import Progression

if TYPE_CHECKING:
    from lionagi.protocols.generic.data_logger import DataLogger, DataLoggerConfig

__all__ = (
    "ID",
    "DataLogger",
    "DataLoggerConfig",
    "Element",
    "Event",
    "EventStatus",
    "Execution",
    "Log",
    "Pile",
    "Progression",
)


def __getattr__(name: str) -> Any:
    if name in ("DataLogger", "DataLoggerConfig"):  # a Branch does without them
        return getattr(import_module(f"{__name__}.data_logger"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
