"""Which endpoint class serves which provider, found by name."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from sys import intern
from typing import Any, ClassVar, TypeVar

from lionagi._errors import ProviderNotFoundError, short_repr
from lionagi.ln.types.records import FrozenRecord
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.connections.endpoint_config import EndpointConfig

__all__ = (
    "GENERIC_PROVIDER",
    "EndpointMeta",
    "EndpointRegistry",
    "EndpointType",
    "match_endpoint",
    "register_endpoint",
)

E = TypeVar("E", bound=Endpoint)

GENERIC_PROVIDER = "openai_compatible"

_MODULES = (
    "lionagi.providers.openai_compatible",
    "lionagi.providers.openai",
    "lionagi.providers.local",
    "lionagi.testing._endpoint",
)
_AGENTIC_TIMEOUT = 3600.0


class EndpointType(StrEnum):
    """Whether an endpoint answers (API) or runs an agent of its own (AGENTIC)."""

    API = "api"
    AGENTIC = "agentic"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class EndpointMeta(FrozenRecord):
    """What a class was registered with; see :func:`register_endpoint`."""

    provider: str
    endpoint: str
    endpoint_type: EndpointType = EndpointType.API
    aliases: tuple[str, ...] = ()
    provider_aliases: tuple[str, ...] = ()
    options: type[Any] | None = None
    base_url: str | None = None
    auth_type: str = "bearer"
    content_type: str | None = "application/json"
    api_key_env: str | None = None

    def create_config(self, **overrides: Any) -> EndpointConfig:
        """Return a configuration with these defaults: 600 s in all, for agents 3,600 s and no idle limit."""
        agentic = self.endpoint_type is EndpointType.AGENTIC
        defaults: dict[str, Any] = {
            "name": intern(f"{self.provider}_{self.endpoint}"),
            "provider": self.provider,
            "base_url": self.base_url if self.base_url is not None else ("internal" if agentic else ""),
            "endpoint": self.endpoint,
            "request_options": self.options,
            "auth_type": self.auth_type,
            "content_type": self.content_type,
            "api_key_env": self.api_key_env,
        }
        if agentic:
            defaults |= {"api_key": "internal", "timeout": _AGENTIC_TIMEOUT, "idle_timeout": None}
        return EndpointConfig(**{**defaults, **{key: value for key, value in overrides.items() if value is not None}})

    def serves(self, endpoint: str) -> bool:
        """Return whether the endpoint's name or an alias is ``endpoint``."""
        return endpoint == self.endpoint or endpoint in self.aliases


def register_endpoint(
    provider: str,
    endpoint: str,
    aliases: Sequence[str] | None = None,
    endpoint_type: EndpointType = EndpointType.API,
    provider_aliases: Sequence[str] | None = None,
    options: type[Any] | None = None,
    base_url: str | None = None,
    auth_type: str | None = None,
    content_type: str | None = None,
    api_key_env: str | None = None,
) -> Callable[[type[E]], type[E]]:
    """Register the decorated Endpoint class under a provider's name.

    Args:
        provider: The provider's name, lower case.
        endpoint: The endpoint's path below ``base_url``; the provider's first one is its default.
        aliases: Other names of the endpoint, such as "chat".
        endpoint_type: Whether it answers or runs an agent.
        provider_aliases: Other names of the provider.
        options: A pydantic model of the payload; only its fields are sent.
        base_url: Where requests go.
        auth_type: "bearer" (default), "x-api-key" or "none".
        content_type: JSON by default.
        api_key_env: The environment variable that holds the key.
    """
    meta = EndpointMeta(
        provider=provider,
        endpoint=endpoint,
        endpoint_type=endpoint_type,
        aliases=tuple(aliases or ()),
        provider_aliases=tuple(provider_aliases or ()),
        options=options,
        base_url=base_url,
        auth_type=auth_type or "bearer",
        content_type=content_type or "application/json",
        api_key_env=api_key_env,
    )

    def register(cls: type[E]) -> type[E]:
        cls._ENDPOINT_META = meta  # pyright: ignore[reportPrivateUsage]
        EndpointRegistry.add(meta, cls)
        return cls

    return register


