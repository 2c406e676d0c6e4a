"""What the command says: answers on standard output, everything else on standard error, all of it inert.

Whatever came from a model, a tool, a file or the command line passes :func:`~lionagi.ln.hidden.reveal` or
:func:`~lionagi.ln.hidden.one_line` before it is written. Colours appear on a terminal only.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

import click

from lionagi.ln.hidden import one_line, reveal

__all__ = ("hint", "log_error", "log_warning", "messages_on_stderr", "on_terminal", "show", "show_json", "waiting")

_COLOURS = {"error": "red", "warning": "yellow"}
_KEY_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_KEY = 8
_logger = logging.getLogger("lionagi.cli")


def show(text: str, *, end: str = "\n") -> None:
    """Write prose to standard output, made inert."""
    click.echo(_encodable(reveal(text), sys.stdout), nl=False)
    click.echo(end, nl=False)


def show_json(data: Any) -> None:
    """Write one JSON object in ASCII to standard output, which loses nothing and is inert by itself."""
    import json

    click.echo(json.dumps(data, indent=2, default=str))


def on_terminal() -> bool:
    """Return whether standard output is a terminal."""
    stream: Any = sys.stdout
    return stream is not None and stream.isatty()


def hint(text: str) -> None:
    """Say something beside the answer, on one line of standard error."""
    _say(click.style(_encodable(_line(text), sys.stderr), dim=True))


def log_error(text: str) -> None:
    """Say on one line why the command fails."""
    _logger.error("%s", text)


def log_warning(text: str) -> None:
    """Say on one line what did not work although the command goes on."""
    _logger.warning("%s", text)


class _StderrLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname.lower()
        text = _line(record.getMessage())
        prefix = click.style(f"{level}:", fg=_COLOURS.get(level))
        _say(f"{prefix} {_encodable(text, sys.stderr)}")


@contextmanager
def messages_on_stderr() -> Generator[None]:
    """Write this package's warnings and errors to standard error while the command runs."""
    package = logging.getLogger("lionagi")
    handler = _StderrLines(logging.WARNING)
    package.addHandler(handler)
    try:
        yield
    finally:
        package.removeHandler(handler)


@contextmanager
def waiting(for_whom: str) -> Generator[None]:
    """Show on a terminal that an answer is awaited; nothing where standard error is no terminal."""
    stream: Any = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"waiting for {one_line(for_whom)}")):
        yield


def _say(text: str) -> None:
    with suppress(OSError):  # nobody listens, which changes neither the answer nor the status
        click.echo(text, err=True)


def _line(text: str) -> str:
    """Return the text on one inert line; a key that reached it in spite of everything before is masked here."""
    for name, value in os.environ.items():
        if name.upper().endswith(_KEY_NAMES) and len(value) >= _SHORTEST_KEY:
            text = text.replace(value, "***")
    return one_line(text)


def _encodable(text: str, stream: Any) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
