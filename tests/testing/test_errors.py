"""The errors of the testing surface keep their classes and the words by which people know them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lionagi.session.branch import Branch
from lionagi.testing import ScriptExhaustedError, ScriptModel, TestBranch, TestDataLoader, load_test_data

PAYLOAD: dict[str, Any] = {"messages": [{"role": "user", "content": "why?"}]}


@pytest.mark.record("DEC-41-9")
def test_errors_of_entries_and_sources() -> None:
    with pytest.raises(ValueError, match="unknown response type"):
        ScriptModel.from_responses([{"type": "x"}])
    with pytest.raises(TypeError, match="response entry must be dict"):
        ScriptModel.coerce([5])
    with pytest.raises(TypeError, match="cannot coerce"):
        ScriptModel.coerce(5)


@pytest.mark.record("DEC-41-9")
@pytest.mark.parametrize("mode", ["auto", "positional", "when_only"])
def test_errors_of_exhaustion(mode: str) -> None:
    with pytest.raises(ScriptExhaustedError) as caught:
        ScriptModel(mode=mode).next(PAYLOAD, 2)
    said = str(caught.value)
    if mode == "when_only":
        assert "no when: matcher matched call_index=2" in said
    else:
        assert "script exhausted at call_index=2" in said
        assert "positional entries available" in said
    assert "payload last user message='why?'" in said


@pytest.mark.record("DEC-41-9")
def test_errors_of_branches_and_loaders(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not ScriptedEndpoint"):
        TestBranch.scripted(Branch(chat_model="openai/m"))
    with pytest.raises(ValueError, match="plain name"):
        load_test_data("a/b")
    (tmp_path / "out.json").write_text("1")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.json").symlink_to(tmp_path / "out.json")
    with pytest.raises(PermissionError, match="escapes data directory"):
        TestDataLoader(tmp_path / "data").load_json("a")
