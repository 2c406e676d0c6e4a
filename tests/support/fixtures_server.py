"""Fixtures around the OpenAI-compatible test server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lionagi.service.imodel import iModel
from support.openai_server import OpenAIServer


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    """A running server with an empty script; it answers "Hello there." by default."""
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def server_model(openai_server: OpenAIServer) -> Callable[..., iModel]:
    """Make an iModel of provider "openai" on the test server; keywords go to iModel."""

    def make(**kwargs: Any) -> iModel:
        given = {"provider": "openai", "model": "test-model", "api_key": "sk-test-canary-key", **kwargs}
        return iModel(base_url=openai_server.base_url, **given)

    return make
