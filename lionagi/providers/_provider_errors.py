"""What providers raise, gathered in one place for whoever writes a provider."""

from __future__ import annotations

from lionagi._errors import (
    ProviderAuthError,
    ProviderCapacityError,
    ProviderConnectionError,
    ProviderContextError,
    ProviderError,
    ProviderQuotaError,
    ProviderResponseError,
    ProviderSafetyError,
    ProviderStreamError,
    ProviderTimeoutError,
    ProviderUnsupportedModelError,
)
from lionagi.service.connections.failures import classify_provider_error

__all__ = (
    "ProviderAuthError",
    "ProviderCapacityError",
    "ProviderConnectionError",
    "ProviderContextError",
    "ProviderError",
    "ProviderQuotaError",
    "ProviderResponseError",
    "ProviderSafetyError",
    "ProviderStreamError",
    "ProviderTimeoutError",
    "ProviderUnsupportedModelError",
    "classify_provider_error",
)
