"""docs/forms.md shows what the terminal shows."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.li import li
from support.source import ROOT

from lionagi.testing import scripted_env

PAGE = (ROOT / "docs" / "forms.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'```yaml title="([^"]+)"\n(.*?)```', PAGE, re.DOTALL))
SESSIONS = re.findall(r"^\$ li (.*)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)
ANSWER = "responses: [{type: text, content: One book is on its way.}]"


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command for command, _ in SESSIONS])
def test_each_command_shows_what_the_page_says(
    command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {**FILES, "script.yaml": ANSWER}.items():
        Path(name).write_text(text, encoding="utf-8")
    with scripted_env(tmp_path / "script.yaml"):
        ran = li(*shlex.split(command))
    assert ran.out + (ran.err if ran.status else "") == shown


def test_the_page_shows_both_commands() -> None:
    assert {command.split()[0] for command, _ in SESSIONS} == {"agent", "form"}


@pytest.mark.record("DEC-0052-1-1")
def test_the_page_says_that_two_states_are_reserved() -> None:
    text = " ".join(PAGE.split())
    assert "`submitted` and `completed` are reserved states: no engine stands behind them" in text


def form_picture() -> Any:
    """Load the script that makes the picture."""
    spec = importlib.util.spec_from_file_location("form_picture", ROOT / "scripts" / "form_picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_what_check_shows_now() -> None:
    """The words of the picture, since its layout may differ from release to release of the library that draws it."""
    script = form_picture()

    def words(svg: str) -> list[str]:
        return [text.strip("\xa0 ") for text in re.findall(r"<text[^>]*>(.*?)</text>", svg)]

    saved = script.PICTURE.read_text(encoding="utf-8")
    assert words(saved) == words(script.picture())
    assert "https://" not in saved.replace("https://www.textualize.io", "")
