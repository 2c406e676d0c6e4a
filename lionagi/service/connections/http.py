"""The only door to HTTP: one request to the configured address, with bounds on time and size, and nothing else.

Redirects are never followed, cookies never kept, proxies and credentials never taken from the environment. aiohttp is
loaded by the first request. There is one session per event loop; it closes with its loop.
"""

from __future__ import annotations

import asyncio
import math
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from lionagi._errors import (
    ConfigurationError,
    ParseError,
    ProviderConnectionError,
    ProviderError,
    ProviderResponseError,
    ProviderTimeoutError,
    short_repr,
)
from lionagi.ln.clock import Clock
from lionagi.ln.jsons import json_dumpb, loads_json
from lionagi.ln.loops import PerLoop
from lionagi.ln.secrets import is_credential_header, scrub
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.connections.failures import error_from_body

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

__all__ = ("ByteStream", "aclose", "header_secrets", "open_stream", "request_json")

_LARGEST_ERROR_BODY = 64 * 1024


class _Connection:
    """The session of one loop, held by an async generator: a loop that shuts down closes its generators."""

    def __init__(self) -> None:
        self.users = 0
        self.closing = False
        self._holder = self._hold()
        self._session: ClientSession | None = None
        self._opening = asyncio.Lock()

    async def _hold(self) -> AsyncGenerator[ClientSession]:
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

        session = ClientSession(
            connector=TCPConnector(limit=0),
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None),
            auto_decompress=False,
            trust_env=False,
        )
        async with session:
            yield session

    async def session(self) -> ClientSession:
        if self._session is None:
            async with self._opening:
                if self._session is None:
                    self._session = await anext(self._holder)
        return self._session

    async def close_if_unused(self) -> None:
        """Close once nobody uses it; whoever is still reading an answer closes it afterwards."""
        if self.closing and not self.users:
            await self._holder.aclose()


_connections: PerLoop[_Connection] = PerLoop(_Connection)


async def aclose() -> None:
    """Give up the running loop's session: the next request opens a new one, answers under way are read to their end."""
    if (connection := _connections.pop()) is not None:
        connection.closing = True
        await connection.close_if_unused()


class ByteStream:
    """The body of one response, decompressed as it is read, bounded in time.

    Two deadlines run: one for everything, one since the last content. The reader of a stream stops both while it does
    something else, with ``hold`` and ``resume``.
    """

    def __init__(
        self, response: ClientResponse, config: EndpointConfig, idle: float | None, secrets: list[str]
    ) -> None:
        self._response = response
        self._config = config
        self._secrets = secrets
        self._provider = config.provider
        self._idle = idle
        self._time = asyncio.get_running_loop().time
        self._total_at = self._time() + config.timeout
        self._idle_at = math.inf
        self._held_at = 0.0
        self.progressed()
        encoding = response.headers.get("Content-Encoding", "identity").lower()
        if encoding not in ("identity", "", "gzip", "deflate"):
            raise ProviderResponseError(
                f"{config.provider} compressed its answer with {short_repr(encoding)}, which was not asked for",
                provider=config.provider,
            )
        # 32 makes zlib tell gzip from deflate by itself
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding in ("gzip", "deflate") else None

    def progressed(self) -> None:
        """Start the idle time anew, because content has arrived."""
        if self._idle is not None:
            self._idle_at = self._time() + self._idle

    def hold(self) -> None:
        """Stop the deadlines: what was read is being used, and the provider is not to blame for how long."""
        self._held_at = self._time()

    def resume(self) -> None:
        """Let the deadlines go on after ``hold``."""
        held = self._time() - self._held_at
        self._total_at += held
        self._idle_at += held

    async def read(self, most: int = 65536) -> bytes:
        """Return the next bytes, about ``most`` at most, ``b""`` at the end; a deadline is a ProviderTimeoutError."""
        inflate = self._inflate
        if inflate is None:
            return await self._next()
        while not inflate.eof:
            packed = inflate.unconsumed_tail or await self._next()
            if not packed:
                raise ProviderConnectionError(f"{self._provider} cut its compressed answer", provider=self._provider)
            try:
                if plain := inflate.decompress(packed, most):
                    return plain
            except zlib.error:
                raise ProviderResponseError(
                    f"{self._provider} sent a compressed answer that cannot be unpacked", provider=self._provider
                ) from None
        return b""

    async def _next(self) -> bytes:
        left = min(self._total_at, self._idle_at) - self._time()
        if left <= 0:  # also where a flood of bytes without content never lets a timer fire
            raise self._late()
        try:
            async with asyncio.timeout(left):
                return await self._response.content.readany()
        except TimeoutError:
            raise self._late() from None
        except Exception as error:
            raise _typed(error, self._config, self._secrets) from None

    def _late(self) -> ProviderTimeoutError:
        idle = self._idle_at < self._total_at
        setting, limit = ("idle_timeout", self._idle or 0.0) if idle else ("timeout", self._config.timeout)
        what = "no content" if idle else "no complete answer"
        return ProviderTimeoutError(
            f"{self._provider} sent {what} for {limit:g} s; raise {setting} or ask for less", provider=self._provider
        )

    async def read_all(self, limit: int) -> bytes:
        """Return the whole body; one above ``limit`` bytes is a ProviderResponseError, and no more of it is read."""
        body = bytearray()
        while data := await self.read():
            body += data
            if len(body) > limit:
                raise ProviderResponseError(
                    f"{self._provider} sent an answer of more than {limit} bytes; it was not read further "
                    "(max_response_bytes)",
                    provider=self._provider,
                )
        return bytes(body)


