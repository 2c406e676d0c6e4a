"""Nodes; graphs are not part of this package."""

from __future__ import annotations

from lionagi.protocols.graph.node import Node

__all__ = ("Node",)
