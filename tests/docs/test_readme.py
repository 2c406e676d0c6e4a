"""The README's promises to a newcomer."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from support.source import ROOT

from lionagi import Branch, iModel
from lionagi.testing import scripted_imodel

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


async def run(block: str, names: dict[str, Any]) -> None:
    """Run a block as a notebook cell does, with ``await`` at the top."""
    code = compile(block, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if (waiting := eval(code, names)) is not None:
        await waiting


async def test_its_blocks_run_in_their_order_on_a_scripted_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only the local model of the first block is exchanged; the other blocks send nothing."""
    answer = {"type": "structured", "data": {"name": "Paris", "country": "France"}}
    names: dict[str, Any] = {"__name__": "__main__"}
    first, *rest = PYTHON_BLOCKS
    assert first.count('Branch(chat_model="local")') == 1
    names["model"] = scripted_imodel([answer])
    await run(first.replace('"local"', "model"), names)
    assert capsys.readouterr().out == "Paris France\n"
    for block in rest:
        await run(block, names)
        assert isinstance(names["branch"], Branch)


def test_its_other_models_reach_the_named_providers() -> None:
    named = re.findall(r'chat_model="([^"]+)"', README)
    assert [iModel(name).provider for name in named] == ["local", "openai"]


@pytest.mark.parametrize("path", ["README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))])
def test_its_local_links_lead_somewhere(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)\)", text) if "://" not in link and not link.endswith(".png")]
    missing = [link for link in links if not Path(ROOT / path).parent.joinpath(link).exists()]
    assert not missing


@pytest.mark.parametrize("path", ["README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))])
def test_nobody_is_told_to_install_the_other_project(path: str) -> None:
    assert not re.search(r"pip install (-U )?[\"']?lionagi", (ROOT / path).read_text(encoding="utf-8"))
