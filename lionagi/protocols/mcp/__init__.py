"""Tools of MCP servers, through the official SDK (packages ``mcp`` and ``jsonschema``, extra ``mcp``).

Names are loaded at first use, so that a branch without such tools costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lionagi.protocols.mcp.loading import close_mcp_servers, load_mcp_tools, read_mcp_config
    from lionagi.protocols.mcp.server import McpServer
    from lionagi.protocols.mcp.tool import McpTool

_HOMES = {
    "McpServer": "server",
    "McpTool": "tool",
    "close_mcp_servers": "loading",
    "load_mcp_tools": "loading",
    "read_mcp_config": "loading",
}

__all__ = ("McpServer", "McpTool", "close_mcp_servers", "load_mcp_tools", "read_mcp_config")


def __getattr__(name: str) -> Any:
    if (home := _HOMES.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
