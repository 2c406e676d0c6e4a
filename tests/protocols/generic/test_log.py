from __future__ import annotations

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
