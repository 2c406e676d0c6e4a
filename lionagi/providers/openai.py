"""OpenAI's own service."""

from __future__ import annotations

from typing import Any, ClassVar

from lionagi.providers.openai_compatible import OpenAICompatibleEndpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.connections.registry import register_endpoint
from lionagi.service.types import Capabilities

__all__ = ("OpenAIChatEndpoint",)


@register_endpoint(
    "openai",
    "chat/completions",
    aliases=["chat"],
    base_url="https://api.openai.com/v1",
    api_key_env="OPENAI_API_KEY",
)
class OpenAIChatEndpoint(OpenAICompatibleEndpoint):
    """OpenAI chat completions; the key comes from ``api_key`` or OPENAI_API_KEY, and streams report token counts."""

    key_optional: ClassVar[bool] = False
    default_model: ClassVar[str | None] = "gpt-4.1-mini"
    capabilities = Capabilities(structured_output=True, strict_schema=True, native_tools=True)

    def __init__(self, config: EndpointConfig | dict[str, Any] | None = None, **kwargs: Any) -> None:
        if config is None:
            kwargs.setdefault("stream_usage", True)
        super().__init__(config, **kwargs)
