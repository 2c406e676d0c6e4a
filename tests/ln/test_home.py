from __future__ import annotations

from pathlib import Path

import pytest
from support.roads import Road, text

from lionagi.ln.home import lionagi_home, runs_dir


def test_the_environment_names_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_HOME", str(tmp_path / "lion"))
    assert lionagi_home() == tmp_path / "lion"
    assert runs_dir() == tmp_path / "lion" / "logs" / "runs"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [None, ""])
def test_without_it_the_home_is_a_folder_of_the_users_own(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is not None:
        monkeypatch.setenv("LIONAGI_HOME", value)
    assert lionagi_home().name == "lionagi"
    assert lionagi_home().is_relative_to(Path.home())
    assert list(Path.home().iterdir()) == []


async def test_a_persisted_turn_without_a_directory_goes_there(
    road: Road, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_HOME", str(tmp_path))
    branch = road.branch(text("hello"))
    async for _ in branch.run("a", stream_persist=True):
        pass
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [runs_dir() / f"{branch.id}.json"]
