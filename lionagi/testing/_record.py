"""Recording real calls, so that the same code can be replayed for ever without the model."""

from __future__ import annotations

import warnings
from contextvars import Token
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, cast

from lionagi.ln.files import write_atomic
from lionagi.ln.secrets import scrub
from lionagi.ln.yamls import dump_yaml
from lionagi.service.api_calling import APICalling
from lionagi.service.replay import Recorder, recorder
from lionagi.service.types import StreamChunk

from ._entries import entry_of, model_of
from ._types import RecordedModel, ResponseEntry, ScriptRecording

__all__ = ("CallRecorder", "record")


def record(path: str | Path) -> CallRecorder:
    """Record every model call of a block into a file that ``iModel(replay=path)`` or LIONAGI_REPLAY serves.

    Works with ``with`` and ``async with``, for calls of any provider and for tasks that the block starts. The file is
    written once, at the end of the block, also where the block failed: calls in the order of their start, credentials
    masked. A block without a call leaves the file as it was, with a UserWarning.
    """
    return CallRecorder(path)


class CallRecorder(Recorder):
    """What ``record`` returns; it listens from the start of the block to its end."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self._calls: list[tuple[float, RecordedModel, ResponseEntry]] = []
        self._secrets: set[str] = set()
        self._token: Token[Recorder | None] | None = None

    def record(self, call: APICalling, chunks: list[StreamChunk] | None) -> None:
        """Keep a finished call; its answer and prompt are read now, because history may change later."""
        if self._token is None:
            return
        self._secrets.update(call.endpoint.config.secrets())
        self._calls.append((call.started_at or 0.0, model_of(call), entry_of(call, chunks)))

    def __enter__(self) -> Self:
        self._token = recorder.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            recorder.reset(self._token)
            self._token = None
        if self._calls:
            write_atomic(self.path, dump_yaml(self._masked(self._script())))
        else:
            warnings.warn(f"no model was called, so nothing was recorded in {str(self.path)!r}", stacklevel=2)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    def _script(self) -> dict[str, Any]:
        """Return the script as it is written: only what differs from the defaults, types and version always."""
        calls = sorted(self._calls, key=lambda call: call[0])
        models = {model.key: model for _, model, _ in calls}
        first, *others = models.values()
        when = datetime.fromtimestamp(calls[0][0], UTC).isoformat(timespec="seconds")
        block = ScriptRecording(**first.model_dump(), when=when, others=others)
        responses: list[dict[str, Any]] = []
        for _, model, entry in calls:
            if model.key != first.key and entry.recording is not None:
                entry.recording.source = model.key
            fields = entry.model_dump(mode="json", exclude_defaults=True, fallback=str)
            responses.append({"type": entry.type, **fields})
        source = block.model_dump(mode="json", exclude=None if others else {"others"})
        return {"version": 2, "recording": source, "responses": responses}

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return scrub(value, self._secrets)
        if isinstance(value, dict):
            return {key: self._masked(each) for key, each in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [self._masked(each) for each in cast("list[Any]", value)]
        return value
