from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lionagi.testing import (
    TestDataLoader,
    get_api_response,
    get_conversation,
    get_error_scenario,
    load_test_data,
)

LOADER = TestDataLoader()


@pytest.mark.parametrize("scenario", LOADER.list_conversations())
def test_a_conversation_is_counted_and_described(scenario: str) -> None:
    made = LOADER.get_conversation_data(scenario)
    assert made["metadata"]["total_messages"] == len(made["messages"])
    assert made["metadata"]["conversation_type"]
    assert made["metadata"]["topics"]
    assert {each["role"] for each in made["messages"]} <= {"system", "user", "assistant"}


def test_the_conversations_have_their_lengths() -> None:
    lengths = {name: len(get_conversation(name)["messages"]) for name in LOADER.list_conversations()}
    assert lengths == {
        "basic_chat": 4,
        "technical_discussion": 5,
        "multi_turn_reasoning": 6,
        "error_handling_scenario": 4,
    }
    assert get_conversation("technical_discussion")["messages"][0]["role"] == "system"


@pytest.mark.parametrize(
    ("kind", "finish"),
    [
        ("successful_chat_response", "stop"),
        ("function_calling_response", "function_call"),
        ("tool_calling_response", "tool_calls"),
        ("structured_output_response", "stop"),
    ],
)
def test_a_response_is_a_chat_completion(kind: str, finish: str) -> None:
    made = get_api_response(kind)
    assert {"id", "object", "created", "model", "choices", "usage"} <= set(made)
    assert (made["object"], made["model"]) == ("chat.completion", "gpt-4o-mini")
    assert made["choices"][0]["finish_reason"] == finish
    usage = made["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_the_chunks_of_a_stream_are_three() -> None:
    chunks = get_api_response("streaming_response_chunks")
    assert [each["object"] for each in chunks] == ["chat.completion.chunk"] * 3
    assert [each["choices"][0]["finish_reason"] for each in chunks] == [None, None, "stop"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("api_rate_limit_error", 429),
        ("api_authentication_error", 401),
        ("api_model_not_found", 404),
        ("api_timeout_error", 408),
        ("api_server_error", 500),
        ("network_connection_error", None),
        ("validation_error", 400),
        ("quota_exceeded_error", 429),
        ("malformed_response_error", None),
    ],
)
def test_an_error_has_message_type_and_code(kind: str, status: int | None) -> None:
    made = get_error_scenario(kind)
    assert {"message", "type", "code"} <= set(made["error"])
    assert made.get("http_status") == status


def test_the_errors_hold_their_further_facts() -> None:
    facts: dict[str, Any] = load_test_data("error_scenarios")
    assert list(facts) == LOADER.list_error_scenarios()
    assert facts["api_rate_limit_error"]["retry_after"] > 0
    assert set(facts["network_connection_error"]) == {"error", "retry_count", "last_attempt"}
    assert set(facts["validation_error"]["error"]["details"]) == {"field", "issue"}
    assert set(facts["quota_exceeded_error"]["error"]["quota"]) == {"limit", "used", "remaining", "reset_date"}
    assert {"raw_response", "expected_format"} <= set(facts["malformed_response_error"])


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"conversation 'x' not found\. Available: \['basic_chat'"):
        get_conversation("x")
    with pytest.raises(ValueError, match=r"API response 'x' not found\. Available: \['successful_chat_response'"):
        get_api_response("x")
    with pytest.raises(ValueError, match=r"error scenario 'x' not found\. Available: \['api_rate_limit_error'"):
        get_error_scenario("x")
    assert LOADER.list_api_responses()[0] == "successful_chat_response"


def test_a_directory_of_ones_own_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("[1]")
    (tmp_path / "broken.json").write_text("[")
    loader = TestDataLoader(tmp_path)
    assert loader.load_json("mine") == loader.load_json("mine.json") == [1]
    with pytest.raises(ValueError, match="is not JSON"):
        loader.load_json("broken")


@pytest.mark.parametrize("name", ["a/b", "/etc/passwd", "..\\b", "../b"])
def test_a_path_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="plain name"):
        load_test_data(name)


@pytest.mark.parametrize("name", ["..", "missing"])
def test_what_is_no_file_there_is_not_found(name: str) -> None:
    with pytest.raises(FileNotFoundError, match="no test data file"):
        load_test_data(name)


def test_a_link_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text("1")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "link.json").symlink_to(tmp_path / "outside.json")
    with pytest.raises(PermissionError, match="escapes data directory"):
        TestDataLoader(tmp_path / "data").load_json("link")


def test_each_call_gets_data_of_its_own() -> None:
    get_conversation("basic_chat")["messages"].clear()
    assert len(get_conversation("basic_chat")["messages"]) == 4
