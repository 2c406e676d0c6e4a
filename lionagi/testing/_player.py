"""Answering from a file whatever models a block of code asks."""

from __future__ import annotations

from contextvars import Token
from pathlib import Path
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.replay import Player, player

from ._endpoint import ScriptedEndpoint
from ._env import SCRIPTED_PROVIDER
from ._recording import Match, Recording, recordings_of
from ._replay import choose, serve_from
from ._script import ScriptModel
from ._types import ResponseEntry

if TYPE_CHECKING:
    from lionagi.service.imodel import iModel

__all__ = ("FilePlayer",)


class FilePlayer(Player):
    """Puts a file's answers in the place of every model from the start of a ``with`` block to its end.

    A recording is served under the identity of the models that were recorded, each block from its start. A script
    without recording block is served in its own order to all models together. A scripted model keeps its own script
    unless scripted answers were recorded.
    """

    def __init__(self, path: Path, match: Match) -> None:
        script = ScriptModel.coerce(path)
        self._recordings: dict[str, Recording] = {}
        self._scripted: ScriptedEndpoint | None = None
        if script.recording is None:
            self._scripted = ScriptedEndpoint(script=script)
        else:
            self._recordings = recordings_of(path, script, match)
        self._endpoints: WeakKeyDictionary[iModel, Endpoint] = WeakKeyDictionary()
        self._token: Token[Player | None] | None = None

    def endpoint_of(self, model: iModel, provider: str | None, name: str | None) -> Endpoint | None:
        """Return the endpoint that serves ``model``, the same one throughout the block."""
        held = {recording.identity.provider for recording in self._recordings.values()}
        if provider == SCRIPTED_PROVIDER and SCRIPTED_PROVIDER not in held:
            return None
        endpoint = self._endpoints.get(model)
        if endpoint is None:
            endpoint = self._scripted or serve_from(choose(self._recordings, provider, name), model.clock)
            self._endpoints[model] = endpoint
        return endpoint

    def unused_entries(self) -> list[ResponseEntry]:
        """Return what the block has not used, by model and then in the file's order."""
        if self._scripted is not None:
            return [entry for _, entry in self._scripted.script.unused_entries()]
        return [entry for recording in self._recordings.values() for entry in recording.unused_entries()]

    def __enter__(self) -> Self:
        self._token = player.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            player.reset(self._token)
            self._token = None
