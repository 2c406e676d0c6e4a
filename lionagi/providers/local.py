"""``provider="local"``: a real model in a child process, with no key and no network.

Underneath it is an ordinary OpenAI-compatible endpoint. What is added here: the server is started at the first call,
the request defaults that the small bundled model needs, and errors that speak of a process instead of an address.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any, ClassVar, cast

from lionagi._errors import ConfigurationError, ProviderConnectionError, ProviderError, ProviderStreamError, short_repr
from lionagi.ln.threads import run_in_thread
from lionagi.providers.local_child import (
    LocalAddress,
    LocalServer,
    LocalServerSettings,
    local_server,
    stop_local_servers,
)
from lionagi.providers.local_model import BUNDLED_MODEL, check_server_package, local_model_installed, model_file
from lionagi.providers.openai_compatible import OpenAICompatibleEndpoint
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.connections.registry import register_endpoint
from lionagi.service.types import Capabilities, StreamChunk

__all__ = ("BUNDLED_MODEL", "LocalEndpoint", "local_model_installed", "stop_local_servers")

_SERVER_KEYWORDS = frozenset({"n_ctx", "n_parallel", "n_threads", "port", "start_timeout"})
# The bundled model is a small base model: without a bound and a penalty it repeats itself to the end of its context.
_BUNDLED_DEFAULTS: Mapping[str, Any] = {"max_tokens": 512, "temperature": 0, "repeat_penalty": 1.1}
# Waiting for a free slot and for a busy processor brings no content; the total limit still holds.
_IDLE_TIMEOUT = 300.0


@register_endpoint("local", "chat/completions", aliases=["chat"], auth_type="none")
class LocalEndpoint(Endpoint):
    """A GGUF model on this machine: the bundled one, or ``model="/path/model.gguf"``.

    All endpoints of a process that name the same file and settings share one server, which starts at the first call,
    starts again after it was killed, and ends with this process. Its settings are keywords:

    - ``n_parallel``: answers at once (2); ``n_ctx``: tokens of context that they share (4096)
    - ``n_threads``: processor threads (0, which is one less than there are processors)
    - ``port``: the loopback port (0, which is a free one); ``start_timeout``: seconds for loading the model (60)

    The bundled model answers a schema well and plain text badly. It has no system role: the text of a system message
    goes in front of the first user message.
    """

    default_model: ClassVar[str | None] = BUNDLED_MODEL
    capabilities = Capabilities(structured_output=True, system_role=False)

    def __init__(self, config: EndpointConfig | dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self._settings: dict[str, LocalServerSettings] = {}
        self._wires: dict[str, OpenAICompatibleEndpoint] = {}
        if self.config.kwargs.get("model", BUNDLED_MODEL) != BUNDLED_MODEL:  # its chat template knows what to do
            self.capabilities = Capabilities(structured_output=True)

    @classmethod
    def _configure(cls, config: object, changes: dict[str, Any]) -> EndpointConfig:
        return super()._configure(config, changes if config is not None else {"idle_timeout": _IDLE_TIMEOUT, **changes})

    def create_payload(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return payload and headers; settings of the server stay out, the bundled model's defaults come in."""
        payload, headers = super().create_payload(request, extra_headers, **kwargs)
        payload = {key: value for key, value in payload.items() if key not in _SERVER_KEYWORDS}
        if payload["model"] == BUNDLED_MODEL:
            payload = {**_BUNDLED_DEFAULTS, **payload}
        if not self.capabilities.system_role and payload.get("messages"):
            payload["messages"] = _without_system(payload["messages"])
        return payload, headers

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> Any:
        server, address = await self._ready(payload["model"])
        try:
            return await self._wire(address).call(
                payload, skip_payload_creation=True, extra_headers=self._keyed(address, headers)
            )
        except ProviderConnectionError as error:
            raise await _explained(error, server, address) from error

    async def stream(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk]:
        """Yield text as it is generated, then one result chunk; leaving early stops the generation."""
        payload, headers = self.create_payload(request, extra_headers, **kwargs)
        server, address = await self._ready(payload["model"])
        chunks = self._wire(address).stream(payload, self._keyed(address, headers))
        try:
            async for chunk in chunks:
                yield chunk
        except (ProviderConnectionError, ProviderStreamError) as error:
            raise await _explained(error, server, address) from error
        finally:
            await chunks.aclose()

    async def _ready(self, model: str) -> tuple[LocalServer, LocalAddress]:
        """Return the running server; where none runs, start it in a thread, because loading the model takes long."""
        if (settings := self._settings.get(model)) is not None:
            server = local_server(settings)
            if (address := server.address) is not None:
                return server, address
        return await run_in_thread(self._start, model)

    def _start(self, model: str) -> tuple[LocalServer, LocalAddress]:
        check_server_package()
        settings = LocalServerSettings(model_file(model), **self._server_settings())
        server = local_server(settings)
        address = server.start(settings.start_timeout)
        self._settings[model] = settings
        return server, address

    def _server_settings(self) -> dict[str, Any]:
        given = {name: self.config.kwargs[name] for name in _SERVER_KEYWORDS if name in self.config.kwargs}
        for name, value in given.items():
            kinds, least = (
                ((int, float), 0.001) if name == "start_timeout" else (int, 0 if name in ("n_threads", "port") else 1)
            )
            if not isinstance(value, kinds) or value < least:
                raise ConfigurationError(
                    f"{name} of the local model must be a number of at least {least}, not {short_repr(value)}"
                )
        return given

    def _wire(self, address: LocalAddress) -> OpenAICompatibleEndpoint:
        """Return the endpoint that speaks to the server; a restarted server has another address and another one."""
        if (wire := self._wires.get(address.url)) is None:
            changes: dict[str, Any] = {
                "base_url": f"{address.url}/v1",
                "kwargs": {},
                "max_retries": 1,
                "stream_usage": True,
            }
            wire = OpenAICompatibleEndpoint(self.config.model_copy(update=changes))
            wire.clock = self.clock
            self._wires = {address.url: wire}
        return wire

    @staticmethod
    def _keyed(address: LocalAddress, headers: dict[str, str]) -> dict[str, str]:
        return {**headers, "Authorization": f"Bearer {address.api_key}"}


async def _explained(error: ProviderError, server: LocalServer, address: LocalAddress) -> ProviderError:
    """Return the error that says the process ended, where it did; otherwise the error itself."""
    for _ in range(20):  # the connection breaks a moment before the process can be seen to have ended
        if (now := server.address) is None or now.pid != address.pid:
            break
        await asyncio.sleep(0.02)
    else:
        return error
    return type(error)(
        f"the local model's server (process {address.pid}) ended before its answer did; "
        "ask again, and the server is started again",
        provider=error.provider,
        partial_text=error.partial_text,
        stderr_tail=server.stderr_tail,
    )


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with the text of system messages in front of the first user message."""
    system = [str(each["content"]) for each in messages if each.get("role") == "system"]
    if not system:
        return messages
    others = [each for each in messages if each.get("role") != "system"]
    first = next((place for place, each in enumerate(others) if each.get("role") == "user"), None)
    if first is None:
        return [{"role": "user", "content": "\n\n".join(system)}, *others]
    content: Any = others[first].get("content")
    if isinstance(content, list):
        parts = cast("list[Any]", content)
        others[first] = {**others[first], "content": [{"type": "text", "text": "\n\n".join(system)}, *parts]}
    else:
        others[first] = {**others[first], "content": "\n\n".join([*system, str(content)])}
    return others
