"""docs/testing.md shows how each supported name is used."""

from __future__ import annotations

import ast
import re

import pytest
from support.source import ROOT

from lionagi import testing

PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
USED = {node.id for block in BLOCKS for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("name", testing.__all__)
def test_every_name_is_used_in_an_example_and_not_only_imported(name: str) -> None:
    assert name in USED
