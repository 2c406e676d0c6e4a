"""What a streamed exchange leaves on disk when it is asked to, and how a branch is recovered from it.

The snapshot ``<snapshot_dir or persist_dir>/<branch id>.json`` is replaced atomically before the stream starts, when it
has ended, and when the turn has recorded its tool calls. It is on the disk, synced, when that step is over: a turn that
returned survives a kill and a power cut. Its ``metadata["under_way"]`` names the exchanges that were not over.

The buffer ``<persist_dir>/<branch id>.buffer.jsonl`` gets one JSON line for each chunk as it arrives, with the id of
the instruction that it answers. A line is handed to the system before the chunk goes on, and not synced: it survives
the end of the process, and a power cut only by luck. The buffer is removed when its last exchange is over.

A disk that fails costs the turn nothing: the failure is logged, kept in ``branch.logs`` as a record of the kind
"persistence", and the stream goes on. Buffering stops at the first line that fails, so that no gap can arise.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from lionagi._errors import LionError, NotFoundError, ValidationError, short_repr
from lionagi.ln.files import append_line, remove_file, write_atomic
from lionagi.ln.jsons import json_dumps, loads_json
from lionagi.operations._records import error_record
from lionagi.operations._turn import UNDER_WAY
from lionagi.operations.run._collect import Collector
from lionagi.protocols.generic.log import Log
from lionagi.service.types import StreamChunk

if TYPE_CHECKING:
    from lionagi.operations._turn import Turn
    from lionagi.operations.types import RunParam
    from lionagi.protocols.messages.instruction import Instruction
    from lionagi.session.branch import Branch

__all__ = ("Persistence", "recover_branch")

B = TypeVar("B", bound="Branch")

_INSTRUCTION = "instruction"
_FIELDS = ("type", "content", "tool_name", "tool_id", "tool_input", "tool_output", "is_error", "is_delta", "metadata")
# Turns of this process that stream into a buffer: the last one of a branch removes it.
_streaming: Counter[Path] = Counter()


class Persistence:
    """The files of one streamed exchange; made only where ``stream_persist`` is set."""

    def __init__(self, branch: Branch, param: RunParam, instruction: Instruction, turn: Turn) -> None:
        self._branch = branch
        self._turn = turn
        self._instruction_id = str(instruction.id)
        directory = Path(param.persist_dir).absolute()
        self._buffer = _buffer_of(directory, branch.id)
        self._snapshot = Path(param.snapshot_dir or directory).absolute() / f"{branch.id}.json"
        self._buffering = False
        self._begun = False

    def begin(self) -> None:
        """Write the snapshot that holds the instruction under way, and remove the buffer of a turn that was killed.

        Raises:
            ValidationError: The snapshot's place is taken by a symbolic link or by what is no regular file.
        """
        self._buffering = self._safely(self._write, self._snapshot, refuse=True)
        # Only now: a kill before the new snapshot leaves the old pair, and a kill here leaves lines nobody asks for.
        if not _streaming[self._buffer]:
            self._safely(self._remove, self._buffer)
        _streaming[self._buffer] += 1
        self._begun = True

    def chunk(self, chunk: StreamChunk) -> None:
        """Append one chunk to the buffer."""
        if self._buffering:
            self._buffering = self._safely(lambda: self._append(chunk), self._buffer)

    def end(self) -> None:
        """Write the snapshot of what the branch holds now, and remove the buffer unless another turn needs it.

        Without that snapshot the buffer stays, since it holds what the older one lacks. What the turn records later
        is saved as well.
        """
        if not self._begun:
            return
        self._turn.save = self.save
        _streaming[self._buffer] -= 1
        if not _streaming[self._buffer]:
            del _streaming[self._buffer]
            if self.save():
                self._safely(self._remove, self._buffer)
        else:
            self.save()

    def save(self) -> bool:
        """Write the snapshot and return whether that worked."""
        return self._safely(self._write, self._snapshot)

    def _write(self) -> None:
        write_atomic(self._snapshot, json_dumps(self._branch.snapshot()))

    def _append(self, chunk: StreamChunk) -> None:
        append_line(self._buffer, json_dumps({**chunk.to_dict(), _INSTRUCTION: self._instruction_id}))

    def _remove(self) -> None:
        remove_file(self._buffer)

    def _safely(self, step: Callable[[], None], path: Path, *, refuse: bool = False) -> bool:
        try:
            step()
        except Exception as error:
            if refuse and isinstance(error, ValidationError):
                raise
            return self._failed(error, path)
        return True

    def _failed(self, error: Exception, path: Path) -> bool:
        import logging

        logging.getLogger(__name__).error(
            "%s was not written, so a kill can lose this turn: %s: %s", path, type(error).__name__, error
        )
        record = {"kind": "persistence", "turn": self._turn.id, "verb": self._turn.verb, "status": "error"}
        self._branch.logs.append(Log(content={**record, "path": str(path), "error": error_record(error)}))
        return False


def recover_branch(kind: type[B], path: str | PathLike[str], persist_dir: str | PathLike[str] | None = None) -> B:
    """Return the branch of a snapshot with what the buffer holds of the turns that were under way.

    See :meth:`lionagi.session.branch.Branch.from_snapshot`.
    """
    snapshot = Path(path)
    data = _read(snapshot)
    try:
        blocks: dict[str, list[str]] = data.get("metadata", {}).pop(UNDER_WAY, {})
        branch = kind.from_dict(data)
        asked = {each: cast("Instruction", branch.messages[UUID(each)]) for each in blocks}
    except Exception as error:
        raise ValidationError(f"{snapshot} does not hold a branch: {short_repr(error)}", cause=error) from error
    collectors: dict[str, Collector] = {}
    for which, chunk in _chunks(_buffer_of(Path(persist_dir or snapshot.parent), branch.id)):
        if which in asked:
            if which not in collectors:
                collectors[which] = Collector(branch, asked[which], branch.chat_model.endpoint)
            collectors[which].feed(chunk)
    for which, collector in collectors.items():
        for outdated in blocks[which]:
            branch.messages.exclude(UUID(outdated))
        at = branch.messages.keys().index(asked[which].id) + 1
        for offset, message in enumerate(_messages(collector)):
            branch.messages.insert(at + offset, message)
    return branch


def _messages(collector: Collector) -> list[Any]:
    if collector.complete or collector.ended:
        try:
            collector.finish()
        except LionError as error:  # the model that the branch names need not be the one that answered
            warnings.warn(f"the recovered answer has its text only: {error}", UserWarning, stacklevel=4)
    return collector.so_far()


def _buffer_of(directory: Path, branch_id: UUID) -> Path:
    return directory / f"{branch_id}.buffer.jsonl"


def _read(snapshot: Path) -> dict[str, Any]:
    try:
        data = loads_json(snapshot.read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no snapshot {snapshot}", cause=error) from error
    except (OSError, LionError) as error:
        raise ValidationError(f"{snapshot} cannot be read: {error}", cause=error) from error
    if not isinstance(data, dict):
        raise ValidationError(f"{snapshot} does not hold a JSON object")
    return cast("dict[str, Any]", data)


def _chunks(buffer: Path) -> Iterator[tuple[str, StreamChunk]]:
    """Yield the instruction's id and the chunk of each whole line; a line that a kill has torn is skipped."""
    if not buffer.is_file():
        return
    with buffer.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line == b"\n":
                continue
            try:
                fields = loads_json(line)
                yield fields[_INSTRUCTION], _chunk(fields)
            except (LionError, LookupError, TypeError) as error:
                text = f"{buffer}, line {number}: skipped, it is no whole record ({type(error).__name__})"
                warnings.warn(text, UserWarning, stacklevel=4)


def _chunk(fields: dict[str, Any]) -> StreamChunk:
    chunk = StreamChunk(**{name: fields[name] for name in _FIELDS if name in fields})
    if not isinstance(chunk.content, str | None) or not isinstance(chunk.metadata, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("content is text, metadata a mapping")
    return chunk
