"""Tools: functions that a model may ask for, their schemas, and the calls of them."""

from __future__ import annotations

from lionagi.protocols.action.function_calling import FunctionCalling
from lionagi.protocols.action.manager import ActionManager, ToolRef
from lionagi.protocols.action.schema import function_to_schema
from lionagi.protocols.action.tool import Tool

__all__ = ("ActionManager", "FunctionCalling", "Tool", "ToolRef", "function_to_schema")
