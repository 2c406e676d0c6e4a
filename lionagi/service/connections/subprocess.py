"""The one door to child processes.

A child is started from an argument list (never a shell), in a process group of its own, so that an interrupt in the
terminal or notebook does not reach it and ending it ends its own children too. It belongs to no event loop: threads
drain its output, so that it can outlive the loop that started it and can never block on a full pipe.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import cast

from lionagi._errors import TimeoutError, short_repr

__all__ = ("Child", "spawn")

_STDERR_LIMIT = 256 * 1024
_LINE_LIMIT = 16 * 1024 * 1024
_POLL_SECONDS = 0.02


def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stderr_limit: int = _STDERR_LIMIT,
) -> Child:
    """Start a child process with pipes on all three standard streams.

    Args:
        argv: The program and its arguments; the program is looked up as usual, nothing is expanded.
        env: The whole environment; this process's own when omitted.
        cwd: The working directory; this process's own when omitted.
        stderr_limit: How many of the last bytes of standard error are kept.

    Raises:
        OSError: The program cannot be started (no such file, no permission).
    """
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if env is None else dict(env),
        cwd=cwd,
        bufsize=0,
        start_new_session=True,
    )
    return Child(process, stderr_limit)


class Child:
    """A running child process with line-wise input and output; safe to use from any thread."""

    def __init__(self, process: subprocess.Popen[bytes], stderr_limit: int) -> None:
        self._process = process
        self._owner = os.getpid()
        # Unbuffered pipes, hence raw files.
        self._stdin = cast("io.FileIO", process.stdin)
        self._stdout = cast("io.FileIO", process.stdout)
        self._stderr = cast("io.FileIO", process.stderr)
        self._tail = bytearray()
        self._tail_limit = stderr_limit
        # Bounded, so that a talkative child waits for its reader instead of filling our memory.
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=64)
        self._stopping = threading.Event()
        self._stop_lock = threading.Lock()
        self._reap_lock = threading.Lock()
        self._pumps = [
            threading.Thread(target=pump, name=f"child-{process.pid}", daemon=True)
            for pump in (self._pump_stdout, self._pump_stderr)
        ]
        for pump in self._pumps:
            pump.start()

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its process group."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while the child runs."""
        return self._reap()

    @property
    def stderr_tail(self) -> str:
        """The last bytes that the child wrote to standard error, as text."""
        if self.returncode is not None:
            self._pumps[1].join(1.0)
        return bytes(self._tail).decode("utf-8", "replace")

    def write_line(self, line: str) -> None:
        """Write one line to the child's standard input.

        Raises:
            OSError: The child has closed its end (BrokenPipeError) or ended.
        """
        self._stdin.write(line.encode() + b"\n")

    def read_line(self, timeout: float | None = None) -> str | None:
        """Return the next line of standard output without its newline, None at its end.

        Raises:
            TimeoutError: No line came within ``timeout`` seconds.
        """
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            program = short_repr(self._process.args)
            raise TimeoutError(f"{program} wrote no line within {timeout} s; allow more time or stop it") from None
        if line is None:
            self._lines.put(None)  # the next reader must see the end as well
            return None
        return line.decode("utf-8", "replace").rstrip("\r\n")

    def stop(self, grace: float = 1.5) -> int | None:
        """End the child and its process group: end-of-file on its input, then SIGTERM, then SIGKILL.

        Args:
            grace: Seconds to wait after each of the three.

        Returns:
            The exit status, None where even SIGKILL has not ended it within ``grace``.
        """
        with self._stop_lock:
            self._stopping.set()
            with contextlib.suppress(OSError):
                self._stdin.close()
            for number in (None, signal.SIGTERM, signal.SIGKILL):
                if number is not None:
                    self._signal_group(number)
                if self._wait(grace) is not None:
                    break
            for pump in self._pumps:
                pump.join(grace)
            return self._process.returncode

    def _wait(self, seconds: float) -> int | None:
        deadline = time.monotonic() + seconds
        while (status := self._reap()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return status

    def _reap(self) -> int | None:
        """Collect the exit status once there is one, after ending what is left of the child's group.

        Every wait goes through here: until the child is collected its id cannot be given to another process, so the
        signal cannot hit a stranger.
        """
        with self._reap_lock:
            if self._process.returncode is None and self._has_exited():
                self._signal_group(signal.SIGKILL)
                self._process.wait()
            return self._process.returncode

    def _has_exited(self) -> bool:
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # collected by someone else's wait for any child
            return True

    def _signal_group(self, number: int) -> None:
        if os.getpid() != self._owner:  # in a fork of the process that started it, the child is not ours to end
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _pump_stdout(self) -> None:
        with io.BufferedReader(self._stdout) as lines:
            while line := lines.readline(_LINE_LIMIT):
                self._offer(line)
        self._offer(None)

    def _offer(self, line: bytes | None) -> None:
        """Hand a line to the reader; once the child is being stopped nobody reads, so drop it."""
        while not self._stopping.is_set():
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=_POLL_SECONDS)
                return
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(line)

    def _pump_stderr(self) -> None:
        with self._stderr as stderr:
            while block := stderr.read(65536):
                self._tail += block
                del self._tail[: -self._tail_limit]
