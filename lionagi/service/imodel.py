"""iModel: one model of one provider, ready to be asked."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple, Self, cast
from uuid import UUID, uuid4

from lionagi._errors import ConfigurationError, short_repr
from lionagi.ln.clock import SYSTEM_CLOCK, Clock
from lionagi.protocols.generic.event import Event
from lionagi.service.api_calling import APICalling
from lionagi.service.connections.agentic import AgenticEndpoint
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.connections.registry import EndpointRegistry
from lionagi.service.limits import Limits, LoopLimits
from lionagi.service.model_names import THREE_WAYS_OUT, resolve_names
from lionagi.service.replay import call_guards, player, recorder, replay_endpoint, replay_file
from lionagi.service.types import Capabilities, StreamChunk

__all__ = ("iModel",)

_QUEUE_CAPACITY = 100
ChunkFunction = Callable[[StreamChunk], "StreamChunk | Awaitable[StreamChunk | None] | None"]


class _NoEndpoint(Endpoint):
    """Stands in while no model is configured; the first call says what can be done about it."""

    in_process = True

    def __init__(self) -> None:
        super().__init__(EndpointConfig(provider="none"))

    def create_payload(
        self, request: dict[str, Any], extra_headers: dict[str, str] | None = None, **kwargs: Any
    ) -> tuple[dict[str, Any], dict[str, str]]:
        raise ConfigurationError(THREE_WAYS_OUT)


class _Figures(NamedTuple):
    """The limits as they were given; ``interval`` in seconds."""

    queue_capacity: int | None
    interval: float
    limit_requests: int | None
    limit_tokens: int | None
    concurrency_limit: int | None


class iModel:
    """A model to ask. Making one needs neither a key nor a network; it can be used from several event loops.

    Args:
        provider: A registered provider's name, "provider/model", or a model of the default provider.
        base_url: Where to send requests, instead of the provider's own address; loopback and private ones are fine.
        endpoint: The endpoint's name or alias, or an Endpoint.
        api_key: The key, or the name of the environment variable that holds it.
        queue_capacity: Calls at once where ``concurrency_limit`` is not given; 100, or the agentic endpoint's own.
        capacity_refresh_time: Seconds of the interval that the two limits below count in.
        interval: The same, and wins.
        limit_requests: Calls that start within the interval.
        limit_tokens: Tokens, as reported by the provider, within the interval.
        concurrency_limit: Calls at once.
        streaming_process_func: Gets each chunk; what it returns is yielded in its place, None keeps the chunk.
        provider_metadata: Facts to carry along.
        id: The model object's id, a new one by default.
        created_at: Seconds since the epoch.
        clock: What limits and retries wait on.
        replay: A recording to answer from, instead of the provider.
        **kwargs: Fields of EndpointConfig, and request defaults such as ``model`` and ``temperature``.
    """

    def __init__(
        self,
        provider: str | None = None,
        base_url: str | None = None,
        endpoint: str | Endpoint = "chat",
        api_key: str | None = None,
        queue_capacity: int | None = None,
        capacity_refresh_time: float = 60,
        interval: float | None = None,
        limit_requests: int | None = None,
        limit_tokens: int | None = None,
        concurrency_limit: int | None = None,
        streaming_process_func: ChunkFunction | None = None,
        provider_metadata: dict[str, Any] | None = None,
        id: UUID | str | None = None,
        created_at: float | None = None,
        *,
        clock: Clock | None = None,
        replay: str | Path | None = None,
        **kwargs: Any,
    ) -> None:
        if created_at is not None and not isinstance(created_at, float):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError(f"created_at must be a float timestamp, not {short_repr(created_at)}")
        for name in ("hook_registry", "exit_hook"):
            if kwargs.pop(name, None):
                raise ConfigurationError(f"{name} is not supported by iModel: attach hooks to the Branch")
        self.id = UUID(str(id)) if id is not None else uuid4()
        self.created_at = created_at if created_at is not None else time.time()
        self.provider_metadata = provider_metadata or {}
        self.streaming_process_func = streaming_process_func
        self.usage: dict[str, int] = {}
        self._clock = clock
        self._given: dict[str, Any] = {"base_url": base_url, "api_key": api_key, **kwargs}
        self._names = (provider, kwargs.get("model"))
        self._path = endpoint if isinstance(endpoint, str) else endpoint.config.endpoint
        self._replay = replay
        self._endpoint: Endpoint | None = None
        self._limits: Limits | None = None
        seconds = interval if interval is not None else capacity_refresh_time
        self._figures = _Figures(queue_capacity, seconds, limit_requests, limit_tokens, concurrency_limit)
        if isinstance(endpoint, Endpoint):
            self._take(endpoint)
        elif provider or self._names[1]:
            _ = self.endpoint  # a wrong name is wrong now; with no name at all the choice waits for the first use

    def _take(self, endpoint: Endpoint) -> Endpoint:
        if self._clock is not None:
            endpoint.clock = self._clock
        self._endpoint = endpoint
        figures = self._figures
        concurrency = figures.concurrency_limit or figures.queue_capacity or _QUEUE_CAPACITY
        if isinstance(endpoint, AgenticEndpoint) and not figures.concurrency_limit:
            concurrency = endpoint.DEFAULT_CONCURRENCY_LIMIT
        self._limits = Limits(concurrency, figures.limit_requests, figures.limit_tokens, interval=figures.interval)
        return endpoint

    def _find_endpoint(self) -> Endpoint | None:
        given = dict(self._given)
        names = resolve_names(*self._names, given["base_url"])
        provider, model = names or (None, None)
        if (path := replay_file(self._replay, provider)) is not None:
            return replay_endpoint(path, provider, model, self.clock)
        if provider is None:
            return None
        if model is not None:
            given["model"] = model
        return EndpointRegistry.match(provider, self._path, **given)

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint; where nothing is configured yet, one whose first call lists the three ways out."""
        if (playing := player.get()) is not None:
            served = playing.endpoint_of(self, *self._asked_for())
            if served is not None:
                return served
        if self._endpoint is None:
            found = self._find_endpoint()
            return self._take(found) if found is not None else _NoEndpoint()
        return self._endpoint

    def _asked_for(self) -> tuple[str | None, str | None]:
        if self._endpoint is not None:
            config = self._endpoint.config
            return config.provider, config.kwargs.get("model")
        return resolve_names(*self._names, self._given["base_url"]) or (None, None)

    @property
    def clock(self) -> Clock:
        """What limits and retries wait on."""
        if self._clock is not None:
            return self._clock
        return self._endpoint.clock if self._endpoint is not None else SYSTEM_CLOCK

    @property
    def is_cli(self) -> bool:
        """Whether the endpoint runs an agent of its own."""
        return self.endpoint.is_cli

    @property
    def capabilities(self) -> Capabilities:
        """What the endpoint can do by itself."""
        return self.endpoint.capabilities

    @property
    def provider(self) -> str:
        """The provider's name, "none" where nothing is configured."""
        return self.endpoint.config.provider

    @property
    def model_name(self) -> str:
        """The model that calls ask for by default, "" where the provider chooses."""
        endpoint = self.endpoint
        return str(endpoint.config.kwargs.get("model") or endpoint.default_model or "")

    @property
    def request_options(self) -> Any:
        """The pydantic class of the payload, None where any payload goes."""
        return self.endpoint.config.request_options

    @property
    def provider_session_id(self) -> str | None:
        """The conversation that an agentic endpoint would resume, None for others."""
        endpoint = self.endpoint
        return endpoint.session_id if isinstance(endpoint, AgenticEndpoint) else None

    def create_api_calling(self, include_token_usage_to_model: bool = False, **kwargs: Any) -> APICalling:
        """Return a pending call. Values are passed on uncopied; with the flag, the usage so far joins the last message.

        A missing key or model is a ConfigurationError.
        """
        endpoint, extra_headers = self.endpoint, kwargs.pop("extra_headers", None)
        for refuse in call_guards:
            refuse(endpoint)
        if (session := self.provider_session_id) and not kwargs.get("resume") and not kwargs.get("session_id"):
            kwargs["resume"] = session
        payload, headers = endpoint.create_payload(kwargs, extra_headers)
        if include_token_usage_to_model and self.usage and payload.get("messages"):
            payload["messages"] = _with_usage_note(payload["messages"], self.usage)
        return APICalling(payload=payload, headers=headers, endpoint=endpoint, streaming=payload.get("stream") is True)

    async def create_event(self, event_type: type[Event] = APICalling, **kwargs: Any) -> APICalling:
        """Return a pending call; any other class than APICalling is a ConfigurationError."""
        if event_type is not APICalling:
            raise ConfigurationError(f"Unsupported event type {short_repr(event_type)}: only APICalling is")
        return self.create_api_calling(**kwargs)

    async def invoke(self, api_call: APICalling | None = None, **kwargs: Any) -> APICalling:
        """Ask and wait for the whole answer. A failure is not raised: the call's status is "failed" and holds it."""
        if api_call is None:
            kwargs.pop("stream", None)
            api_call = self.create_api_calling(**kwargs)
        turn = await self._turn()
        try:
            await api_call.invoke()
        finally:
            self._add_usage(api_call.usage, turn)
            turn.release()
        await self._finished(api_call, None)
        return api_call

    async def stream(self, api_call: APICalling | None = None, **kwargs: Any) -> AsyncGenerator[StreamChunk]:
        """Ask and yield the answer in chunks; a failure is raised as it is, after the call has noted it."""
        if api_call is None:
            api_call = self.create_api_calling(**{**kwargs, "stream": True})
        kept: list[StreamChunk] | None = [] if recorder.get() is not None else None
        turn = await self._turn()
        source = api_call.stream()
        try:
            async for chunk in source:
                if kept is not None:
                    kept.append(chunk)
                yield chunk if self.streaming_process_func is None else await self.process_chunk(chunk)
        finally:
            try:
                await source.aclose()
                await api_call.close_stream()
            finally:
                self._add_usage(api_call.usage, turn)
                turn.release()
        await self._finished(api_call, kept or [])
        if isinstance(error := api_call.execution.error, BaseException):
            raise error

    async def process_chunk(self, chunk: StreamChunk) -> StreamChunk:
        """Return what ``streaming_process_func`` makes of a chunk, the chunk itself where that is None."""
        if self.streaming_process_func is None:
            return chunk
        made = self.streaming_process_func(chunk)
        made = await made if isawaitable(made) else made
        return chunk if made is None else made

    async def _turn(self) -> LoopLimits:
        # a call made before anything was configured fails by itself, and nothing limits that
        limits = self._limits if self._limits is not None else Limits()
        return await limits.acquire(self.clock)

    def _add_usage(self, usage: dict[str, Any] | None, turn: LoopLimits) -> None:
        """Add a call's counts to the model's; what is no whole number above zero is left out."""
        if not usage:
            return
        total = self.usage
        for name, count in usage.items():
            if isinstance(count, int) and not isinstance(count, bool) and count > 0:
                total[name] = total.get(name, 0) + count
        tokens = usage.get("total_tokens")
        if tokens and isinstance(tokens, int):
            turn.spend(tokens, self.clock)

    async def _finished(self, call: APICalling, chunks: list[StreamChunk] | None) -> None:
        if isinstance(call.endpoint, AgenticEndpoint):
            _keep_session(call.endpoint, call.execution.response)
        if (listener := recorder.get()) is not None:
            noted = listener.record(call, chunks)
            if noted is not None:
                await noted

    def copy(self, share_session: bool = False) -> Self:
        """Return an independent model: own id, limits and endpoint; the agent's conversation only on request."""
        other = type(self)(
            endpoint=self._endpoint.clone() if self._endpoint is not None else self._path,
            streaming_process_func=self.streaming_process_func,
            provider_metadata=dict(self.provider_metadata),
            clock=self._clock,
            replay=self._replay,
            **self._figures._asdict(),
        )
        other._names, other._given = self._names, dict(self._given)
        if share_session and isinstance(other._endpoint, AgenticEndpoint):
            other._endpoint.session_id = self.provider_session_id
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return what :meth:`from_dict` needs; credentials are left out."""
        endpoint = self.endpoint
        return {
            "id": str(self.id),
            "created_at": self.created_at,
            "provider_metadata": self.provider_metadata,
            "endpoint": None if isinstance(endpoint, _NoEndpoint) else endpoint.to_dict(),
            "limits": {name: value for name, value in self._figures._asdict().items() if value is not None},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the model again; its key comes from the environment."""
        held: dict[str, Any] = data.get("endpoint") or {}
        config: dict[str, Any] = dict(held.get("config", {}))
        given = {**config.pop("kwargs", {}), **{key: value for key, value in config.items() if value is not None}}
        return cls(
            id=data["id"],
            created_at=data["created_at"],
            provider_metadata=data.get("provider_metadata"),
            **data.get("limits", {}),
            **given,
        )

    async def close(self) -> None:
        """Release what the endpoint holds on the running loop."""
        if self._endpoint is not None:
            await self._endpoint.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        """Name provider and model, never a credential."""
        if self._endpoint is None:
            return "iModel(<the default model, chosen at first use>)"
        return f"iModel({self.provider!r}, model={self.model_name!r})"


def _keep_session(endpoint: AgenticEndpoint, response: Any) -> None:
    session = cast("dict[str, Any]", response).get("session_id") if isinstance(response, dict) else None
    if session:
        endpoint.session_id = str(session)


def _with_usage_note(messages: list[dict[str, Any]], usage: dict[str, int]) -> list[dict[str, Any]]:
    """Return a new list whose last message also says what was used so far; the given messages stay as they are."""
    counts = ", ".join(f"{name} {count}" for name, count in sorted(usage.items()))
    note = f"Token usage so far, as reported by the provider: {counts}"
    last = messages[-1]
    content: Any = last.get("content")
    if isinstance(content, list):
        content = [*cast("list[Any]", content), {"type": "text", "text": note}]
    else:
        content = f"{content}\n\n{note}" if content else note
    return [*messages[:-1], {**last, "content": content}]
