from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest
from support.li import LiProgram


class MakeProgram(Protocol):
    def __call__(self, *entries: dict[str, Any]) -> LiProgram: ...


@pytest.fixture
def program(tmp_path: Path) -> MakeProgram:
    """Make the command as a child process in front of the given script entries."""

    def make(*entries: dict[str, Any]) -> LiProgram:
        return LiProgram(tmp_path, *entries)

    return make


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeProgram:
    """Put a script in the place of the model, for the command in this process."""

    def make(*entries: dict[str, Any]) -> LiProgram:
        program = LiProgram(tmp_path, *entries)
        for name, value in program.environment.items():
            if name.startswith("LIONAGI_"):
                monkeypatch.setenv(name, value)
        return program

    return make
