"""From the configuration of MCP servers to tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, cast

import pydantic
from pydantic import BaseModel, ConfigDict

from lionagi._errors import ConfigurationError, MissingExtraError, NotFoundError, short_repr
from lionagi.protocols.mcp.server import McpServer
from lionagi.protocols.mcp.tool import McpTool

__all__ = ("close_mcp_servers", "load_mcp_tools", "read_mcp_config")

McpConfig = Mapping[str, Any] | str | PathLike[str]

_SHAPE = '{"command": "...", "args": [...], "env": {...}, "cwd": "..."}'


def read_mcp_config(config: McpConfig) -> dict[str, dict[str, Any]]:
    """Return the servers of a configuration by name, each with ``command``, ``args``, ``env`` and ``cwd``.

    Args:
        config: A mapping from name to server, the same under the key ``mcpServers``, or the path of a JSON file with
            either. Servers that say ``"disabled": true`` are left out; keys that other programs use are ignored.

    Raises:
        ConfigurationError: The file cannot be read, or a server is not described as one with a command.
    """
    held: Any = _read(config) if isinstance(config, str | PathLike) else config
    servers = _as_mapping(held).get("mcpServers", held)
    if not isinstance(servers, Mapping):
        raise ConfigurationError(f"MCP servers are a mapping from name to {_SHAPE}; got a {type(held).__name__}")
    named = {str(name): _as_mapping(one) for name, one in cast("Mapping[Any, Any]", servers).items()}
    return {name: _server(name, one) for name, one in named.items() if one.get("disabled") is not True}


def _read(path: str | PathLike[str]) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"the MCP configuration {str(path)!r} cannot be read: {error}", cause=error) from error


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


class _Described(BaseModel):
    """One server's entry; its values are not shown in errors, because they hold credentials."""

    model_config = ConfigDict(hide_input_in_errors=True)

    command: str
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: Path | None = None


def _server(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    if given.get("type", "stdio") != "stdio" or "url" in given:
        raise ConfigurationError(f"MCP server {name!r} is not started by a command; only such servers are supported")
    try:
        return _Described.model_validate(given).model_dump()
    except pydantic.ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False)
        )
        raise ConfigurationError(f"MCP server {name!r} must look like {_SHAPE}: {problems}") from error


async def load_mcp_tools(
    config: McpConfig,
    *,
    servers: Sequence[str] | None = None,
    tools: Sequence[str] | None = None,
    prefix: bool = False,
    timeout: float | None = None,
    start_timeout: float = 30.0,
) -> list[McpTool]:
    """Start MCP servers and return their tools, for ``Branch(tools=...)`` or ``register_tools``.

    Args:
        config: See :func:`read_mcp_config`.
        servers: Names of the servers to start; all when omitted.
        tools: The servers' names of the tools to take; all when omitted.
        prefix: Put each server's name before the names of its tools.
        timeout: Seconds that one call of a tool may take.
        start_timeout: Seconds until a server has to have answered.

    Raises:
        MissingExtraError: The packages are not installed.
        ConfigurationError: The configuration cannot work.
        NotFoundError: No such server or tool.
        ExecutionError: A server did not start; none is left running.
        TimeoutError: A server did not answer in time; none is left running.
    """
    _check_packages()
    described = read_mcp_config(config)
    started = [
        McpServer(name, described[name], start_timeout=start_timeout)
        for name in _chosen("MCP server", described, servers)
    ]
    try:
        listings = await asyncio.gather(*(server.list_tools() for server in started))
        found = [(server, listed) for server, listing in zip(started, listings, strict=True) for listed in listing]
        wanted = set(_chosen("MCP tool", [str(listed["name"]) for _, listed in found], tools))
        return [
            McpTool.of(server, listed, prefix=prefix, timeout=timeout)
            for server, listed in found
            if listed["name"] in wanted
        ]
    except BaseException:
        await asyncio.gather(*(server.aclose() for server in started))
        raise


def _check_packages() -> None:
    missing = [name for name in ("mcp", "jsonschema") if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"MCP tools need the packages of the extra 'mcp'; not installed: {', '.join(missing)}. "
            "pip install mcp jsonschema"
        )


def _chosen(what: str, known: Iterable[str], wanted: Sequence[str] | None) -> list[str]:
    names = list(known)
    if wanted is None:
        return names
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise NotFoundError(f"{what} {short_repr(unknown[0])} is unknown; known are {short_repr(names)}")
    return list(wanted)


async def close_mcp_servers(tools: Iterable[Any]) -> None:
    """End the servers of those among ``tools`` that are MCP tools; calling one of them later starts its server anew."""
    servers = {id(tool.server): tool.server for tool in tools if isinstance(tool, McpTool)}
    await asyncio.gather(*(server.aclose() for server in servers.values()))
