"""The group behind ``li``: its commands load when they are called, and however they end, no traceback is seen."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import click

from lionagi import cli
from lionagi.cli._output import log_error, messages_on_stderr
from lionagi.ln.hidden import one_line, reveal

__all__ = ("EXIT_CODES", "Commands")

EXIT_CODES = {
    "completed": 0,
    "failed": 1,
    "usage": 2,
    "timed_out": 124,
    "aborted": 130,
    "broken_pipe": 141,
    "terminated": 143,
}
"""How the command ended, and the status that says so."""


class Commands(click.Group):
    """A group whose commands are names in :mod:`lionagi.cli`, given with their short help.

    A command returns its exit status. Errors are one line on standard error; the statuses are ``EXIT_CODES``.
    """

    summaries: ClassVar[dict[str, str]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which the help shows them."""
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load and return a command, None where there is none of that name."""
        return getattr(cli, f"{cmd_name}_command") if cmd_name in self.summaries else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run and exit with the command's status; without ``standalone_mode`` return it and let errors through."""

        name = prog_name or "li"
        if not standalone_mode or f"_{name.upper()}_COMPLETE" in os.environ:
            return super().main(args, name, complete_var, standalone_mode, **extra)
        # Not through click's own main, which ends with status 1 where nobody reads the output any more.
        with messages_on_stderr():
            status = self._run(list(sys.argv[1:] if args is None else args), name, extra)
        sys.exit(status)

    def _run(self, args: list[str], name: str, extra: dict[str, Any]) -> int:
        try:
            try:
                if not all(map(_can_be_passed, args)):
                    raise click.UsageError("an argument holds a character that no system passes")
                with self.make_context(name, args, **extra) as context:
                    status = self.invoke(context)
            except click.exceptions.Exit as ended:
                status = ended.exit_code
            except click.ClickException as error:
                _explain(error)
                status = error.exit_code
            if (output := _stdout()) is not None:
                output.flush()
        except (click.Abort, KeyboardInterrupt):
            return EXIT_CODES["aborted"]
        except OSError as error:
            return _output_failed(error)
        except Exception as error:
            return _failed(error)
        return status if isinstance(status, int) else 0


def _can_be_passed(word: str) -> bool:
    try:
        return b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False


def _failed(error: Exception) -> int:
    log_error(f"{type(error).__name__}: {error}")
    return EXIT_CODES["failed"]


def _output_failed(error: OSError) -> int:
    # Closed now, or the interpreter would try to write the rest at its end and complain.
    with suppress(OSError, AttributeError):
        _stdout().close()
    return EXIT_CODES["broken_pipe"] if error.errno == errno.EPIPE else _failed(error)


def _explain(error: click.ClickException) -> None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        click.echo(reveal(context.get_usage()), err=True)
    log_error(error.format_message())
    if context is not None:
        click.echo(f"Try '{one_line(context.command_path)} --help'.", err=True)


def _stdout() -> Any:
    return sys.stdout  # None where it was closed before the interpreter started
