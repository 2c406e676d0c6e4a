"""A recording while it is served: which answers are left, found by what was asked."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from lionagi._errors import ConfigurationError, ScriptExhaustedError, StaleRecordingError

from ._fingerprint import fingerprint, request_text
from ._script import ScriptModel
from ._types import RecordedModel, ResponseEntry

__all__ = ("Match", "Recording", "open_recordings", "recordings_of", "rewind")

Match = Literal["prompt", "position"]
_DIFF_LINES = 60


class Recording:
    """The answers of one recorded model in one file, and which of them were served in this process."""

    def __init__(
        self, path: Path, identity: RecordedModel, entries: Sequence[ResponseEntry], match: Match = "prompt"
    ) -> None:
        self.path = path
        self._match = match
        self.identity = identity
        self._entries = entries
        self._lock = threading.Lock()
        self._unserved: dict[int, ResponseEntry] = {}
        self._by_print: dict[str | None, deque[int]] = {}
        self.rewind()

    def rewind(self) -> None:
        """Serve every answer again."""
        with self._lock:
            self._unserved = dict(enumerate(self._entries))
            self._by_print = {}
            for index, entry in self._unserved.items():
                self._by_print.setdefault(_print_of(entry), deque()).append(index)

    def take(self, payload: Mapping[str, Any]) -> ResponseEntry:
        """Serve the next answer that was recorded for this request.

        Raises:
            ScriptExhaustedError: Every answer was served.
            StaleRecordingError: Answers are left, but for other requests; the message shows the difference.
        """
        wanted = fingerprint(payload)
        with self._lock:
            if (index := self._next(wanted)) is not None:
                return self._unserved.pop(index)
            unserved = list(self._unserved.values())
        if not unserved:
            raise ScriptExhaustedError(
                f"the recording {str(self.path)!r} is used up: all {len(self._entries)} answers of "
                f"{self.identity.key} were served; record again, or call rewind() to serve them again"
            )
        raise StaleRecordingError(self._stale(payload, wanted, unserved))

    def _next(self, wanted: str) -> int | None:
        if self._match == "position":
            return next(iter(self._unserved), None)
        # an entry written by hand has no fingerprint and answers whatever comes
        queue = self._by_print.get(wanted) or self._by_print.get(None)
        return queue.popleft() if queue else None

    def unused_entries(self) -> list[ResponseEntry]:
        """Return the answers that were not served yet, in their order."""
        with self._lock:
            return list(self._unserved.values())

    def _stale(self, payload: Mapping[str, Any], wanted: str, unserved: list[ResponseEntry]) -> str:
        from rapidfuzz import fuzz

        now = request_text(payload)
        recorded = [entry.recording.prompt for entry in unserved if entry.recording is not None]
        closest = max(recorded, key=lambda text: fuzz.ratio(text, now), default="")
        lines = unified_diff(closest.splitlines(), now.splitlines(), "recorded", "now", lineterm="", n=1)
        diff = list(lines)[:_DIFF_LINES] or ["(no visible difference: the same request was served before)"]
        repeated = " (its recorded answers were served before)" if wanted in self._by_print else ""
        return (
            f"the recording {str(self.path)!r} holds no answer of {self.identity.key} for this prompt{repeated}; "
            f"{len(unserved)} answers to other prompts are left. Against the closest one:\n"
            + "\n".join(diff)
            + "\nRecord again if the change is meant: with mode 'record', or after deleting the file."
        )


def _print_of(entry: ResponseEntry) -> str | None:
    return entry.recording.fingerprint if entry.recording is not None else None


_LOCK = threading.Lock()
_OPEN: dict[Path, tuple[tuple[int, int], dict[str, Recording]]] = {}


def open_recordings(path: Path) -> dict[str, Recording]:
    """Return the file's recordings by ``RecordedModel.key``, the same objects at every call in this process.

    A file that changed on disk is read again and starts anew.
    """
    resolved = path.expanduser().resolve()
    stat = resolved.stat()
    signature = (stat.st_mtime_ns, stat.st_size)
    with _LOCK:
        known = _OPEN.get(resolved)
        if known is None or known[0] != signature:
            known = _OPEN[resolved] = (signature, recordings_of(resolved, ScriptModel.coerce(resolved)))
        return known[1]


def recordings_of(path: Path, script: ScriptModel, match: Match = "prompt") -> dict[str, Recording]:
    """Return a recorded script's models with their answers, by ``RecordedModel.key``, each at its start.

    Args:
        path: Where the script was read; messages name it.
        script: One with a recording block.
        match: Whether a request gets the answer to the same prompt, or the next one.
    """
    if script.recording is None:
        raise ConfigurationError(
            f"{str(path)!r} is a script and no recording: it has no recording block; "
            "serve it with provider='scripted' and script="
        )
    models = [script.recording, *script.recording.others]
    sources: dict[str, list[ResponseEntry]] = {model.key: [] for model in models}
    for entry in script.responses:
        source = entry.recording.source if entry.recording is not None else None
        sources.setdefault(source or script.recording.key, []).append(entry)
    by_key = {model.key: model for model in models}
    if unknown := sorted(sources.keys() - by_key.keys()):
        raise ConfigurationError(
            f"{str(path)!r} names the model {unknown[0]!r}, which its recording block does not list"
        )
    return {key: Recording(path, by_key[key], entries, match) for key, entries in sources.items()}


def rewind(path: str | Path | None = None) -> None:
    """Serve the answers of a recording again from its start; None is every recording used in this process."""
    with _LOCK:
        wanted = None if path is None else Path(path).expanduser().resolve()
        chosen = [found for opened, (_, found) in _OPEN.items() if wanted in (None, opened)]
    for recordings in chosen:
        for recording in recordings.values():
            recording.rewind()
