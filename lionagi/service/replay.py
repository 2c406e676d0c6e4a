"""The replay tap: where recorded answers take the place of an endpoint, where a recorder listens, a guard refuses.

The code that reads and writes recordings lives in ``lionagi.testing._replay``, which is loaded by name at first use.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from lionagi.ln.clock import Clock
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.types import StreamChunk

if TYPE_CHECKING:
    from lionagi.service.api_calling import APICalling
    from lionagi.service.imodel import iModel

__all__ = ("REPLAY_ENV", "Player", "Recorder", "call_guards", "player", "recorder", "replay_endpoint", "replay_file")

REPLAY_ENV = "LIONAGI_REPLAY"


class Recorder(Protocol):
    """What listens to finished calls."""

    def record(self, call: APICalling, chunks: list[StreamChunk] | None) -> Awaitable[None] | None:
        """Take a finished call, failed ones too; ``chunks`` are those it streamed, None where it did not stream."""
        ...


recorder: ContextVar[Recorder | None] = ContextVar("lionagi_recorder", default=None)
"""Set where calls are to be recorded; None, the default, costs nothing."""


class Player(Protocol):
    """What puts recorded answers in the place of the models that a block of code asks."""

    def endpoint_of(self, model: iModel, provider: str | None, name: str | None) -> Endpoint | None:
        """Return what ``model`` is to ask instead of the named provider's model; None leaves it alone."""
        ...


player: ContextVar[Player | None] = ContextVar("lionagi_player", default=None)
"""Set where a block is replayed; None, the default, costs nothing."""

call_guards: list[Callable[[Endpoint], None]] = []
"""Each is shown the endpoint of a call that is about to be made or sent, in every thread, and raises to refuse it."""


def replay_file(given: str | Path | None, provider: str | None) -> Path | None:
    """Return the recording to serve: the one given, else the one that LIONAGI_REPLAY names, else None.

    The variable does not touch scripted models: they need no recording, and a test may use both.
    """
    if given is not None:
        return Path(given)
    named = os.environ.get(REPLAY_ENV) if provider != "scripted" else None
    return Path(named) if named else None


def replay_endpoint(path: Path, provider: str | None, model: str | None, clock: Clock) -> Endpoint:
    """Return the endpoint that answers from a recording, under the recorded endpoint's identity and kind."""
    module = importlib.import_module("lionagi.testing._replay")
    return cast("Endpoint", module.replay_endpoint(path, provider, model, clock))
