from __future__ import annotations

import logging
from typing import Any

import pytest

from lionagi._errors import ConfigurationError
from lionagi.service.imodel import iModel
from lionagi.service.manager import iModelManager


def test_positional_models_are_chat_and_parse():
    chat, parse, other = iModel("openai"), iModel("openai"), iModel("openai")
    manager = iModelManager(chat, parse, other=other)
    assert (manager.chat, manager.parse, manager.registry["other"]) == (chat, parse, other)


def test_parse_is_chat_where_none_is_named():
    chat = iModel("openai")
    assert iModelManager(chat).parse is chat


def test_anything_but_a_model_is_refused():
    with pytest.raises(ConfigurationError, match="must be an iModel, not 'gpt'"):
        iModelManager().register_imodel("chat", "gpt")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigurationError, match="at most two unnamed models"):
        iModelManager(iModel("openai"), iModel("openai"), iModel("openai"))


async def test_a_model_that_does_not_close_is_logged_and_the_others_are_closed(caplog: pytest.LogCaptureFixture):
    closed: list[str] = []

    class Stuck(iModel):
        async def close(self) -> None:
            raise OSError("stuck")

    class Fine(iModel):
        async def close(self) -> None:
            closed.append("fine")

    given: dict[str, Any] = {"chat": Stuck("openai"), "parse": Fine("openai")}
    with caplog.at_level(logging.WARNING):
        await iModelManager(**given).shutdown()
    assert closed == ["fine"]
    assert "'chat' did not close: stuck" in caplog.text
