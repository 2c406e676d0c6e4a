from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from lionagi.protocols.generic.log import Log


def test_the_content_is_kept_as_given_not_copied():
    facts = {"a": [1]}
    assert Log(content=facts).content is facts


@pytest.mark.record("DEC-41-4")
def test_a_restored_log_cannot_be_changed():
    log = Log.from_dict(Log(content={"a": 1}).to_dict())
    with pytest.raises(AttributeError, match="This Log is immutable"):
        log.content = {}


def test_an_empty_log_says_so(caplog: pytest.LogCaptureFixture):
    assert Log.create({}).content == {"error": "No content to log."}
    assert "without content" in caplog.text


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda log: pickle.loads(pickle.dumps(log))])
def test_a_copy_of_a_restored_log_cannot_be_changed_either(again: Callable[[Log], Log]):
    log = again(Log.from_dict(Log(content={"a": 1}).to_dict()))
    assert log.to_dict()["content"] == {"a": 1}
    with pytest.raises(AttributeError, match="This Log is immutable"):
        log.content = {}
