"""The README's promises to a newcomer."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.doc_pages import blocks, page_name, pages, recording
from support.source import ROOT

from lionagi import iModel

README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL_BLOCKS = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)


def test_it_opens_with_the_two_commands() -> None:
    commands = [line.split("#")[0].strip() for line in SHELL_BLOCKS[0].splitlines()]
    assert commands == ["make lab", "make test"]


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)\b`?", "\n".join(SHELL_BLOCKS))) <= targets


@pytest.mark.parametrize("block", PYTHON_BLOCKS, ids=lambda block: block.splitlines()[0][:40])
def test_its_python_compiles_in_a_cell(block: str) -> None:
    assert compile(block, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_the_first_example_has_ten_lines() -> None:
    assert len([line for line in PYTHON_BLOCKS[0].splitlines() if line.strip()]) <= 10


def test_its_other_models_reach_the_named_providers() -> None:
    named = re.findall(r'chat_model="([^"]+)"', README)
    assert [iModel(name).provider for name in named] == ["local", "openai"]


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_its_local_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link]
    missing = [link for link in links if not page.parent.joinpath(link).exists()]
    assert not missing


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_nobody_is_told_to_install_the_other_project(page: Path) -> None:
    assert not re.search(r"pip install (-U )?[\"']?lionagi", page.read_text(encoding="utf-8"))


async def test_the_first_example_prints_the_city(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = blocks(ROOT / "README.md")[0]
    (answers := tmp_path / "answers.yaml").write_text(recording([first]), encoding="utf-8")
    monkeypatch.setenv("LIONAGI_REPLAY", str(answers))
    assert await first.run({"__name__": "__main__"}) == "Paris France\n"
