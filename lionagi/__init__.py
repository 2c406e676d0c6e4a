"""Composed language-model calls with typed answers and governed tools.

Names are loaded at their first use, so that ``import lionagi`` costs next to nothing::

    from lionagi import Branch

    branch = Branch(chat_model="local")
    city = await branch.operate(instruction="The capital of France?", response_format=City)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names
from lionagi.version import __version__

if TYPE_CHECKING:
    from pydantic import BaseModel, Field

    from lionagi import ln
    from lionagi.ln import types
    from lionagi.ln.calls import alcall, lcall
    from lionagi.ln.dicts import to_dict
    from lionagi.ln.jsons import json_dumps
    from lionagi.ln.lists import to_list
    from lionagi.ln.trace import trace
    from lionagi.ln.types import DataClass, Operable, Params, Spec, Undefined, Unset
    from lionagi.models import FieldModel
    from lionagi.protocols.generic.element import Element
    from lionagi.protocols.generic.event import Event
    from lionagi.protocols.generic.pile import Pile
    from lionagi.protocols.generic.progression import Progression
    from lionagi.protocols.graph.node import Node
    from lionagi.protocols.mcp import load_mcp_tools
    from lionagi.service.imodel import iModel
    from lionagi.session.branch import Branch
    from lionagi.session.context import ContextProvider, ContextProviderRegistry, ProviderReport
    from lionagi.session.session import Session

__all__ = (
    "BaseModel",
    "Branch",
    "ContextProvider",
    "ContextProviderRegistry",
    "DataClass",
    "Element",
    "Event",
    "Field",
    "FieldModel",
    "Node",
    "Operable",
    "Params",
    "Pile",
    "Progression",
    "ProviderReport",
    "Session",
    "Spec",
    "Undefined",
    "Unset",
    "__version__",
    "alcall",
    "iModel",
    "json_dumps",
    "lcall",
    "ln",
    "load_mcp_tools",
    "to_dict",
    "to_list",
    "trace",
    "types",
)

_MODULES = {
    "BaseModel": "pydantic",
    "Branch": "lionagi.session.branch",
    "ContextProvider": "lionagi.session",
    "ContextProviderRegistry": "lionagi.session",
    "DataClass": "lionagi.ln.types",
    "Element": "lionagi.protocols.generic.element",
    "Event": "lionagi.protocols.generic.event",
    "Field": "pydantic",
    "FieldModel": "lionagi.models",
    "Node": "lionagi.protocols.graph.node",
    "Operable": "lionagi.ln.types",
    "Params": "lionagi.ln.types",
    "Pile": "lionagi.protocols.generic.pile",
    "Progression": "lionagi.protocols.generic.progression",
    "ProviderReport": "lionagi.session",
    "Session": "lionagi.session.session",
    "Spec": "lionagi.ln.types",
    "Undefined": "lionagi.ln.types",
    "Unset": "lionagi.ln.types",
    "alcall": "lionagi.ln.calls",
    "iModel": "lionagi.service.imodel",
    "json_dumps": "lionagi.ln.jsons",
    "lcall": "lionagi.ln.calls",
    "load_mcp_tools": "lionagi.protocols.mcp",
    "to_dict": "lionagi.ln.dicts",
    "to_list": "lionagi.ln.lists",
    "trace": "lionagi.ln.trace",
    "types": "lionagi.ln",
}

__getattr__, __dir__ = lazy_names(__name__, _MODULES, modules=("ln",))
