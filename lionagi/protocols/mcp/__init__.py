"""Tools of MCP servers, through the official SDK (packages ``mcp`` and ``jsonschema``, extra ``mcp``).

Names are loaded at first use, so that a branch without such tools costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.protocols.mcp.loading import close_mcp_servers, load_mcp_tools, read_mcp_config
    from lionagi.protocols.mcp.server import McpServer
    from lionagi.protocols.mcp.tool import McpTool

_HOMES = {
    "McpServer": ".server",
    "McpTool": ".tool",
    "close_mcp_servers": ".loading",
    "load_mcp_tools": ".loading",
    "read_mcp_config": ".loading",
}

__all__ = ("McpServer", "McpTool", "close_mcp_servers", "load_mcp_tools", "read_mcp_config")

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
