from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from lionagi._errors import ConfigurationError, ProviderResponseError
from lionagi.service.connections.endpoint import CONTROL_NAMES, Endpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.types import Capabilities, StreamChunk, ToolCall

KEY = "sk-canary-1234567890"


def answer(content: Any = "hi", **message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": content, **message}, "finish_reason": "stop"}]}


class Fixed(Endpoint):
    """Answers from memory."""

    def __init__(self, config: Any = None, **kwargs: Any) -> None:
        super().__init__(config or {"provider": "fixed", "api_key": KEY}, **kwargs)

    async def _call(self, payload: dict[str, Any], headers: dict[str, str], **kwargs: Any) -> Any:
        return answer()


def test_later_sources_win_and_control_names_and_none_are_dropped():
    endpoint = Fixed(temperature=1, top_p=1, stop="x")
    request = {"top_p": 2, "messages": [], "stop": None, **dict.fromkeys(CONTROL_NAMES, "x")}
    payload, _ = endpoint.create_payload(request, temperature=3)
    assert payload == {"temperature": 3, "top_p": 2, "messages": []}


def test_the_messages_list_is_passed_on_as_the_same_object():
    messages: list[Any] = [{"role": "user", "content": "a"}]
    payload, _ = Fixed().create_payload({"messages": messages})
    assert payload["messages"] is messages


def test_with_request_options_only_their_fields_are_sent():
    class Options(BaseModel):
        model: str

    payload, _ = Fixed(request_options=Options).create_payload({"model": "m", "seed": 1})
    assert payload == {"model": "m"}


def test_extra_headers_join_the_configured_ones():
    _, headers = Fixed(default_headers={"X-A": "1"}).create_payload({}, {"X-B": "2"})
    assert headers == {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}", "X-A": "1", "X-B": "2"}


def test_a_missing_key_is_one_clear_line():
    endpoint = Endpoint({"provider": "acme", "api_key_env": "ACME_API_KEY"})
    with pytest.raises(ConfigurationError, match=r"^API key is required .* acme: set ACME_API_KEY or pass api_key$"):
        endpoint.create_payload({})


def test_a_given_configuration_is_copied():
    config = EndpointConfig(provider="x", kwargs={"temperature": 1})
    Endpoint(config, top_p=1)
    assert config.kwargs == {"temperature": 1}


async def test_the_base_streams_one_piece_and_a_result():
    chunks = [chunk async for chunk in Fixed().stream({})]
    assert [chunk.type for chunk in chunks] == ["text", "result"]
    assert chunks[0] == StreamChunk("text", content="hi", is_delta=True)
    assert chunks[1].metadata == {"done": True, "raw": answer(), "usage": None, "finish_reason": "stop"}


def test_schema_and_tools_payload_are_empty_where_the_endpoint_cannot():
    endpoint = Fixed()
    assert endpoint.schema_payload("A", {}) == {}
    assert endpoint.tools_payload([{"type": "function"}]) == {}


def test_schema_payload_is_the_json_schema_response_format():
    endpoint = Fixed()
    endpoint.capabilities = Capabilities(structured_output=True)
    expected = {"type": "json_schema", "json_schema": {"name": "My_Model_", "schema": {"type": "object"}}}
    assert endpoint.schema_payload("My Model!", {"type": "object"}) == {"response_format": expected}


def test_a_strict_schema_says_so():
    endpoint = Fixed()
    endpoint.capabilities = Capabilities(structured_output=True, strict_schema=True)
    assert endpoint.schema_payload("A", {})["response_format"]["json_schema"]["strict"] is True
    assert "strict" not in endpoint.schema_payload("A", {}, strict=False)["response_format"]["json_schema"]


def test_tools_payload_lists_the_schemas():
    endpoint = Fixed()
    endpoint.capabilities = Capabilities(native_tools=True)
    assert endpoint.tools_payload([{"type": "function"}]) == {"tools": [{"type": "function"}]}
    assert endpoint.tools_payload([]) == {}


def test_a_clone_has_a_configuration_of_its_own():
    endpoint = Fixed(temperature=1)
    other = endpoint.clone()
    other.config.kwargs["temperature"] = 2
    assert endpoint.config.kwargs == {"temperature": 1}
    assert other.config.resolve_api_key() == KEY


def test_repr_and_to_dict_hold_no_key():
    endpoint = Fixed()
    assert KEY not in repr(endpoint) + str(endpoint.to_dict())


def test_to_dict_and_from_dict_keep_the_configuration():
    endpoint = Fixed(temperature=1, timeout=3)
    other = Fixed.from_dict(endpoint.to_dict())
    assert (other.config.kwargs, other.config.timeout) == ({"temperature": 1}, 3.0)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        (None, {}),
        ({"a": 1}, {"a": 1}),
        ("[1]", "[1]"),
        ('{"a": ', '{"a": '),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_tool_arguments_are_a_mapping_or_the_raw_text(arguments: Any, expected: Any):
    call = {"id": "1", "function": {"name": "f", "arguments": arguments}}
    assert Fixed().decode(answer(None, tool_calls=[call])).tool_calls == (ToolCall("f", expected, "1"),)


def test_content_parts_are_joined():
    assert Fixed().decode(answer([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])).text == "ab"


def test_an_empty_text_is_an_answer_and_a_missing_one_is_not():
    assert Fixed().decode(answer("")).text == ""
    with pytest.raises(ProviderResponseError, match="no content"):
        Fixed().decode(answer(None))


@pytest.mark.record("DEC-44-4")
def test_a_refusal_is_a_refusal():
    assert Fixed().decode(answer(None, refusal="I will not")).refusal == "I will not"


def test_content_withheld_by_a_filter_is_a_refusal():
    response = {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}
    assert "content filter" in (Fixed().decode(response).refusal or "")


@pytest.mark.parametrize(
    "response",
    [
        [],
        None,
        "text",
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [1]},
        {"choices": [{}]},
        {"choices": [{"message": {"content": 5}}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"tool_calls": 5}}]},
        {"choices": [{"message": {"tool_calls": [5]}}]},
        {"choices": [{"message": {"tool_calls": [{"function": {}}]}}]},
    ],
)
def test_P6_a_response_of_another_shape_is_a_typed_error_naming_the_provider(response: Any):
    with pytest.raises(ProviderResponseError, match=r"^fixed sent an answer that cannot be read: [^\n]*$"):
        Fixed().decode(response)
