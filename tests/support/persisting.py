"""Processes that persist their turns and are killed, by their own hand at a chosen I/O call or from outside.

``Nursery`` starts one interpreter that has imported everything and forks a process for each job, so that a thousand
kills of real processes take seconds. A job is a branch with ``TURNS`` turns in one directory: streamed text and tool
calls in turn. Each process says ``chunk T N`` when the chunk N of turn T has been taken, and ``turn T`` when the verb
has returned.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

TURNS = 4
PIECES = 5
CALLS = ("open", "write", "fsync", "replace", "mkdir", "unlink", "fchmod")
BRANCH_ID = "00000000-0000-4000-8000-{:012}"


def piece(turn: int, number: int) -> str:
    """Return the text of one chunk; the second is long and not ASCII."""
    return f"<{turn}.{number}>" + "ü" * (3000 if number == 1 else 1)


async def add_one(n: int) -> int:
    """Return the number plus one."""
    return n + 1


def streams(turn: int) -> bool:
    """Tell whether the turn is streamed text; else it asks for a tool."""
    return turn % 2 == 0


def _entry(turn: int) -> dict[str, Any]:
    if streams(turn):
        chunks = [{"type": "text", "content": piece(turn, number), "is_delta": True} for number in range(PIECES)]
        return {"type": "stream", "chunks": chunks}
    asked = {"function": "add_one", "arguments": {"n": turn}}
    return {"type": "structured", "data": {"action_required": True, "action_requests": [asked]}}


class _Killer:
    """Counts I/O calls and kills this process at the chosen one: before it, after it, or in the middle of a write."""

    def __init__(self, at: int, how: str) -> None:
        self.at, self.how = at, how
        self.calls: list[str] = []
        for name in CALLS:
            setattr(os, name, self._wrapped(name, getattr(os, name)))

    def _wrapped(self, name: str, real: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) != self.at or self.how == "returned":
                return real(*args, **kwargs)
            try:
                if self.how == "half" and name == "write":
                    return real(args[0], args[1][: len(args[1]) // 2])
                return real(*args, **kwargs) if self.how == "after" else None
            finally:
                os.kill(os.getpid(), signal.SIGKILL)

        return call

    def returned(self, turn: int) -> None:
        """Kill this process where it was to die as soon as the turn had returned."""
        if (self.at, self.how) == (turn, "returned"):
            os.kill(os.getpid(), signal.SIGKILL)


def _say(text: str, write: Any = os.write) -> None:
    write(1, f"{text}\n".encode())


async def _live(number: int, where: dict[str, Any], killer: _Killer) -> None:
    from lionagi.testing import TestBranch

    entries = [_entry(turn) for turn in range(TURNS)]
    branch = TestBranch.from_responses(entries, tools=[add_one], id=BRANCH_ID.format(number))
    for turn in range(TURNS):
        seen = 0

        def note(chunk: Any, turn: int = turn) -> None:
            nonlocal seen
            if seen:
                _say(f"chunk {turn} {seen - 1}")
            seen += 1

        branch.chat_model.streaming_process_func = note if where else None
        if streams(turn):
            async for _ in branch.run(f"turn {turn}", **where):
                pass
        else:
            await branch.operate(instruction=f"turn {turn}", actions=True, **where)
        if where:
            _say(f"turn {turn}")
            killer.returned(turn)
    if where:
        _say(f"calls {' '.join(killer.calls)}")


def _serve() -> None:
    asyncio.run(_live(0, {}, _Killer(0, "")))  # what the first call makes is made before the forks
    gc.freeze()
    for line in sys.stdin:
        job = json.loads(line)
        children = [_fork(job, number) for number in range(job["processes"])]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        _say(f"over {' '.join(map(str, codes))}")


def _fork(job: dict[str, Any], number: int) -> int:
    if (child := os.fork()) == 0:
        try:
            asyncio.run(_live(number, job["where"], _Killer(job["at"], job["how"])))
            os._exit(0)
        except BaseException as error:
            _say(f"failed {error!r}")
            os._exit(1)
    _say(f"started {child}")
    return child


class Nursery:
    """Runs jobs one after the other; ``with Nursery() as nursery: said = nursery.run(…)``."""

    def __enter__(self) -> Self:
        root = Path(__file__).resolve().parents[2]
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root), "HOME": "/nonexistent"}
        self._process = subprocess.Popen(
            [sys.executable, "-B", __file__], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate(timeout=50)

    def begin(self, directory: Path, *, at: int = 0, how: str = "", processes: int = 1) -> None:
        """Start a job in so many processes; ``at`` and ``how`` are where and how each kills itself."""
        assert self._process.stdin is not None
        places = {name: str(directory / name) for name in ("persist_dir", "snapshot_dir")}
        job = {"where": {"stream_persist": True, **places}, "at": at, "how": how, "processes": processes}
        print(json.dumps(job), file=self._process.stdin, flush=True)

    def said(self) -> Iterator[str]:
        """Yield what the processes say; the last words are ``over`` and their statuses."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield line.rstrip("\n")
            if line.startswith("over "):
                return

    def run(self, directory: Path, **job: Any) -> list[str]:
        """Run a job to its end and return what was said."""
        self.begin(directory, **job)
        return list(self.said())

    def run_killed(self, directory: Path, after: int) -> list[str]:
        """Run a job, kill its process from outside once ``after`` things were said, and return all that was said."""
        self.begin(directory)
        heard: list[str] = []
        child = 0
        for line in self.said():
            heard.append(line)
            if line.startswith("started "):
                child = int(line.split()[1])
            elif len(heard) > after and child:
                with suppress(ProcessLookupError):  # it may have come to its end by itself
                    os.kill(child, signal.SIGKILL)
        return heard


if __name__ == "__main__":
    _serve()
