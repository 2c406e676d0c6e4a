from __future__ import annotations

import os
from pathlib import Path

import pytest

from lionagi.testing._env import (
    is_scripted_provider_active,
    resolve_script_path,
    scripted_env,
    subprocess_env,
)

NAMES = ("LIONAGI_CHAT_PROVIDER", "LIONAGI_CHAT_MODEL", "LIONAGI_TEST_SCRIPT")


def test_the_block_sets_three_variables_and_removes_them() -> None:
    with scripted_env("s.yaml"):
        assert [os.environ[name] for name in NAMES] == ["scripted", "scripted-test", "s.yaml"]
        assert resolve_script_path() == Path("s.yaml")
    assert not any(name in os.environ for name in NAMES)


def test_the_block_restores_earlier_values_even_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_CHAT_MODEL", "mine")

    def fail() -> None:
        with scripted_env(Path("s.json"), model="other"):
            assert os.environ["LIONAGI_CHAT_MODEL"] == "other"
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        fail()
    assert os.environ["LIONAGI_CHAT_MODEL"] == "mine"


@pytest.mark.parametrize(("value", "active"), [("scripted", True), ("Scripted", True), ("openai", False), ("", False)])
def test_the_scripted_provider_is_active_when_named(monkeypatch: pytest.MonkeyPatch, value: str, active: bool) -> None:
    monkeypatch.setenv("LIONAGI_CHAT_PROVIDER", value)
    assert is_scripted_provider_active() is active


def test_no_script_path_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve_script_path() is None
    monkeypatch.setenv("LIONAGI_TEST_SCRIPT", "~/s.yaml")
    assert resolve_script_path() == Path.home() / "s.yaml"


def test_a_childs_environment_is_layered_over_a_base_and_leaves_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    base = {"A": "1", "LIONAGI_CHAT_MODEL": "old"}
    assert subprocess_env("s.yaml", base=base) == {
        "A": "1",
        "LIONAGI_CHAT_PROVIDER": "scripted",
        "LIONAGI_CHAT_MODEL": "scripted-test",
        "LIONAGI_TEST_SCRIPT": "s.yaml",
    }
    assert base == {"A": "1", "LIONAGI_CHAT_MODEL": "old"}
    monkeypatch.setenv("MINE", "here")
    assert subprocess_env("s.yaml")["MINE"] == "here"
    assert "LIONAGI_TEST_SCRIPT" not in os.environ
