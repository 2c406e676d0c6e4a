"""Every Python block of README.md and docs/ runs, offline, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.doc_pages import blocks, page_name, pages, recording
from support.openai_server import OpenAIServer
from support.roads import reply

PAGES = [page for page in pages() if blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
async def test_the_blocks_of_a_page_run_in_their_order_and_print_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, openai_server: OpenAIServer
) -> None:
    cells = blocks(page)
    monkeypatch.chdir(tmp_path)
    if not any(cell.source == "server" for cell in cells):
        (answers := tmp_path / "answers.yaml").write_text(recording(cells), encoding="utf-8")
        monkeypatch.setenv("LIONAGI_REPLAY", str(answers))
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        if cell.source == "live":
            continue
        openai_server.script(*map(reply, cell.entries))
        printed = await cell.run(names, openai_server.base_url.removesuffix("/v1"))
        if cell.shown:
            assert printed == cell.shown, f"{page_name(page)}:{cell.example.start_line}"
