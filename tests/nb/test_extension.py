"""Loading the extension registers formatters; unloading leaves the shell as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import lionagi_nb as nb
from lionagi.work import FieldSpec, WorkForm, fill_form


def state(shell: Any) -> list[Any]:
    formatter = shell.display_formatter.mimebundle_formatter
    magics = shell.magics_manager.magics
    return [
        dict(formatter.type_printers),
        dict(formatter.deferred_printers),
        dict(magics["line"]),
        dict(magics["cell"]),
        list(shell.input_transformers_cleanup),
        set(shell.strdispatchers["complete_command"].strs),
        set(vars(shell)),
    ]


@pytest.fixture
def shell() -> Iterator[Any]:
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    InteractiveShell.clear_instance()


def test_loading_registers_and_unloading_restores(shell: Any) -> None:
    before = state(shell)
    nb.load_ipython_extension(shell)
    assert ("lionagi.session.branch", "Branch") in shell.display_formatter.mimebundle_formatter.deferred_printers
    nb.unload_ipython_extension(shell)
    assert state(shell) == before


def test_a_form_is_shown_as_its_view(shell: Any) -> None:
    nb.load_ipython_extension(shell)
    form = fill_form(WorkForm(fields={"a": FieldSpec(name="a")}), {})
    data, _ = shell.display_formatter.format(form)
    assert data["text/plain"] == nb.errors(form).text()
    assert data["text/html"] == nb.errors(form).html()
    nb.unload_ipython_extension(shell)


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
    assert formatter.deferred_printers[("lionagi.session.branch", "Branch")] is mine


def test_unloading_without_loading_does_nothing(shell: Any) -> None:
    before = state(shell)
    nb.unload_ipython_extension(shell)
    assert state(shell) == before


def test_ipythons_own_manager_loads_and_unloads_it(shell: Any) -> None:
    assert shell.extension_manager.load_extension("lionagi_nb") is None
    assert shell.extension_manager.unload_extension("lionagi_nb") is None


def test_another_ones_magic_is_put_back(shell: Any) -> None:
    def mine(line: str) -> str:
        return line

    shell.register_magic_function(mine, "line", "timeline")
    nb.load_ipython_extension(shell)
    nb.unload_ipython_extension(shell)
    assert shell.run_line_magic("timeline", "x") == "x"
