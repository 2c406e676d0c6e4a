"""The entry point of the command ``li``."""

from __future__ import annotations

import click

from lionagi.version import __version__

__all__ = ("main",)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="li", message="%(prog)s %(version)s")
def main() -> None:
    """Composed language-model calls from the terminal."""
