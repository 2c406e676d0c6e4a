"""Nested loops are enabled on request only, and refused where cells would get lost."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

import lionagi_nb as nb
from lionagi._errors import ConfigurationError, MissingExtraError
from lionagi_nb import _nested


def installed(monkeypatch: pytest.MonkeyPatch, **releases: str) -> None:
    """Let the package metadata name these releases and no others."""

    def version(package: str) -> str:
        try:
            return releases[package.replace("-", "_")]
        except KeyError:
            raise importlib.metadata.PackageNotFoundError(package) from None

    monkeypatch.setattr(_nested, "version", version)


@pytest.mark.record("DEC-26-4")
@pytest.mark.parametrize("kernel", ["7.0.0", "7.4.0", "8.0.0a1"])
def test_nest_asyncio_16_is_refused_on_ipykernel_7(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    installed(monkeypatch, nest_asyncio="1.6.0", ipykernel=kernel)
    with pytest.raises(ConfigurationError, match="loses cells under Run All"):
        nb.enable_nested_loops()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ipykernel="6.31.0")
    with pytest.raises(MissingExtraError, match="nest-asyncio"):
        nb.enable_nested_loops()


def test_it_makes_nested_runs_work_where_the_kernel_allows_it() -> None:
    code = """
import asyncio
from lionagi_nb import _nested
_nested.version = {"nest-asyncio": "1.6.0", "ipykernel": "6.31.0"}.__getitem__
async def inner(): return "inner"
async def outer(): return asyncio.run(inner())
_nested.enable_nested_loops()
print(asyncio.run(outer()))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=50)
    assert done.stdout.strip() == "inner", done.stderr
