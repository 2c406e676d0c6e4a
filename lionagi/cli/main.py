"""The entry point of the command ``li``."""

from __future__ import annotations

from typing import ClassVar

import click

from lionagi.cli._entry import Commands
from lionagi.version import __version__

__all__ = ("main",)


class _Li(Commands):
    summaries: ClassVar[dict[str, str]] = {
        "agent": "Ask a model once, with a checked form in front if you like.",
        "form": "Check form files, write them from a model class, show their schema.",
        "script": "Check scripts and recordings, explain them, make one of a saved conversation.",
    }


@click.group(cls=_Li, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="li", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Composed language-model calls from the terminal."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
