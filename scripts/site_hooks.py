"""What mkdocs does beyond its own work when it builds docs/ (``make docs``).

Links that lead out of docs/, to a test say, work in the repository and nowhere else: in the site they are plain text,
so that the strict build can insist on every other link. References in docstrings are shown as plain code. And no page
may load anything from another host.
"""

from __future__ import annotations

import posixpath
import re
from html.parser import HTMLParser
from typing import Any

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)[^)]*\)")
ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):<code>~?([\w.]+)</code>")
LOADING_TAGS = ("script", "link", "img", "iframe", "source", "object", "embed", "video", "audio")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page's text without the links that lead out of docs/."""
    folder = posixpath.dirname(page.file.src_uri)

    def inside(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        leaves = "://" not in target and posixpath.normpath(posixpath.join(folder, target)).startswith("..")
        return text if leaves else match[0]

    return LINK.sub(inside, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Return a page's body with the references of docstrings as code; ``~a.b.name`` is shown as ``name``."""
    return ROLE.sub(lambda match: f"<code>{_shown(match)}</code>", html)


def _shown(match: re.Match[str]) -> str:
    return match[1].rpartition(".")[2] if "<code>~" in match[0] else match[1]


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Return a finished page as it is; one that loads from another host stops the build."""
    finder = _Loads()
    finder.feed(output)
    if finder.foreign:
        raise SystemExit(f"{page.file.src_uri} loads from another host: {', '.join(finder.foreign)}")
    return output


class _Loads(HTMLParser):
    """Gathers the addresses on other hosts that a browser would fetch by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LOADING_TAGS:
            addresses = [value or "" for name, value in attrs if name in ("src", "href", "data", "srcset")]
            self.foreign += [each for each in addresses if re.match(r"(https?:)?//", each)]
