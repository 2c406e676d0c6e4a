"""The hooks of the site's build: links that leave docs/, and pages that would load from another host."""

from __future__ import annotations

import importlib.util
from types import ModuleType, SimpleNamespace

import pytest
from support.source import ROOT


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "scripts/site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=name))


@pytest.mark.parametrize(
    ("name", "written", "kept"),
    [
        ("a.md", "see [a test](../tests/a.py).", "see a test."),
        ("a.md", "see [b](b.md#here).", "see [b](b.md#here)."),
        ("verbs/a.md", "see [b](../b.md).", "see [b](../b.md)."),
        ("verbs/a.md", "see [b](../../b.py).", "see b."),
        ("verbs/a.md", "![b](../images/b.svg)", "![b](../images/b.svg)"),
        ("a.md", "see [there](https://example.org/../x).", "see [there](https://example.org/../x)."),
    ],
)
def test_links_out_of_docs_become_text(hooks: ModuleType, name: str, written: str, kept: str) -> None:
    assert hooks.on_page_markdown(written, page=page(name)) == kept


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("see :func:<code>~a.b.go</code>", "see <code>go</code>"),
        ("see :class:<code>Span</code>", "see <code>Span</code>"),
        ("see :mod:<code>a.b</code>", "see <code>a.b</code>"),
        ("see <code>~a.b</code>", "see <code>~a.b</code>"),
    ],
)
def test_references_of_docstrings_are_code(hooks: ModuleType, written: str, shown: str) -> None:
    assert hooks.on_page_content(written) == shown


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://example.org/x.js"></script>',
        '<link rel="stylesheet" href="//example.org/x.css">',
        '<img src="http://example.org/x.png">',
    ],
)
def test_a_page_that_loads_from_another_host_stops_the_build(hooks: ModuleType, tag: str) -> None:
    with pytest.raises(SystemExit, match=r"a\.md loads from another host: .*example\.org"):
        hooks.on_post_page(f"<html>{tag}</html>", page=page("a.md"))


def test_a_page_may_link_to_another_host(hooks: ModuleType) -> None:
    html = '<a href="https://example.org">there</a><script src="assets/x.js"></script><img src="images/x.svg">'
    assert hooks.on_post_page(html, page=page("a.md")) == html


def test_the_build_counts_warnings() -> None:
    """With ``-q`` mkdocs hides warnings, and then does not count them either: strict would be an empty word."""
    (command,) = [
        line for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if "mkdocs build" in line
    ]
    assert "--strict" in command
    assert "-q" not in command
