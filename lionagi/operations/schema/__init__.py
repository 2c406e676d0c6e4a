"""Output formats: how they are asked for, read, and sent to a provider."""

from __future__ import annotations

from lionagi.operations.schema.json_structure import JsonStructure
from lionagi.operations.schema.structure import Structure

__all__ = ("JsonStructure", "Structure")
