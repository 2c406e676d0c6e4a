"""McpServer: one configured MCP server, started when it is first needed."""

from __future__ import annotations

import asyncio
import builtins
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lionagi._errors import ExecutionError, TimeoutError, ValidationError
from lionagi.protocols.mcp._host import on_host
from lionagi.protocols.mcp._link import Link

if TYPE_CHECKING:
    from mcp import ClientSession

__all__ = ("McpServer",)

_MAX_PAGES = 100
# What the SDK says where the other side is gone; the code beside it is one that servers use for errors of their own.
_GONE = "connection closed"


class McpServer:
    """A server over standard input and output.

    Its process starts with the first use and ends with :meth:`aclose`, when nothing refers to the server any more, or
    with the program. After it has ended, for whatever reason, the next use starts a new one. All methods can be called
    from any event loop; the process and its state are the same for all.

    Args:
        name: For people and messages.
        config: ``command`` and ``args``, ``env`` (added to HOME, PATH and the like; the rest of the environment is not
            passed on) and ``cwd``.
        start_timeout: Seconds until the server has to have answered, and to have listed its tools.
    """

    def __init__(self, name: str, config: Mapping[str, Any], *, start_timeout: float = 30.0) -> None:
        self.name = name
        self.start_timeout = start_timeout
        self._config = dict(config)
        self._held = _Held()
        weakref.finalize(self, self._held.let_go).atexit = False

    @property
    def shown_config(self) -> dict[str, Any]:
        """The configuration with the values of the environment masked."""
        env = self._config.get("env")
        return {**self._config, "env": dict.fromkeys(env, "***")} if env else dict(self._config)

    async def list_tools(self) -> list[dict[str, Any]]:
        """Return what the server offers: mappings with ``name``, ``description``, ``inputSchema`` and more.

        Raises:
            ExecutionError: The server did not start or refused.
            TimeoutError: It did not answer in time.
        """
        return await on_host(self._list())

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the server's answer: ``content`` (a list of blocks), ``structuredContent``, ``isError``.

        Raises:
            ExecutionError: The server did not start, ended during the call, or refused. A call is never repeated.
            TimeoutError: It did not start in time; a call itself has no limit here.
        """
        return await on_host(self._call(name, arguments))

    async def aclose(self) -> None:
        """End the process, if there is one."""
        if self._held.link is not None:
            await on_host(self._held.close())

    async def _list(self) -> list[dict[str, Any]]:
        import mcp

        link, session = await self._session()
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(self.start_timeout):
                for _ in range(_MAX_PAGES):
                    given = None if cursor is None else mcp.types.PaginatedRequestParams(cursor=cursor)
                    page = _wire(await session.list_tools(params=given))
                    tools += page["tools"]
                    cursor = page.get("nextCursor")
                    if cursor is None:
                        return tools
        except builtins.TimeoutError as error:
            text = f"MCP server {self.name!r} did not list its tools within {self.start_timeout:g} s"
            raise TimeoutError(text, cause=error) from error
        except Exception as error:
            raise await self._failure(link, "tools/list", error) from error
        raise ValidationError(f"MCP server {self.name!r} lists its tools on more than {_MAX_PAGES} pages")

    async def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        link, session = await self._session()
        try:
            return _wire(await session.call_tool(name, arguments))
        except Exception as error:
            raise await self._failure(link, name, error) from error

    async def _session(self) -> tuple[Link, ClientSession]:
        link = self._held.link
        if link is None or link.ended:
            link = self._held.link = Link(self.name, self._config, self.start_timeout)
        return link, await asyncio.shield(link.ready)

    async def _failure(self, link: Link, what: str, error: Exception) -> ExecutionError:
        import anyio

        gone = isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError)
        if not gone and _GONE not in str(error).lower():
            return ExecutionError(f"MCP server {self.name!r} refused {what!r}: {error or type(error).__name__}")
        await link.stop()
        return ExecutionError(f"MCP server {self.name!r} ended during {what!r}{link.last_words}")


class _Held:
    """The running process of a server; apart from the server, so that the server can be collected."""

    def __init__(self) -> None:
        self.link: Link | None = None

    async def close(self) -> None:
        link, self.link = self.link, None
        if link is not None:
            await link.stop()

    def let_go(self) -> None:
        if self.link is not None:
            with suppress(RuntimeError):  # the loop is closed: the program ends, and has ended the process
                self.link.ready.get_loop().call_soon_threadsafe(self.link.let_go)


def _wire(result: Any) -> dict[str, Any]:
    """Return a result as it stood on the wire, whichever release of the SDK read it."""
    return result.model_dump(mode="json", by_alias=True)
