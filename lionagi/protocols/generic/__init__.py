"""Elements, and the collections, orders, events and logs made of them."""

from __future__ import annotations

from lionagi.protocols.generic.element import ID, Element
from lionagi.protocols.generic.event import Event, EventStatus, Execution
from lionagi.protocols.generic.log import DataLogger, DataLoggerConfig, Log
from lionagi.protocols.generic.pile import Pile
from lionagi.protocols.generic.progression import Progression

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
