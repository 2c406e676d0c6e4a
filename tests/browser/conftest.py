"""One JupyterLab and one chromium for all browser tests; a fresh page for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.lab import CHROMIUM_FLAGS, Lab, LabPage, chromium_path, running_lab

playwright_api = pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab; put notebooks into ``lab.notebooks``."""
    with running_lab(tmp_path_factory.mktemp("lab") / "place") as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Debian's chromium, without a window."""
    path = chromium_path()
    if path is None:
        pytest.fail("no chromium here; install it with: apt-get install chromium fonts-dejavu-core")
    with playwright_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield running
        running.close()


@pytest.fixture
def open_notebook(lab: Lab, browser: object) -> Iterator[Callable[[Path], LabPage]]:
    """Return a function that opens a notebook of ``lab.notebooks`` in a page of its own and waits for its kernel."""
    contexts = []

    def open_it(path: Path, width: int = 1280, height: int = 900) -> LabPage:
        context = browser.new_context(viewport={"width": width, "height": height})  # pyright: ignore[reportAttributeAccessIssue]
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{lab.url}/doc/tree/{path.relative_to(lab.notebooks).as_posix()}?reset")
        opened = LabPage(page)
        opened.wait_idle()
        return opened

    yield open_it
    for context in contexts:
        context.close()
