"""ActionManager: the tools of one branch by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, cast

from pydantic import BaseModel

from lionagi import protocols
from lionagi._errors import ConfigurationError, OperationError, short_repr
from lionagi.protocols.action.function_calling import FunctionCalling
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.messages.action_request import ActionRequest

__all__ = ("ActionManager", "ToolRef")

ToolRef: TypeAlias = "Tool | Callable[..., Any] | str | dict[str, Any]"


class ActionManager:
    """A registry of tools.

    Args:
        tools: Tools and functions to register; None is skipped.
        named: The same by keyword; the keyword itself means nothing.
    """

    def __init__(self, *tools: Any, **named: Any) -> None:
        self.registry: dict[str, Tool] = {}
        for tool in (*tools, *named.values()):
            if tool is not None:
                self.register_tools(tool, update=True)

    def __contains__(self, tool: object) -> bool:
        name = _name_of(tool)
        return name is not None and name in self.registry

    def register_tool(self, tool: Any, update: bool = False) -> Tool:
        """Register a Tool or a function and return the Tool.

        Args:
            tool: What to register.
            update: Whether a tool of the same name may be replaced.
        """
        if isinstance(tool, dict):
            raise ConfigurationError(
                "A mapping is no tool. The tools of an MCP server are registered with "
                "`await manager.register_mcp_server({name: {'command': ...}})`."
            )
        if not isinstance(tool, Tool):
            if not callable(tool):
                raise TypeError(f"Must provide a `Tool` object or a function, not {short_repr(tool)}")
            tool = Tool(func_callable=tool)
        if not update and tool.function in self.registry:
            raise ConfigurationError(f"Tool {tool.function} is already registered. Pass update=True to replace it.")
        self.registry[tool.function] = tool
        return tool

    def register_tools(self, tools: Any, update: bool = False) -> None:
        """Register one tool, or each of a list."""
        for tool in cast("list[Any]", tools) if isinstance(tools, (list, tuple)) else [tools]:
            self.register_tool(tool, update=update)

    # -- tools of MCP servers

    async def register_mcp_server(
        self,
        server: Mapping[str, Any],
        *,
        tools: Sequence[str] | None = None,
        prefix: bool = False,
        update: bool = False,
        timeout: float | None = None,
        start_timeout: float = 30.0,
    ) -> list[str]:
        """Start an MCP server, register its tools and return their names.

        Args:
            server: ``{name: {"command": ..., "args": [...], "env": {...}, "cwd": ...}}``.
            tools: The server's names of the tools to take; all when omitted.
            prefix: Put the server's name before the names of its tools.
            update: Whether tools of the same name may be replaced.
            timeout: Seconds that one call may take.
            start_timeout: Seconds until the server has to have answered.

        Raises:
            MissingExtraError: The packages are not installed.
            ConfigurationError: The configuration cannot work, or a name is taken; nothing is registered.
            ExecutionError: The server did not start.
            TimeoutError: It did not answer in time.
        """
        registered = await self.load_mcp_config(
            server, tools=tools, prefix=prefix, update=update, timeout=timeout, start_timeout=start_timeout
        )
        return [name for names in registered.values() for name in names]

    async def load_mcp_config(
        self,
        config: Mapping[str, Any] | str | PathLike[str],
        *,
        servers: Sequence[str] | None = None,
        update: bool = False,
        **options: Any,
    ) -> dict[str, list[str]]:
        """Start the MCP servers of a configuration and return the registered tools' names by server.

        Args:
            config: The path of a JSON file, or a mapping; see :func:`~lionagi.protocols.mcp.loading.read_mcp_config`.
            servers: Names of the servers to start; all when omitted.
            update: Whether tools of the same name may be replaced.
            **options: As of :meth:`register_mcp_server`, which says also what is raised.
        """
        loaded = await protocols.mcp.load_mcp_tools(config, servers=servers, **options)
        names = [tool.function for tool in loaded]
        taken = {name for name in names if names.count(name) > 1 or (name in self.registry and not update)}
        if taken:
            await protocols.mcp.close_mcp_servers(loaded)
            raise ConfigurationError(
                f"Tool {min(taken)} is already registered. Pass prefix=True to put the server's name before it, or "
                "update=True to replace it."
            )
        registered: dict[str, list[str]] = {}
        for tool in loaded:
            registered.setdefault(tool.server.name, []).append(self.register_tool(tool, update=True).function)
        return registered

    async def close_mcp_servers(self) -> None:
        """End the MCP servers of the registered tools; calling one of these tools later starts its server anew."""
        await protocols.mcp.close_mcp_servers(self.registry.values())

    # -- calling

    def match_tool(self, request: Any) -> FunctionCalling:
        """Return the call that a request describes, its arguments checked; nothing runs yet.

        Args:
            request: An ActionRequest, a mapping with ``function`` and ``arguments``, or a model with these fields.

        Raises:
            KeyError: A mapping lacks one of the keys.
            OperationError: No tool has exactly that name. It is a ValueError.
            ValidationError: The arguments do not fit.
            TypeError: The request is of another type.
        """
        function, arguments = _read_request(request)
        tool = self.registry.get(function) if isinstance(function, str) else None
        if tool is None:
            known = ", ".join(self.registry) or "none"
            raise OperationError(
                f"Function {short_repr(function) if not isinstance(function, str) else function} is not registered. "
                f"Registered are: {known}."
            )
        return FunctionCalling(func_tool=tool, arguments=arguments)

    async def invoke(self, request: Any) -> FunctionCalling:
        """Run the call that a request describes; what the tool itself raises stays in the returned event."""
        call = self.match_tool(request)
        await call.invoke()
        return call

    # -- showing

    @property
    def schema_list(self) -> list[dict[str, Any]]:
        """The schemas of all tools, in the order of registration."""
        return [tool.tool_schema or {} for tool in self.registry.values()]

    def select(self, tools: Any, auto_register: bool = True, update: bool = False) -> list[Tool]:
        """Return the tools that a selection names.

        Args:
            tools: None or True for all; False or an empty list for none; a name, a Tool, a function or a list of these.
                Schemas given as mappings name no tool and are left out.
            auto_register: Whether functions and Tools that are not registered are registered by this.
            update: Whether that may replace a tool of the same name.
        """
        if tools is None or tools is True:
            return list(self.registry.values())
        if tools is False:
            return []
        wanted = cast("list[Any]", tools) if isinstance(tools, (list, tuple, set)) else [tools]
        return [self._tool(one, auto_register, update) for one in wanted if not isinstance(one, dict)]

    def _tool(self, ref: Any, auto_register: bool, update: bool) -> Tool:
        if isinstance(ref, bool) or not (isinstance(ref, (str, Tool)) or callable(ref)):
            raise TypeError(f"Unsupported type {type(ref).__name__} in tools: {short_repr(ref)}")
        name = _name_of(ref)
        held = self.registry.get(name) if name is not None else None
        if held is not None and not update and (isinstance(ref, str) or held is ref or held.func_callable is ref):
            return held
        if isinstance(ref, str) or (held is None and not auto_register):
            raise OperationError(
                f"Tool {name} is not registered. Registered are: {', '.join(self.registry) or 'none'}."
            )
        return self.register_tool(ref, update=update)

    def get_tool_schema(self, tools: Any = False, auto_register: bool = True, update: bool = False) -> dict[str, Any]:
        """Return ``{"tools": ...}`` with the schemas of a selection, see ``select``.

        The value is a list; for one name, Tool, function or mapping (also in a list of one) it is that one schema.
        """
        if isinstance(tools, (list, tuple)) and len(cast("list[Any]", tools)) == 1:
            tools = cast("list[Any]", tools)[0]
        if isinstance(tools, dict):
            return {"tools": tools}
        if tools is None or isinstance(tools, bool):
            return {"tools": [tool.tool_schema for tool in self.select(tools)]}
        if isinstance(tools, (list, tuple, set)):
            each = cast("Iterable[Any]", tools)
            return {
                "tools": [one if isinstance(one, dict) else self._schema(one, auto_register, update) for one in each]
            }
        return {"tools": self._schema(tools, auto_register, update)}

    def _schema(self, ref: Any, auto_register: bool, update: bool) -> dict[str, Any]:
        return self._tool(ref, auto_register, update).tool_schema or {}


def _name_of(tool: object) -> str | None:
    if isinstance(tool, str):
        return tool
    if isinstance(tool, Tool):
        return tool.function
    if isinstance(tool, dict):
        keys = list(cast("dict[Any, Any]", tool))
        return keys[0] if len(keys) == 1 and isinstance(keys[0], str) else None
    return getattr(getattr(tool, "func", tool), "__name__", None) if callable(tool) else None


def _read_request(request: Any) -> tuple[Any, Any]:
    if isinstance(request, ActionRequest):
        return request.function, request.arguments
    if isinstance(request, dict):
        mapping = cast("dict[str, Any]", request)
        return mapping["function"], mapping["arguments"]
    if isinstance(request, BaseModel) and hasattr(request, "function") and hasattr(request, "arguments"):
        return cast("Any", request).function, cast("Any", request).arguments
    raise TypeError(f"Unsupported type {type(request).__name__} of a tool request: {short_repr(request)}")
