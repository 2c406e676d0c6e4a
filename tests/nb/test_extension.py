"""Loading the extension registers formatters; unloading leaves the shell as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import lionagi_nb as nb


class Shell:
    """What the extension uses of an IPython shell, with IPython's own formatters."""

    def __init__(self) -> None:
        self.display_formatter = DisplayFormatter()


def state(shell: Any) -> list[dict[Any, Any]]:
    formatter = shell.display_formatter.mimebundle_formatter
    return [dict(formatter.type_printers), dict(formatter.deferred_printers), dict(vars(shell))]


@pytest.fixture
def shell() -> Iterator[Any]:
    yield Shell()
    InteractiveShell.clear_instance()


def test_loading_registers_and_unloading_restores(shell: Any) -> None:
    before = state(shell)
    nb.load_ipython_extension(shell)
    assert ("lionagi.session.branch", "Branch") in shell.display_formatter.mimebundle_formatter.deferred_printers
    nb.unload_ipython_extension(shell)
    assert state(shell) == before


def test_loading_twice_restores_the_first_state(shell: Any) -> None:
    before = state(shell)
    nb.load_ipython_extension(shell)
    nb.load_ipython_extension(shell)
    nb.unload_ipython_extension(shell)
    assert state(shell) == before


def test_another_ones_formatter_is_put_back(shell: Any) -> None:
    def mine(value: Any, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {}

    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name("lionagi.session.branch", "Branch", mine)
    nb.load_ipython_extension(shell)
    nb.unload_ipython_extension(shell)
    assert formatter.deferred_printers == {("lionagi.session.branch", "Branch"): mine}


def test_unloading_without_loading_does_nothing(shell: Any) -> None:
    before = state(shell)
    nb.unload_ipython_extension(shell)
    assert state(shell) == before


def test_a_real_shell_loads_and_unloads_it() -> None:
    real = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    manager: Any = real.extension_manager
    assert manager.load_extension("lionagi_nb") is None
    assert manager.unload_extension("lionagi_nb") is None
    InteractiveShell.clear_instance()
