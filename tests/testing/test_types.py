from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from lionagi.service.types import StreamChunk
from lionagi.testing._types import (
    ErrorResponse,
    RecordedCall,
    StreamChunkSpec,
    StreamResponse,
    StructuredResponse,
    TextResponse,
    ToolCallResponse,
    WhenMatcher,
)

ENTRIES: list[tuple[type[BaseModel], str, dict[str, Any]]] = [
    (TextResponse, "text", {"content": "x"}),
    (ToolCallResponse, "tool_call", {"name": "f"}),
    (StructuredResponse, "structured", {"data": {}}),
    (StreamResponse, "stream", {"chunks": []}),
    (ErrorResponse, "error", {}),
]


@pytest.mark.record("0052-D4-07")
def test_an_empty_matcher_has_no_condition() -> None:
    when = WhenMatcher()
    assert [when.prompt_contains, when.prompt_regex, when.has_tool, when.after_calls, when.call_index] == [None] * 5
    assert when.is_empty()


def test_a_matcher_with_zero_calls_is_not_empty() -> None:
    assert not WhenMatcher(after_calls=0).is_empty()
    assert not WhenMatcher(prompt_contains="").is_empty()


@pytest.mark.record("DEC-0052-4-1")
def test_combine_is_first_or_all_and_first_by_default() -> None:
    assert WhenMatcher().combine == "first"
    assert WhenMatcher(combine="all").combine == "all"
    for other in ("any", "", None):
        with pytest.raises(ValidationError):
            WhenMatcher(combine=other)  # pyright: ignore[reportArgumentType]


@pytest.mark.record("DEC-0052-4-3")
def test_the_docstring_states_the_priority_and_no_and() -> None:
    said = " ".join((WhenMatcher.__doc__ or "").split())
    places = [said.index(f"``{name}``") for name in ("prompt_contains", "prompt_regex", "has_tool")]
    assert places == sorted(places)
    assert "only the first configured one decides, in this order" in said
    assert "AND" not in said


def test_combine_alone_leaves_a_matcher_empty() -> None:
    assert WhenMatcher(combine="all").is_empty()


@pytest.mark.record("0052-D4-08")
@pytest.mark.parametrize(("kind", "name", "required"), ENTRIES)
def test_entries_have_their_literal_type_and_required_fields(
    kind: type[BaseModel], name: str, required: dict[str, Any]
) -> None:
    entry = kind(**required)
    assert entry.model_dump()["type"] == name
    assert entry.model_dump()["when"] is None
    for field in required:
        with pytest.raises(ValidationError):
            kind(**{key: value for key, value in required.items() if key != field})
    with pytest.raises(ValidationError):
        kind(**required, type="other")


@pytest.mark.record("0052-D4-08")
def test_a_tool_call_has_no_arguments_and_no_id_by_default() -> None:
    entry = ToolCallResponse(name="f")
    assert (entry.arguments, entry.id) == ({}, None)


@pytest.mark.record("0052-D4-09")
def test_an_error_is_a_value_error_by_default() -> None:
    entry = ErrorResponse()
    assert (entry.kind, entry.message) == ("value_error", "scripted error")
    with pytest.raises(ValidationError):
        ErrorResponse.model_validate({"kind": "unheard"})


@pytest.mark.record("0052-D4-09")
@pytest.mark.parametrize("kind", ["rate_limit", "timeout", "server_error", "bad_request", "value_error"])
def test_the_five_error_kinds_are_accepted(kind: str) -> None:
    assert ErrorResponse.model_validate({"kind": kind}).kind == kind


@pytest.mark.record("0052-D6-03")
def test_an_error_comes_without_delay_by_default() -> None:
    assert ErrorResponse().delay_ms == 0


@pytest.mark.record("0052-D4-10")
@pytest.mark.parametrize(("kind", "name", "required"), [*ENTRIES, (WhenMatcher, "", {})])
def test_an_undeclared_field_is_refused(kind: type[BaseModel], name: str, required: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="stray"):
        kind(**required, stray=1)


@pytest.mark.record("0052-D4-11")
def test_a_chunk_has_empty_fields_by_default() -> None:
    chunk = StreamChunkSpec(type="text").model_dump()
    assert chunk == {
        "type": "text",
        "content": None,
        "tool_name": None,
        "tool_id": None,
        "tool_input": None,
        "tool_output": None,
        "is_error": False,
        "is_delta": False,
        "metadata": {},
    }


@pytest.mark.record("0052-D4-11")
def test_chunk_types_are_exactly_seven() -> None:
    for kind in ("system", "thinking", "text", "tool_use", "tool_result", "result", "error"):
        assert StreamChunkSpec.model_validate({"type": kind}).type == kind
    with pytest.raises(ValidationError):
        StreamChunkSpec.model_validate({"type": "image"})


def test_a_broken_regular_expression_is_refused_when_the_matcher_is_built() -> None:
    with pytest.raises(ValidationError, match="not a regular expression"):
        WhenMatcher(prompt_regex="(")


def test_a_recorded_call_reads_its_payload() -> None:
    call = RecordedCall(
        index=0,
        payload={
            "messages": [
                {"role": "developer", "content": "be brief"},
                {"role": "user", "content": "first"},
                {"role": "user", "content": [{"type": "text", "text": "sec"}, {"type": "image_url"}, {"text": "ond"}]},
                {"role": "assistant", "content": "answer"},
            ],
            "tools": [{"type": "function", "function": {"name": "f"}}, {"name": "g"}, "h"],
        },
        headers={},
        response_type="text",
        response=None,
    )
    assert call.last_user_message == "second"
    assert call.system_message == "be brief"
    assert call.tool_names == ["f", "g"]


def test_a_recorded_call_without_messages_reads_as_nothing() -> None:
    call = RecordedCall(index=0, payload={}, headers={}, response_type="text", response=None)
    assert (call.last_user_message, call.system_message, call.tool_names) == (None, None, [])


def test_the_spec_of_a_chunk_has_the_fields_of_a_chunk_in_their_order() -> None:
    assert list(StreamChunkSpec.model_fields) == [field.name for field in dataclasses.fields(StreamChunk)]
