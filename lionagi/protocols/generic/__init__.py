"""Elements, and the collections, orders, events and logs made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names
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

__getattr__, __dir__ = lazy_names(
    __name__, dict.fromkeys(("DataLogger", "DataLoggerConfig"), ".data_logger")
)  # a Branch does without
