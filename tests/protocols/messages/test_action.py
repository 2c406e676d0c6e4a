from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from lionagi.protocols.messages import ActionRequest, ActionResponse
from lionagi.protocols.messages.action_response import HISTORY_LIMIT
from lionagi.protocols.messages.create import create_action_request, create_action_response
from lionagi.protocols.messages.message import edit_count


class Point(BaseModel):
    x: int


@pytest.mark.record("DEC-41-2")
def test_a_function_is_a_name_or_a_callable():
    assert ActionRequest(content={"function": len}).function == "len"
    with pytest.raises(ValueError, match="Function must be a string or callable"):
        ActionRequest(content={"function": 5})


@pytest.mark.record("DEC-41-2")
@pytest.mark.parametrize("arguments", [None, 5, "prose", "[1]"])
def test_unreadable_arguments_are_refused(arguments: Any):
    with pytest.raises(ValueError, match="Arguments must be a dictionary"):
        ActionRequest(content={"function": "f", "arguments": arguments})


@pytest.mark.parametrize("arguments", [{"x": 1}, Point(x=1), '{"x": 1}', "{'x': 1,}"])
def test_readable_arguments_are_a_mapping(arguments: Any):
    assert ActionRequest(content={"function": "f", "arguments": arguments}).arguments == {"x": 1}


def test_the_older_nesting_is_read():
    nested = {"function": "f", "arguments": {"x": 1}}
    assert ActionRequest(content={"action_request": nested}).request == nested
    assert ActionResponse(content={"action_response": {**nested, "output": 2}}).output == 2


def test_request_and_response_are_linked_without_an_edit():
    request = create_action_request(function="f", arguments={"a": 1})
    before = edit_count()
    response = create_action_response(action_request=request, action_output=0)
    assert request.is_responded()
    assert request.content.action_response_id == str(response.id)
    assert (response.request_id, response.output, response.success) == (str(request.id), 0, True)
    assert edit_count() == before


@pytest.mark.record("DEC-41-2")
def test_a_response_needs_its_request():
    with pytest.raises(ValueError, match="corresponding action request"):
        create_action_response(action_request=None, action_output=1)


def test_a_ready_response_is_linked_and_updated():
    request, ready = create_action_request(function="f"), ActionResponse(content={"function": "f"})
    assert create_action_response(action_request=request, action_response=ready, action_output=3) is ready
    assert (ready.output, ready.request_id) == (3, str(request.id))


def test_rendered_forms_are_yaml():
    request = create_action_request(function="f", arguments={"a": 1})
    response = create_action_response(action_request=request, action_output=[1, "x"])
    assert request.rendered == "Function: f\nArguments:\n  a: 1"
    assert response.rendered == "Function: f\nArguments:\n  a: 1\nOutput:\n- 1\n- x"


@pytest.mark.parametrize("output", ["é" * HISTORY_LIMIT, {"k": ["x" * HISTORY_LIMIT]}])
def test_T9_history_carries_at_most_64_kib_and_the_message_the_whole(output: Any):
    request = create_action_request(function="f")
    response = create_action_response(action_request=request, action_output=output)
    shown = response.history_entry["output"]
    assert len(shown.encode()) < HISTORY_LIMIT + 100
    assert "clipped" in shown
    assert response.output is output


@pytest.mark.parametrize(
    ("output", "shown"), [(Point(x=1), {"x": 1}), ({1}, [1]), (float("nan"), None), ("a\ud800", "a�")]
)
def test_history_entries_are_clean_json_data(output: Any, shown: Any):
    request = create_action_request(function="f")
    entry = create_action_response(action_request=request, action_output=output).history_entry
    assert entry["output"] == shown or output != output
    assert str(entry).encode()
