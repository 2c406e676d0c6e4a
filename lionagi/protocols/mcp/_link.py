"""One running MCP server: its process, the session with it, and what it last wrote to standard error."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, cast

from lionagi._errors import ExecutionError, LionError, TimeoutError, short_repr
from lionagi.protocols.mcp._host import at_end, not_at_end

if TYPE_CHECKING:
    from mcp import ClientSession

__all__ = ("Link",)

_STDERR_LIMIT = 64 * 1024
_SHOWN = 1000
_LAST_WORDS_SECONDS = 0.5


class Link:
    """A server that has been started; lives on the host's loop only.

    Attributes:
        ready: The session once the server has answered; the failure where it did not start.
    """

    def __init__(self, name: str, config: Mapping[str, Any], start_timeout: float) -> None:
        self.name = name
        self._config = config
        self._start_timeout = start_timeout
        self._stopping = asyncio.Event()
        self._stderr = _Tail()
        self.ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self.ready.add_done_callback(_retrieve)
        self._task = asyncio.create_task(self._serve(), name=f"mcp-{name}")
        at_end(self.stop)

    @property
    def ended(self) -> bool:
        """Whether the server is stopped or being stopped, or belongs to the process that this one was forked from."""
        return self._stopping.is_set() or self.ready.get_loop() is not asyncio.get_running_loop()

    @property
    def last_words(self) -> str:
        """``"; it wrote: ..."`` with the end of its standard error, "" where it wrote nothing."""
        text = bytes(self._stderr.text).decode("utf-8", "replace").strip()
        return f"; it wrote: {text[-_SHOWN:]}" if text else ""

    def let_go(self) -> None:
        """Begin to stop, without waiting."""
        self._stopping.set()
        if not self.ready.done():
            self._task.cancel()

    async def stop(self) -> None:
        """End the session and the process: end of input, then SIGTERM, then SIGKILL to its group."""
        self.let_go()
        await asyncio.wait({self._task})

    async def _serve(self) -> None:
        # A session has to be closed by the task that opened it, hence one task for its whole life.
        failure: BaseException | None = None
        try:
            async with AsyncExitStack() as stack:
                session = await self._open(stack)
                try:
                    async with asyncio.timeout(self._start_timeout):
                        await session.initialize()
                except Exception as error:
                    failure = error  # raised in here, the SDK's task groups would wrap it
                else:
                    self.ready.set_result(session)
                    await self._stopping.wait()
        except BaseException as error:
            failure = failure or error
        finally:
            not_at_end(self.stop)
            self._stopping.set()
            if not self.ready.done():
                self.ready.set_exception(self._not_started(failure))

    async def _open(self, stack: AsyncExitStack) -> ClientSession:
        import mcp

        parameters = mcp.StdioServerParameters(**self._config)
        read, write = os.pipe()
        try:
            loop = asyncio.get_running_loop()
            transport, _ = await loop.connect_read_pipe(lambda: self._stderr, os.fdopen(read, "rb", 0))
            stack.callback(transport.close)
            stack.push_async_callback(self._stderr.wait_end)
            # Popen takes a descriptor as well as a file.
            streams = await stack.enter_async_context(mcp.stdio_client(parameters, cast("Any", write)))
        finally:
            os.close(write)
        return await stack.enter_async_context(mcp.ClientSession(*streams))

    def _not_started(self, failure: BaseException | None) -> LionError:
        what = f"MCP server {self.name!r} ({short_repr([self._config['command'], *self._config['args']])})"
        cause = failure if isinstance(failure, Exception) else None
        if isinstance(failure, asyncio.TimeoutError):
            text = f"{what} did not answer within {self._start_timeout:g} s; allow more with start_timeout"
            return TimeoutError(f"{text}{self.last_words}", cause=cause)
        why = str(failure) or type(failure).__name__ if cause is not None else "it was stopped"
        return ExecutionError(f"{what} did not start: {why}{self.last_words}", cause=cause)


class _Tail(asyncio.Protocol):
    """Keeps the last bytes of a pipe."""

    def __init__(self) -> None:
        self.text = bytearray()
        self._ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.text += data
        del self.text[:-_STDERR_LIMIT]

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()

    async def wait_end(self) -> None:
        """Wait, but not long, until the other side has closed the pipe: a child of the server may hold it."""
        with suppress(asyncio.TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                await self._ended.wait()


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Keep asyncio from reporting a failed start that nobody waits for any more."""
    if not future.cancelled():
        future.exception()
