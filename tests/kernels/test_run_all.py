"""Every cell queued at once, as Run All does, on the ipykernel of this environment (`make kernels` has three)."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from support.kernels import NOTEBOOKS, code_cells, plain_text, replay_environment, run_all

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(120)]

AWAITING = [
    "import asyncio\norder = []",
    "await asyncio.sleep(0.3); order.append('slow')",
    "order.append('quick')",
    "print(order)",
]
REACHING_OUT = ["import socket", "socket.create_connection(('127.0.0.1', 9))"]


def test_cells_that_await_run_in_order(tmp_path: Path) -> None:
    runs = run_all(AWAITING, directory=tmp_path)
    assert [run.status for run in runs] == ["ok"] * 4
    assert runs[-1].text == ["['slow', 'quick']\n"]


def test_a_lost_or_failed_cell_is_seen(tmp_path: Path) -> None:
    runs = run_all(["1 / 0", "2"], directory=tmp_path)
    assert [run.status for run in runs] == ["error", "aborted"]


def test_sockets_are_refused_in_a_replaying_kernel(tmp_path: Path) -> None:
    runs = run_all(REACHING_OUT, replay_environment(tmp_path / "none.ipynb"), directory=tmp_path)
    assert [run.status for run in runs] == ["ok", "error"]
    assert "NetworkBlockedError" in runs[1].text[0]


@pytest.mark.parametrize("name", sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")))
def test_N8_run_all_gives_the_stored_outputs(name: str) -> None:
    path = NOTEBOOKS / name
    cells = code_cells(path)
    runs = run_all([cell.source for cell in cells], replay_environment(path))
    assert [run.status for run in runs] == ["ok"] * len(cells)
    assert [run.text for run in runs] == [plain_text(cell.outputs) for cell in cells]


NESTED = [
    "import asyncio, lionagi_nb as nb\nasync def inner(): return 'inner'",
    "nb.enable_nested_loops()",
    "print(asyncio.run(inner()))",
]


@pytest.mark.record("DEC-26-3")
def test_nested_loops_work_on_ipykernel_6_and_are_refused_on_7(tmp_path: Path) -> None:
    runs = run_all(NESTED, directory=tmp_path)
    if version("ipykernel").startswith("6."):
        assert [run.status for run in runs] == ["ok"] * 3
        assert runs[-1].text == ["inner\n"]
    else:
        assert runs[1].status == "error"
        assert "ipykernel 7" in runs[1].text[-1]
