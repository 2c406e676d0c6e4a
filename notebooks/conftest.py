"""Each notebook is run from its own recording, in a kernel that can open no socket."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.kernels import replay_environment

before = dict(os.environ)


def use(notebook: Path) -> None:
    """Put the notebook's surroundings into the environment that its kernel will inherit."""
    os.environ.clear()
    os.environ.update({name: value for name, value in before.items() if not name.endswith("_API_KEY")})
    os.environ.update(replay_environment(notebook))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Act before the notebook's first cell starts the kernel."""
    use(item.path)
    return (yield)
