from __future__ import annotations

from click.testing import CliRunner

from lionagi import __version__
from lionagi.cli.main import main


def test_version_is_the_packages_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert (result.exit_code, result.output) == (0, f"li {__version__}\n")


def test_help_fits_80_columns() -> None:
    result = CliRunner().invoke(main, ["-h"])
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80


def test_an_unknown_command_is_one_line_and_status_2() -> None:
    result = CliRunner().invoke(main, ["fly"])
    assert result.exit_code == 2
    assert "No such command 'fly'" in result.output
