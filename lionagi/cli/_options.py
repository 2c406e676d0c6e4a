"""Options that several commands share, and where the prompt comes from."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

__all__ = ("json_option", "positive_seconds", "prompt_of")

_PROMPT_MAX_BYTES = 16 * 1024 * 1024

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")
"""The switch that every command has."""


def positive_seconds(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Return the number of seconds, None where the option is not given; zero, infinity and the like are refused."""
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"{value!r} is not a positive number of seconds", ctx, param)
    return value


def prompt_of(words: tuple[str, ...], text: str | None, path: str | None, stdin: Any) -> tuple[str | None, str]:
    """Return (model or None, prompt) from the arguments ``[MODEL] PROMPT`` and the two options that replace PROMPT.

    Raises:
        UsageError: None or more than one prompt is given, or an empty one, or too many arguments.
        ClickException: The file cannot be read.
    """
    if text is not None and path is not None:
        raise click.UsageError("--prompt and --prompt-file are mutually exclusive")
    given = text is not None or path is not None
    if len(words) > (1 if given else 2):
        raise click.UsageError(f"{len(words)} arguments where {'MODEL' if given else '[MODEL] PROMPT'} is expected")
    if not (words or given):
        raise click.UsageError("there is no prompt: give it as PROMPT, --prompt or --prompt-file")
    if path is not None:
        text = _read(path, stdin)
    prompt = words[-1] if text is None else text
    model = words[0] if len(words) == (1 if given else 2) else None
    if not prompt.strip():
        raise click.UsageError("the prompt is empty")
    if model is not None and not model.strip():
        raise click.UsageError("MODEL is empty; leave it out for the default")
    return model, prompt


def _read(path: str, stdin: Any) -> str:
    try:
        if path == "-":
            data = getattr(stdin, "buffer", stdin).read(_PROMPT_MAX_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(_PROMPT_MAX_BYTES + 1)
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
    except (OSError, ValueError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise click.ClickException(f"prompt file {path} cannot be read: {reason}") from error
    if len(data) > _PROMPT_MAX_BYTES:
        raise click.ClickException(f"prompt file {path} has more than {_PROMPT_MAX_BYTES} bytes")
    return text.rstrip("\r\n")  # as a shell's $(cat FILE) does
