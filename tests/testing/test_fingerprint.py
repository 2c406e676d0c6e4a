from __future__ import annotations

from typing import Any

import pytest

from lionagi.testing._fingerprint import fingerprint, request_text

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "f", "description": "does", "parameters": SCHEMA}}


def messages(system: Any, user: Any, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "system", "content": system, **more}, {"role": "user", "content": user, **more}]}


def request(**changes: Any) -> dict[str, Any]:
    return {"model": "m", **messages("brief", "hi"), **changes}


@pytest.mark.parametrize(
    "same",
    [
        request(model="other", temperature=0.5, stream=True, resume="abc"),
        {"messages": [{"role": "developer", "content": "brief"}, {"role": "user", "content": "hi"}]},
        {"system": [{"type": "text", "text": "brief"}], "messages": [{"role": "user", "content": "hi"}]},
        {
            "messages": [
                {"role": "system", "content": "brief"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            ]
        },
        {
            "messages": [
                {"content": "brief", "role": "system", "id": "7"},
                {"role": "user", "content": "hi", "timestamp": 9},
            ]
        },
    ],
)
def test_what_does_not_change_the_question_does_not_change_the_fingerprint(same: dict[str, Any]) -> None:
    assert fingerprint(same) == fingerprint(request())


def test_schema_and_tools_count_whatever_their_wire_format() -> None:
    openai = request(
        response_format={"type": "json_schema", "json_schema": {"name": "X", "schema": SCHEMA, "strict": True}},
        tools=[TOOL],
    )
    other = request(
        output_format={"type": "json_schema", "schema": SCHEMA},
        tools=[{"name": "f", "description": "does", "input_schema": SCHEMA}],
    )
    assert fingerprint(openai) == fingerprint(other)


@pytest.mark.parametrize(
    "other",
    [
        {"messages": [{"role": "user", "content": "hi"}]},
        {"messages": [{"role": "system", "content": "brief"}, {"role": "user", "content": "hi!"}]},
        {"messages": [{"role": "user", "content": "brief"}, {"role": "user", "content": "hi"}]},
        request(tools=[TOOL]),
        request(response_format={"type": "json_schema", "json_schema": {"schema": SCHEMA}}),
    ],
)
def test_what_changes_the_question_changes_the_fingerprint(other: dict[str, Any]) -> None:
    assert fingerprint(other) != fingerprint(request())


def test_images_count() -> None:
    def asking(url: str) -> dict[str, Any]:
        parts = [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": url}}]
        return {"messages": [{"role": "user", "content": parts}]}

    assert fingerprint(asking("data:a")) != fingerprint(asking("data:b"))


def test_lone_surrogates_have_a_fingerprint_and_a_text() -> None:
    payload = {"messages": [{"role": "user", "content": "a\ud800"}]}
    assert fingerprint(payload)
    assert request_text(payload).encode() == b"[user]\na?"


def test_the_text_shows_messages_schema_and_tools() -> None:
    text = request_text(request(tools=[TOOL], response_format={"json_schema": {"schema": {"type": "object"}}}))
    assert text == (
        '[system]\nbrief\n\n[user]\nhi\n\n[schema]\n{"type":"object"}\n\n[tools]\n'
        '{"description":"does","name":"f","parameters":{"properties":{"a":{"type":"integer"}},"type":"object"}}'
    )
