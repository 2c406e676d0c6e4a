"""What the pages show first, on the model that they name: it prints what a reader will see, whatever the words are."""

from __future__ import annotations

from typing import Any

import pytest
from support.doc_pages import Block, blocks, page_name, pages
from support.source import ROOT

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

LIVE = [(page, block) for page in pages() for block in blocks(page) if block.source == "live"]
FIRST = [ROOT / "README.md", ROOT / "docs/index.md"]


@pytest.mark.parametrize("page", FIRST, ids=page_name)
async def test_the_first_example_prints_a_city_and_a_country(page: Any) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = await blocks(page)[0].run(names)
    assert printed == f"{names['city'].name} {names['city'].country}\n"
    assert isinstance(names["city"], names["City"])


@pytest.mark.parametrize(
    ("page", "block"), LIVE, ids=lambda value: page_name(value) if not isinstance(value, Block) else ""
)
async def test_a_block_for_the_real_model_prints_what_the_page_shows(page: Any, block: Block) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    prelude = blocks(ROOT / "docs/index.md")[0].example.source.split("branch =")[0]
    exec(compile(prelude, "index.md", "exec"), names)
    assert await block.run(names) == block.shown


def test_the_pages_hold_a_block_for_the_real_model() -> None:
    assert LIVE
