"""What a streamed exchange leaves on disk when it is asked to: a snapshot before and after, and the chunks between."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lionagi.ln.files import append_line, remove_file, write_atomic
from lionagi.ln.jsons import json_dumps

if TYPE_CHECKING:
    from lionagi.operations.types import RunParam
    from lionagi.protocols.messages.instruction import Instruction
    from lionagi.service.types import StreamChunk
    from lionagi.session.branch import Branch

__all__ = ("Persistence",)


class Persistence:
    """Made only where ``stream_persist`` is set.

    The snapshot ``<snapshot_dir or persist_dir>/<branch id>.json`` is replaced atomically before the stream starts
    (the branch with the instruction that is under way) and after it ended. The buffer
    ``<persist_dir>/<branch id>.buffer.jsonl`` holds one JSON line for each chunk and is removed at the end.
    """

    def __init__(self, branch: Branch, param: RunParam, instruction: Instruction) -> None:
        self._branch = branch
        self._instruction = instruction
        directory = Path(param.persist_dir)
        self._buffer = directory / f"{branch.id}.buffer.jsonl"
        self._snapshot = Path(param.snapshot_dir or directory) / f"{branch.id}.json"

    def begin(self) -> None:
        """Write the snapshot that holds the instruction under way."""
        self._write([self._instruction])

    def chunk(self, chunk: StreamChunk) -> None:
        """Append one chunk to the buffer."""
        append_line(self._buffer, json_dumps(chunk.to_dict()))

    def end(self) -> None:
        """Write the snapshot of the finished turn and remove the buffer."""
        self._write([])
        remove_file(self._buffer)

    def _write(self, under_way: list[Any]) -> None:
        write_atomic(self._snapshot, json_dumps(self._branch.snapshot(under_way)))
