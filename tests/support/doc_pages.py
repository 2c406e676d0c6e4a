"""The Python blocks of README.md and docs/, run page by page as the cells of one notebook.

A comment right above a block says where the answers come from; readers of the page do not see it:

- ``<!-- answers`` and a YAML list of script entries: they are replayed to whatever model the page names.
- ``<!-- server`` and such a list: a test server on loopback answers in the place of ``http://127.0.0.1:8000``.
- ``<!-- live -->``: only a real model answers; the block is left to the live tests.
- ``<!-- file tests/support/x.py -->``: a copy of that file lies in the working directory.

What a block prints stands in it as comments that begin with ``#> ``.
"""

from __future__ import annotations

import ast
import io
import re
import shutil
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pytest_examples import CodeExample, find_examples

from support.source import ROOT

COMMENT = re.compile(r"<!-- (answers|server|live|file)\b((?:(?!-->).)*)-->\s*\Z", re.DOTALL)
SERVER = "http://127.0.0.1:8000"
IDENTITY = {"provider": "local", "endpoint": "chat/completions", "kind": "api", "model": "gemma-3-270m"}


@dataclass
class Block:
    """One Python block: its place, its code, what it prints, and where its answers come from."""

    example: CodeExample
    source: str
    entries: list[dict[str, Any]]
    file: str = ""

    @property
    def shown(self) -> str:
        """The output that the page shows, one line for each ``#>`` comment."""
        lines = [line.strip() for line in self.example.source.splitlines()]
        return "".join(f"{line[2:].removeprefix(' ')}\n" for line in lines if line.startswith("#>"))

    async def run(self, names: dict[str, Any], server: str = SERVER) -> str:
        """Run the block as a notebook cell, with ``await`` at the top; return what it printed."""
        if self.file:
            shutil.copy(ROOT / self.file, ".")
        # blank lines in front, so that an error names the line of the page
        code = "\n" * self.example.start_line + self.example.source.replace(SERVER, server)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        compiled = compile(code, str(self.example.path), "exec", flags=flags, dont_inherit=True)
        with redirect_stdout(io.StringIO()) as printed:
            if (waiting := eval(compiled, names)) is not None:
                await waiting
        return printed.getvalue()


def pages() -> list[Path]:
    """Return README.md and all pages of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """Return the Python blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    for example in find_examples(page):
        if not example.prefix.startswith("python"):
            continue
        fence = text.rfind("```", 0, example.start_index)
        comment = COMMENT.search(text[:fence])
        source, said = (comment[1], comment[2].strip()) if comment else ("", "")
        entries = (yaml.safe_load(said) or []) if source in ("answers", "server") else []
        found.append(Block(example, source, entries, said if source == "file" else ""))
    return found


def recording(page_blocks: list[Block]) -> str:
    """Return the answers of a page as the recording that a replay is made from; any prompt gets the next one."""
    answers = [entry for block in page_blocks if block.source == "answers" for entry in block.entries]
    return yaml.safe_dump({"version": 2, "recording": IDENTITY, "responses": answers})