@asynccontextmanager
async def open_stream(
    config: EndpointConfig,
    payload: dict[str, Any],
    headers: dict[str, str],
    *,
    clock: Clock,
    idle: float | None,
) -> AsyncGenerator[ByteStream]:
    """Send one request and give its body; any status but 200 is the ProviderError for it.

    Args:
        config: Address, deadlines and bounds.
        payload: The JSON body.
        headers: All headers to send.
        clock: For reading a Retry-After date.
        idle: Seconds without content after which the body ends with an error, None for no such limit.
    """
    secrets = [*config.secrets(), *header_secrets(headers)]
    data = _encode(payload, config)
    async with _session() as session:
        try:
            response = await _send(session, config, data, headers, idle)
        except Exception as error:
            raise _typed(error, config, secrets) from None
        # what the reader of the stream raises in this block passes as it is
        async with response:
            body = ByteStream(response, config, idle, secrets)
            if response.status != 200:
                raise await _refusal(response, body, config, clock, secrets)
            yield body


@asynccontextmanager
async def _session() -> AsyncGenerator[ClientSession]:
    connection = _connections.get()
    connection.users += 1
    try:
        yield await connection.session()
    finally:
        connection.users -= 1
        await connection.close_if_unused()


async def _send(
    session: ClientSession, config: EndpointConfig, data: bytes, headers: dict[str, str], idle: float | None
) -> ClientResponse:
    from aiohttp import ClientTimeout

    limit = config.timeout if idle is None else min(idle, config.timeout)
    async with asyncio.timeout(limit):
        return await session.request(
            config.method,
            config.full_url,
            data=data,
            headers={"Accept-Encoding": "gzip, deflate", **headers},
            allow_redirects=False,
            timeout=ClientTimeout(total=None, connect=config.connect_timeout),
            **config.client_kwargs,
        )


def _encode(payload: dict[str, Any], config: EndpointConfig) -> bytes:
    try:
        return json_dumpb(payload)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"the payload for {config.provider} is not JSON: {error}") from error


async def _refusal(
    response: ClientResponse, body: ByteStream, config: EndpointConfig, clock: Clock, secrets: list[str]
) -> ProviderError:
    try:
        text = (await body.read_all(_LARGEST_ERROR_BODY)).decode("utf-8", "replace")
    except ProviderError as error:
        text = f"(its body cannot be shown: {error.message})"
    return error_from_body(
        text,
        provider=config.provider,
        clock=clock,
        status=response.status,
        headers=response.headers,
        secrets=secrets,
    )


async def request_json(
    config: EndpointConfig, payload: dict[str, Any], headers: dict[str, str], *, clock: Clock
) -> Any:
    """Send one request and return its decoded JSON body; whatever goes wrong is a ProviderError naming the provider."""
    secrets = [*config.secrets(), *header_secrets(headers)]
    async with open_stream(config, payload, headers, clock=clock, idle=None) as body:
        data = await body.read_all(config.max_response_bytes)
    text = data.decode("utf-8", "replace")
    try:
        return loads_json(text)
    except ParseError:
        shown = scrub(" ".join(text[:2000].split()), secrets)
        raise ProviderResponseError(
            f"{config.provider} sent a body that is not JSON: {short_repr(shown)}. "
            "Check base_url and that the server speaks the chat completions format",
            provider=config.provider,
            raw=shown,
        ) from None


def _typed(error: Exception, config: EndpointConfig, secrets: list[str]) -> Exception:
    """Return the error of ours for what aiohttp and asyncio raise; causes are left out, since they may hold headers."""
    from aiohttp import ClientError, ClientSSLError, InvalidURL

    provider = config.provider
    if isinstance(error, TimeoutError):
        return ProviderTimeoutError(
            f"{provider} gave no answer in time (connect_timeout {config.connect_timeout:g} s, "
            f"timeout {config.timeout:g} s); raise the limit or check base_url",
            provider=provider,
        )
    if isinstance(error, InvalidURL):
        return ConfigurationError(f"{provider}: base_url does not make an http(s) address; correct it")
    if not isinstance(error, ClientError | OSError):
        return error
    words = scrub(f"{type(error).__name__}: {error}", secrets)
    message = f"no connection to {provider}, or it broke: {short_repr(words)}; check base_url and the network"
    if isinstance(error, ClientSSLError):  # a certificate does not mend itself, so no retry
        return ProviderResponseError(message, provider=provider)
    return ProviderConnectionError(message, provider=provider)


def header_secrets(headers: dict[str, str]) -> list[str]:
    """Return the credentials among the headers, a bearer token also without its prefix, for scrubbing."""
    values = [value for name, value in headers.items() if is_credential_header(name)]
    return [*values, *(value.removeprefix("Bearer ") for value in values if value.startswith("Bearer "))]
