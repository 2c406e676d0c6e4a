"""Endpoint: one way to ask one provider, from request to answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from lionagi._errors import ConfigurationError, short_repr
from lionagi.ln.clock import SYSTEM_CLOCK, Clock
from lionagi.ln.patterns import late_pattern
from lionagi.service import connections
from lionagi.service.connections.chat_shape import answer_of
from lionagi.service.connections.endpoint_config import EndpointConfig, HeaderFactory
from lionagi.service.connections.retry import with_retries
from lionagi.service.types import Answer, Capabilities, StreamChunk

if TYPE_CHECKING:
    from lionagi.service.connections.registry import EndpointMeta

__all__ = ("CONTROL_NAMES", "Endpoint", "result_chunk")

CONTROL_NAMES = frozenset(
    {
        "action_strategy",
        "actions",
        "aggregation_count",
        "aggregation_sources",
        "allow_local_network",
        "api_key",
        "base_url",
        "branch",
        "cache_control",
        "call_params",
        "capacity_refresh_time",
        "chat_model",
        "clock",
        "endpoint",
        "endpoint_params",
        "extra_headers",
        "headers",
        "imodel",
        "include_token_usage_to_model",
        "invoke_with_endpoint",
        "max_concurrent_tools",
        "max_tool_calls",
        "num_parse_retries",
        "operative_model",
        "parse_model",
        "provider",
        "queue_capacity",
        "replay",
        "request_model",
        "return_operative",
        "structure",
        "structured_output",
        "tool_timeout",
    }
)
"""Keywords of our own verbs: they never reach a payload."""

_NAME = late_pattern(r"[^a-zA-Z0-9_-]+")


def result_chunk(response: Any, answer: Answer) -> StreamChunk:
    """Return the chunk that ends a stream, holding the response as it would have come unstreamed."""
    metadata = {"done": True, "raw": response, "usage": answer.usage, "finish_reason": answer.finish_reason}
    return StreamChunk("result", metadata=metadata)


class Endpoint:
    """One endpoint of a provider; the base speaks JSON over HTTP and reads OpenAI-compatible chat answers.

    A subclass overrides ``_call`` (and ``stream`` where answers arrive in pieces), and is registered with
    ``register_endpoint``, which makes the configuration's defaults.

    Args:
        config: An EndpointConfig (copied), a mapping of its fields, or None for the registered defaults.
        **kwargs: Fields to change; other names become request defaults.

    Attributes:
        is_cli: The endpoint runs an agent of its own, so that its stream is a history and not only an answer.
        in_process: It answers by itself, without a provider: nothing to be kept from in a test.
        capabilities: What it can do by itself; an instance may differ from its class.
        default_model: The model to ask where none is named.
        key_optional: It may be called without a key.
        clock: What retries wait on.
    """

    is_cli: ClassVar[bool] = False
    in_process: ClassVar[bool] = False
    default_model: ClassVar[str | None] = None
    key_optional: ClassVar[bool] = False
    capabilities: Capabilities = Capabilities()
    _ENDPOINT_META: ClassVar[EndpointMeta | None] = None

    def __init__(self, config: EndpointConfig | dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.config = self._configure(config, kwargs)
        self.clock: Clock = SYSTEM_CLOCK

    @classmethod
    def _configure(cls, config: object, changes: dict[str, Any]) -> EndpointConfig:
        if isinstance(config, EndpointConfig):
            return config.model_copy(deep=True).update(**changes)
        if isinstance(config, dict):
            return EndpointConfig(**{**cast("dict[str, Any]", config), **changes})
        if config is not None:
            raise ConfigurationError(f"Config must be a dict, EndpointConfig, or None, not {short_repr(config)}")
        if cls._ENDPOINT_META is None:
            raise ConfigurationError(f"{cls.__name__} is not registered and so needs a config")
        return cls._ENDPOINT_META.create_config(**changes)

    @property
    def provider(self) -> str:
        """The provider's name."""
        return self.config.provider

    def create_payload(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return payload and headers; values are passed on as they are, never copied.

        Later sources win: request defaults, ``request``, ``kwargs``. None values and keywords of our own verbs are
        dropped; with ``request_options`` only its fields remain. A missing key is a ConfigurationError.
        """
        merged = {**self.config.kwargs, **request, **kwargs}
        options = self.config.request_options
        if options is not None:
            known = options.model_fields
            payload = {key: value for key, value in merged.items() if key in known and value is not None}
            self.config.validate_payload(payload)
        else:
            payload = {key: value for key, value in merged.items() if key not in CONTROL_NAMES and value is not None}
        if self.default_model and not payload.get("model"):
            payload["model"] = self.default_model
        return payload, self._headers(extra_headers)

    def _headers(self, extra: dict[str, str] | None) -> dict[str, str]:
        config, key = self.config, self.config.resolve_api_key()
        auth = "none" if key is None and self.key_optional else config.auth_type
        if key is None and auth != "none" and auth in ("bearer", "x-api-key"):
            places = f"set {config.api_key_env} or pass api_key" if config.api_key_env else "pass api_key"
            raise ConfigurationError(f"API key is required for authentication with {config.provider}: {places}")
        headers = HeaderFactory.get_header(auth, config.content_type, key, config.default_headers)
        return {**headers, **extra} if extra else headers

    async def call(
        self,
        request: dict[str, Any],
        skip_payload_creation: bool = False,
        extra_headers: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Ask and return the provider's response, sending again what failed for a passing reason.

        With ``skip_payload_creation`` the request is the payload and ``extra_headers`` are all the headers.
        """
        if skip_payload_creation:
            payload, headers = request, extra_headers or {}
        else:
            payload, headers = self.create_payload(request, extra_headers, **kwargs)
        return await with_retries(
            lambda: self._call(payload, headers, **kwargs), requests=self.config.max_retries, clock=self.clock
        )

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> Any:
        """Send one request and return its decoded body; what a subclass overrides."""
        return await connections.http.request_json(self.config, payload, headers, clock=self.clock)

    async def stream(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk, None]:
        """Yield the answer in pieces, then one result chunk; the base has only one piece."""
        payload, headers = self.create_payload(request, extra_headers, **kwargs)
        payload.pop("stream", None)
        response = await self.call(payload, skip_payload_creation=True, extra_headers=headers)
        answer = self.decode(response)
        if answer.text:
            yield StreamChunk("text", content=answer.text, is_delta=True)
        yield result_chunk(response, answer)

    def schema_payload(self, name: str, schema: dict[str, Any], strict: bool | None = None) -> dict[str, Any]:
        """Return the payload keys that constrain the answer to ``schema``; ``{}`` where the endpoint cannot.

        Args:
            name: The schema's name; characters that providers refuse become "_".
            schema: The JSON schema, passed on uncopied.
            strict: Whether the provider's strict mode takes this schema; None means that it does where it has one.
        """
        if not self.capabilities.structured_output:
            return {}
        wire: dict[str, Any] = {"name": _NAME.sub("_", name)[:64] or "answer", "schema": schema}
        if self.capabilities.strict_schema and strict is not False:
            wire["strict"] = True
        return {"response_format": {"type": "json_schema", "json_schema": wire}}

    def tools_payload(self, tool_schemas: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the payload keys that offer tools natively; ``{}`` for no tools or where the endpoint takes none."""
        return {"tools": list(tool_schemas)} if tool_schemas and self.capabilities.native_tools else {}

    def decode(self, response: Any) -> Answer:
        """Read an unstreamed response; one that does not hold what it must is a ProviderResponseError."""
        return answer_of(response, self.config.provider)

    def clone(self) -> Self:
        """Return an endpoint of the same class with a copy of the configuration and of the runtime state."""
        other = type(self)(self.config)
        other.clock = self.clock
        self.copy_runtime_state_to(other)
        return other

    def copy_runtime_state_to(self, other: Endpoint) -> None:
        """Give a copy what lives outside the configuration; the base has only its capabilities."""
        other.capabilities = self.capabilities

    async def aclose(self) -> None:
        """Release what the endpoint holds on the running loop; it can be used again afterwards."""
        await connections.http.aclose()

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"config": …}`` without credentials."""
        return {"config": self.config.model_dump(mode="json")}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return an endpoint of this class with that configuration; the key comes from the environment."""
        return cls(data["config"])

    def __repr__(self) -> str:
        """Name class, provider and address, never a credential."""
        return f"<{type(self).__name__} {self.config.provider} {self.config.full_url}>"
