"""This process's local servers: started at first use, shared, started again after a crash, stopped at exit.

There is one child for each model file and set of server settings, whichever models, threads and event loops use it.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lionagi._errors import ConfigurationError, ProviderError, ProviderTimeoutError, TimeoutError
from lionagi.service.connections.subprocess import Child, spawn

__all__ = ("LocalAddress", "LocalServer", "LocalServerSettings", "local_server", "stop_local_servers")

_PROGRAM = Path(__file__).with_name("local_server.py")
_REASON_LIMIT = 300


@dataclass(frozen=True, slots=True)
class LocalServerSettings:
    """What distinguishes one local server from another.

    Attributes:
        model: The GGUF file.
        n_parallel: How many answers are generated at once; further calls wait their turn.
        n_ctx: Tokens of context in all; each of the parallel answers has its share.
        n_threads: Processor threads; 0 leaves one processor to the rest of the machine. The threads wait for each
            other at every step, so that with all processors a busy machine slows them down a hundredfold.
        port: The loopback port; 0 lets the system choose one.
        start_timeout: Seconds that loading the model may take; not part of the identity.
    """

    model: Path
    n_parallel: int = 2
    n_ctx: int = 4096
    n_threads: int = 0
    port: int = 0
    start_timeout: float = field(default=60.0, compare=False)


@dataclass(frozen=True, slots=True)
class LocalAddress:
    """Where a running server listens, and the key that only this process knows."""

    url: str
    api_key: str = field(repr=False)
    pid: int


class LocalServer:
    """One child process that serves one model; every method may be called from any thread."""

    def __init__(self, settings: LocalServerSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._address: LocalAddress | None = None

    @property
    def address(self) -> LocalAddress | None:
        """The running server's address; None while none runs, also after it was killed. Never blocks."""
        child, address = self._child, self._address
        return address if child is not None and child.returncode is None else None

    @property
    def stderr_tail(self) -> str:
        """What the present or last child wrote to standard error, "" where none was started."""
        return self._child.stderr_tail if self._child is not None else ""

    def start(self, timeout: float | None = None) -> LocalAddress:
        """Return the address of the running server, starting it where none runs; blocks while the model loads.

        Args:
            timeout: Seconds that loading may take; the settings' own when omitted.

        Raises:
            ConfigurationError: The port is taken.
            ProviderTimeoutError: No answer in time.
            ProviderError: The server could not load the model; the message has its last error line.
        """
        with self._lock:
            if (address := self.address) is not None:
                return address
            self._end()
            api_key = secrets.token_urlsafe(32)
            self._child = child = spawn([sys.executable, "-P", str(_PROGRAM)])
            try:
                url = self._handshake(child, api_key, timeout or self._settings.start_timeout)
            except BaseException:
                self._end()
                raise
            self._address = address = LocalAddress(url, api_key, child.pid)
            return address

    def stop(self) -> None:
        """End the child process, also one that is still loading; the next ``start`` makes a new one."""
        # Without the lock, which a start in another thread holds for as long as the model loads.
        if (child := self._child) is not None:
            child.stop()

    def _end(self) -> None:
        child, self._child, self._address = self._child, None, None
        if child is not None:
            child.stop()

    def _handshake(self, child: Child, api_key: str, timeout: float) -> str:
        settings = self._settings
        request: dict[str, Any] = {
            "model": str(settings.model),
            "n_parallel": settings.n_parallel,
            "n_ctx": settings.n_ctx,
            "n_threads": settings.n_threads or max(1, (os.cpu_count() or 1) - 1),
            "port": settings.port,
            "api_key": api_key,
            "parent": os.getpid(),
        }
        try:
            child.write_line(json.dumps(request))
            line = child.read_line(timeout)
        except TimeoutError as error:
            raise ProviderTimeoutError(
                f"the local server did not answer within {timeout:g} s of loading {str(settings.model)!r}; "
                "pass a longer start_timeout or a smaller model",
                provider="local",
                cause=error,
            ) from error
        except OSError:  # it ended before it read its settings; its standard error says why
            line = None
        answer: dict[str, Any] = json.loads(line) if line else {}
        if url := answer.get("url"):
            return url
        child.stop()
        raise self._start_error(child, answer)

    def _start_error(self, child: Child, answer: dict[str, Any]) -> Exception:
        settings, tail = self._settings, child.stderr_tail
        if "couldn't bind" in tail:
            return ConfigurationError(
                f"port {settings.port} is taken; choose another one, or leave port out and a free one is used"
            )
        reason = _reason(tail) or answer.get("detail") or f"its process ended with status {child.returncode}"
        return ProviderError(
            f"the local server could not load {str(settings.model)!r}: {reason[:_REASON_LIMIT]}; "
            "check that the file is a complete GGUF model and that n_ctx fits into memory",
            provider="local",
            stderr_tail=tail,
        )


def _reason(tail: str) -> str:
    """Return the first error line of the server's log without its time stamp and level, "" where there is none."""
    errors = [line for line in tail.splitlines() if " E " in line] or tail.splitlines()[-1:]
    return errors[0].rpartition(" E ")[2].strip() if errors else ""


_servers: dict[LocalServerSettings, LocalServer] = {}
_servers_lock = threading.Lock()
_inherited: list[LocalServer] = []


def local_server(settings: LocalServerSettings) -> LocalServer:
    """Return this process's server for these settings; it is not started here."""
    with _servers_lock:
        return _servers.setdefault(settings, LocalServer(settings))


def stop_local_servers() -> None:
    """Stop every local server of this process; the next call to a local model starts its server again."""
    with _servers_lock:
        servers = list(_servers.values())
    for server in servers:
        server.stop()


def _forget_servers() -> None:
    """After a fork: the parent's children are not ours to use or to stop, and its locks may be held for ever."""
    global _servers, _servers_lock
    _inherited.extend(_servers.values())
    _servers, _servers_lock = {}, threading.Lock()


atexit.register(stop_local_servers)
os.register_at_fork(after_in_child=_forget_servers)
