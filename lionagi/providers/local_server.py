"""The child program behind ``provider="local"``: llama.cpp's HTTP server on a loopback port.

It is started by path, in a process of its own, and imports nothing of this package: a crash in native code ends this
process and not the notebook's kernel, and the start costs only what the model costs.

The protocol, one JSON object per line:

    standard input    {"model", "n_parallel", "n_ctx", "n_threads", "port", "api_key", "parent"}, then it stays open
    standard output   {"url": "http://127.0.0.1:…"} once the model is loaded, or {"error": …, "detail": …}

The process ends when standard input reaches end-of-file or when its parent is another process than the one named in
the settings, whatever ended the parent.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from importlib import import_module
from typing import Any

__all__ = ("main",)

_PARENT_CHECK_SECONDS = 1.0
_STDIN = 0


def main() -> None:
    """Serve until the parent is gone; never returns, because unloading the native server can hang."""
    answers = _private_stdout()
    settings: dict[str, Any] = json.loads(_read_line(_STDIN))
    _end_with_stdin()
    _end_with_parent(settings["parent"])
    try:
        server = _start(settings)
    except BaseException as error:
        _answer(answers, {"error": type(error).__name__, "detail": str(error)})
        os._exit(1)
    _answer(answers, {"url": server.listening_address})
    while os.read(_STDIN, 4096):
        pass
    os._exit(0)


def _start(settings: dict[str, Any]) -> Any:
    xllamacpp = import_module("xllamacpp")
    params: Any = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.port = settings["port"]
    params.n_parallel = settings["n_parallel"]
    params.n_ctx = settings["n_ctx"]
    for pool in (params.cpuparams, params.cpuparams_batch):
        pool.n_threads = settings["n_threads"]
        pool.poll = 0  # waiting threads sleep: a spinning one takes the processor from the notebook and from its peers
    params.verbosity = 1  # errors only: they are the reason that the parent shows
    # The port is open to every user of the machine and to every page in a browser, hence the key; the
    # slots endpoint would show other callers' prompts.
    params.api_keys = [settings["api_key"]]
    for name, value in {"endpoint_slots": False, "ui": False, "cors_origins": "", "offline": True}.items():
        if hasattr(params, name):  # names differ between releases of the server
            setattr(params, name, value)
    return xllamacpp.Server(params)


def _private_stdout() -> int:
    """Return a descriptor for our answers and send whatever native code prints to standard error."""
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers


def _answer(descriptor: int, answer: dict[str, Any]) -> None:
    os.write(descriptor, json.dumps(answer).encode() + b"\n")


def _read_line(descriptor: int) -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            os._exit(0)
        line += byte
    return bytes(line)


def _end_with_stdin() -> None:
    """Let the kernel end us when standard input closes, where it can.

    Loading a model holds the interpreter lock, for a large one longer than a parent's death may go unnoticed, so no
    thread of ours could see it. SIGIO's default action ends the process.
    """
    if sys.platform != "linux":
        return
    import fcntl

    fcntl.fcntl(_STDIN, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(_STDIN, fcntl.F_SETFL, fcntl.fcntl(_STDIN, fcntl.F_GETFL) | os.O_ASYNC)


def _end_with_parent(parent: int) -> None:
    """End when the parent changes: a fork of the parent may hold the other end of standard input open."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_CHECK_SECONDS)
        os._exit(0)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


if __name__ == "__main__":
    main()
