"""Listening to real calls and writing them down as a script."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from contextvars import Token
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from lionagi._errors import RealModelCallError
from lionagi.ln.files import write_atomic
from lionagi.ln.secrets import is_credential_header, scrub
from lionagi.ln.yamls import dump_yaml
from lionagi.service.api_calling import APICalling
from lionagi.service.replay import Recorder, recorder
from lionagi.service.types import StreamChunk

from ._entries import entry_of, model_of
from ._script import ScriptModel
from ._types import RecordedModel, ResponseEntry, ScriptRecording

__all__ = ("CallRecorder",)

_SHORTEST_CREDENTIAL = 16


class CallRecorder(Recorder):
    """Listens from the start of a ``with`` block to its end, and then writes the file.

    Args:
        path: The file.
        mask: Further texts to write as asterisks, beside credentials.
        only_whole: Write nothing where the block fails.
    """

    def __init__(self, path: Path, mask: Iterable[str] = (), *, only_whole: bool = False) -> None:
        self.path = path
        self._only_whole = only_whole
        self._calls: list[tuple[float, RecordedModel, ResponseEntry]] = []
        self._secrets = set(mask)
        self._token: Token[Recorder | None] | None = None

    def record(self, call: APICalling, chunks: list[StreamChunk] | None) -> None:
        """Keep a finished call; its answer and prompt are read now, because history may change later."""
        if self._token is None or isinstance(call.execution.error, RealModelCallError):
            return
        self._secrets.update(call.endpoint.config.secrets())
        self._calls.append((call.started_at or 0.0, model_of(call), entry_of(call, chunks)))

    def __enter__(self) -> Self:
        self._token = recorder.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            recorder.reset(self._token)
            self._token = None
        if error is not None and self._only_whole:
            return
        if self._calls:
            self._secrets.update(_credentials_of_the_environment())
            write_atomic(self.path, dump_yaml(self._masked(self._script().to_mapping())))
        elif error is None:
            warnings.warn(f"no model was called, so nothing was recorded in {str(self.path)!r}", stacklevel=3)

    def _script(self) -> ScriptModel:
        calls = sorted(self._calls, key=lambda call: call[0])
        models = {model.key: model for _, model, _ in calls}
        first, *others = models.values()
        when = datetime.fromtimestamp(calls[0][0], UTC).isoformat(timespec="seconds")
        for _, model, entry in calls:
            if model.key != first.key and entry.recording is not None:
                entry.recording.source = model.key
        block = ScriptRecording(**first.model_dump(), when=when, others=others)
        return ScriptModel(version=2, recording=block, responses=[entry for _, _, entry in calls])

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return scrub(value, self._secrets)
        if isinstance(value, dict):
            return {key: self._masked(each) for key, each in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [self._masked(each) for each in cast("list[Any]", value)]
        return value


def _credentials_of_the_environment() -> set[str]:
    """Return what is held by variables named like a key or token; a short value is rather a setting than a secret."""
    return {
        value for name, value in os.environ.items() if len(value) >= _SHORTEST_CREDENTIAL and is_credential_header(name)
    }