class EndpointRegistry:
    """The process's registered endpoints. The first look-up imports the built-in provider modules by name.

    A module that fails to import is skipped, so that a missing optional package costs only its own provider.
    """

    _entries: ClassVar[list[tuple[EndpointMeta, type[Endpoint]]]] = []
    _lock: ClassVar[threading.RLock] = threading.RLock()
    _loaded: ClassVar[bool] = False
    _skipped: ClassVar[dict[str, str]] = {}

    @classmethod
    def add(cls, meta: EndpointMeta, endpoint_class: type[Endpoint]) -> None:
        """Add an entry, in place of an earlier one of the same class name and identity (a re-run notebook cell)."""
        with cls._lock:
            same = (meta.provider, meta.endpoint, endpoint_class.__qualname__)
            for index, (known, known_class) in enumerate(cls._entries):
                if (known.provider, known.endpoint, known_class.__qualname__) == same:
                    cls._entries[index] = (meta, endpoint_class)
                    return
            cls._entries.append((meta, endpoint_class))

    @classmethod
    def _all(cls) -> list[tuple[EndpointMeta, type[Endpoint]]]:
        if not cls._loaded:
            with cls._lock:
                for name in () if cls._loaded else _MODULES:
                    try:
                        importlib.import_module(name)
                    except Exception as error:
                        cls._skipped[name] = f"{type(error).__name__}: {error}"
                        import logging

                        logging.getLogger(__name__).debug("provider module %s is skipped: %s", name, error)
                cls._loaded = True
        return cls._entries

    @classmethod
    def _of(cls, provider: str) -> list[tuple[EndpointMeta, type[Endpoint]]]:
        name = provider.strip().lower()
        return [entry for entry in cls._all() if name == entry[0].provider or name in entry[0].provider_aliases]

    @classmethod
    def has(cls, provider: str) -> bool:
        """Return whether a provider of that name, or alias, is registered."""
        return bool(cls._of(provider))

    @classmethod
    def match(cls, provider: str, endpoint: str = "", *, openai_compatible: bool = False, **kwargs: Any) -> Endpoint:
        """Return a new endpoint for a provider.

        An empty ``endpoint`` is the provider's first; a provider with one registration takes any name for it. A name
        nobody registered is served by the generic OpenAI-compatible endpoint where ``base_url`` is given or
        ``openai_compatible`` is True, and is a ProviderNotFoundError otherwise.

        Args:
            provider: Name or alias.
            endpoint: Name or alias.
            openai_compatible: Take the generic endpoint for an unknown provider.
            **kwargs: Passed to the endpoint: fields of its configuration and request defaults; None is left out.
        """
        given = {key: value for key, value in kwargs.items() if value is not None}
        entries = cls._of(provider)
        for meta, endpoint_class in entries:
            if not endpoint or meta.serves(endpoint) or len(entries) == 1:
                return endpoint_class(None, **given)
        if not entries and not openai_compatible and not given.get("base_url"):
            raise cls._unknown(provider)
        if entries:
            meta = entries[0][0]
            given = {"base_url": meta.base_url, "api_key_env": meta.api_key_env, **given}
        for meta, endpoint_class in cls._of(GENERIC_PROVIDER):
            if endpoint and not meta.serves(endpoint):
                given.setdefault("endpoint", endpoint)
            return endpoint_class(None, **{"name": f"{GENERIC_PROVIDER}_chat", "provider": provider, **given})
        raise ProviderNotFoundError(f"provider {short_repr(provider)} needs {_MODULES[0]}, which failed to import")

    @classmethod
    def _unknown(cls, provider: str) -> ProviderNotFoundError:
        known = ", ".join(sorted({meta.provider for meta, _ in cls._all()}))
        skipped = f" (not loaded: {short_repr(cls._skipped)})" if cls._skipped else ""
        return ProviderNotFoundError(
            f"no provider {short_repr(provider)} is registered: use one of {known}{skipped}, "
            "or pass base_url for any OpenAI-compatible server"
        )

    @classmethod
    def list_providers(cls) -> list[dict[str, Any]]:
        """Return one mapping per registration: provider, endpoint, aliases, type, class, options."""
        return [
            {
                "provider": meta.provider,
                "endpoint": meta.endpoint,
                "aliases": list(meta.aliases),
                "type": meta.endpoint_type,
                "class": endpoint_class,
                "options": meta.options,
            }
            for meta, endpoint_class in cls._all()
        ]


def match_endpoint(provider: str, endpoint: str = "", **kwargs: Any) -> Endpoint:
    """Return a new endpoint for a provider; see :meth:`EndpointRegistry.match`."""
    return EndpointRegistry.match(provider, endpoint, **kwargs)
