from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from lionagi._errors import ParseError
from lionagi.operations.fields import ActionResponseModel
from lionagi.operations.operate.step import Step


class Report(BaseModel):
    city: str
    people: int = 0


def operative(**options: Any) -> Any:
    return Step.request_operative(base_type=Report, actions=True, **options)


def test_a_text_that_fits_becomes_the_response_model():
    one = operative()
    assert one.validate_response('{"city": "Paris"}') is one.response_model
    assert one.response_model.city == "Paris"
    assert one._should_retry is False


def test_misspelt_keys_are_read_unless_strict():
    assert operative().validate_response('{"citty": "Paris"}').city == "Paris"
    with pytest.raises(ParseError):
        operative().validate_response('{"citty": "Paris"}', strict=True)


def test_a_strict_failure_asks_for_a_retry():
    one = operative()
    with pytest.raises(ParseError):
        one.validate_response("nothing here", strict=True)
    assert (one._should_retry, one.response_str_dict) == (True, "nothing here")


def test_a_failure_that_is_not_strict_gives_none():
    assert operative().validate_response("nothing here") is None
    assert operative(auto_retry_parse=False).validate_response('{"citty": "Paris"}') is None


@pytest.mark.record("DEC-41-1")
def test_an_update_needs_text_or_data():
    with pytest.raises(ValueError, match="Either text or data must be provided"):
        operative().update_response_model()


def test_an_update_keeps_what_is_there_and_drops_unknown_keys():
    one = operative()
    one.validate_response('{"city": "Paris", "people": 2}')
    first = one.response_model
    updated = one.update_response_model(data={"action_responses": [ActionResponseModel(function="f")], "nope": 1})
    assert (updated.city, updated.people, updated.action_responses[0].function) == ("Paris", 2, "f")
    assert first.action_responses is None


def test_an_update_of_other_fields_is_validated():
    one = operative()
    one.validate_response('{"city": "Paris"}')
    assert one.update_response_model(data={"people": "3"}).people == 3


def test_an_update_from_text_that_does_not_fit_returns_the_text():
    assert operative().update_response_model("nothing here") == "nothing here"
