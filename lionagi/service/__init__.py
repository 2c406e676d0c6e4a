"""The service layer: models, endpoints, limits and the one door to HTTP.

Names are loaded at first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.service.api_calling import APICalling
    from lionagi.service.connections.agentic import AgenticEndpoint
    from lionagi.service.connections.endpoint import Endpoint
    from lionagi.service.connections.endpoint_config import EndpointConfig, HeaderFactory
    from lionagi.service.connections.registry import (
        EndpointMeta,
        EndpointRegistry,
        EndpointType,
        match_endpoint,
        register_endpoint,
    )
    from lionagi.service.imodel import iModel
    from lionagi.service.manager import iModelManager
    from lionagi.service.types import Answer, Capabilities, StreamChunk, ToolCall

_HOMES = {
    "APICalling": ".api_calling",
    "AgenticEndpoint": ".connections.agentic",
    "Answer": ".types",
    "Capabilities": ".types",
    "Endpoint": ".connections.endpoint",
    "EndpointConfig": ".connections.endpoint_config",
    "EndpointMeta": ".connections.registry",
    "EndpointRegistry": ".connections.registry",
    "EndpointType": ".connections.registry",
    "HeaderFactory": ".connections.endpoint_config",
    "StreamChunk": ".types",
    "ToolCall": ".types",
    "iModel": ".imodel",
    "iModelManager": ".manager",
    "match_endpoint": ".connections.registry",
    "register_endpoint": ".connections.registry",
}

__all__ = (
    "APICalling",
    "AgenticEndpoint",
    "Answer",
    "Capabilities",
    "Endpoint",
    "EndpointConfig",
    "EndpointMeta",
    "EndpointRegistry",
    "EndpointType",
    "HeaderFactory",
    "StreamChunk",
    "ToolCall",
    "iModel",
    "iModelManager",
    "match_endpoint",
    "register_endpoint",
)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
