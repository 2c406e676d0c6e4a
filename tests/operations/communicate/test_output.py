"""Where the format goes, and what comes back of it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from pydantic import BaseModel
from support.openai_server import Reply
from support.openai_server import tool_call as wire_call
from support.roads import Bench, Road, request, requests, structured, text

from lionagi._errors import ConfigurationError, ParseError
from lionagi.ln.clock import NoWaitClock
from lionagi.ln.types import Spec
from lionagi.models.field_model import FieldModel
from lionagi.operations.schema.structure import Structure
from lionagi.service.imodel import iModel
from lionagi.testing import TestBranch, scripted_imodel


class City(BaseModel):
    """A place."""

    zebra_name: str


class Shout(Structure):
    """A format of the caller's own: the answer stands between exclamation marks."""

    def render(self) -> str:
        return "Answer between exclamation marks: QUOKKA"

    def parse(self, text: str, *, fuzzy_match_params: Any = None) -> Any:
        if "!" not in text:
            raise ParseError("no exclamation mark")
        return text.split("!")[1]


def native(payload: dict[str, Any]) -> str:
    return json.dumps(payload.get("response_format"))


def prompt(payload: dict[str, Any]) -> str:
    return json.dumps(payload["messages"])


@pytest.mark.record("DEC-02-1", "DEC-02-2")
@pytest.mark.parametrize(
    ("mode", "natively", "in_prompt"),
    [("auto", True, False), ("native", True, False), ("prompt", False, True), ("both", True, True)],
)
async def test_the_schema_goes_where_the_mode_says_on_an_api(
    api_road: Road, mode: Any, natively: bool, in_prompt: bool
) -> None:
    branch = api_road.branch(structured(zebra_name="Oslo"))
    result = await branch.operate(instruction="a", response_format=City, structured_output=mode)
    (payload,) = api_road.payloads
    assert ("zebra_name" in native(payload), "zebra_name" in prompt(payload)) == (natively, in_prompt)
    assert not natively or payload["response_format"]["type"] == "json_schema"
    assert result.zebra_name == "Oslo"


@pytest.mark.record("DEC-02-1", "DEC-02-5")
@pytest.mark.parametrize("given", [{}, {"structured_output": "auto"}, {"structured_output": "prompt"}], ids=str)
async def test_the_schema_goes_into_the_prompt_of_an_endpoint_that_cannot_constrain(given: Any) -> None:
    branch = TestBranch.from_responses([structured(zebra_name="Oslo")])
    await branch.operate(instruction="a", response_format=City, **given)
    payload = TestBranch.calls(branch)[0].payload
    assert "zebra_name" in prompt(payload)
    assert "response_format" not in payload


@pytest.mark.record("DEC-02-1")
async def test_native_is_refused_where_the_endpoint_cannot() -> None:
    branch = TestBranch.from_text("never")
    with pytest.raises(ConfigurationError, match="structured_output"):
        await branch.operate(instruction="a", response_format=City, structured_output="native")
    assert TestBranch.calls(branch) == []


@pytest.mark.record("DEC-02-6", "DEC-02-7")
async def test_the_native_schema_is_narrowed_to_the_selected_tools(api_road: Road, bench: Bench) -> None:
    branch = api_road.branch(structured(zebra_name="x", action_requests=[]), tools=list(bench.branch.tools.values()))
    await branch.operate(instruction="a", response_format=City, actions=True, tools=["safe", "echo"], max_tool_calls=7)
    schema = api_road.payloads[0]["response_format"]["json_schema"]["schema"]
    asked = schema["properties"]["action_requests"]
    assert "action_requests" in schema["required"]
    assert (asked["maxItems"], asked.get("minItems", 0)) == (7, 0)
    names = [
        each["properties"]["function"].get("const") or each["properties"]["function"]["enum"][0]
        for each in asked["items"]["anyOf"]
    ]
    assert sorted(names) == ["echo", "safe"]
    (echo,) = [each for each, name in zip(asked["items"]["anyOf"], names, strict=True) if name == "echo"]
    assert set(echo["properties"]["arguments"]["properties"]) == {"words"}


SCHEMAS = [{"type": "function", "function": {"name": "theirs", "parameters": {"type": "object", "properties": {}}}}]


@pytest.mark.record("DEC-02-9")
@pytest.mark.parametrize(
    "offer", [{"actions": True}, {"tool_schemas": SCHEMAS}, {}], ids=["actions", "schemas", "none"]
)
@pytest.mark.parametrize(
    "asks",
    [
        {},
        {"response_format": City},
        {"response_format": City(zebra_name="x")},
        {"response_format": {"zebra_name": "a name"}},
        {"reason": True},
        {"field_models": [Spec(str, name="zebra_name")]},
        {"field_models": [FieldModel(str, "zebra_name")]},
        {"response_format": City, "reason": True, "field_models": [Spec(int, name="score")]},
        {"structure": Shout(City)},
    ],
    ids=lambda asks: ", ".join(f"{name} {type(value).__name__}" for name, value in asks.items()) or "nothing",
)
async def test_tools_go_natively_exactly_where_nothing_else_is_asked_for(
    road: Road, bench: Bench, offer: Any, asks: Any
) -> None:
    branch = road.branch(structured(zebra_name="!x!"), tools=list(bench.branch.tools.values()))
    await branch.operate(instruction="a", num_parse_retries=0, **offer, **asks)
    assert ("tools" in road.payloads[0]) == (bool(offer) and not asks)


@pytest.mark.record("DEC-39-9")
@pytest.mark.parametrize("answer", ['{"zebra_nmae": "Oslo"}', "no json"])
async def test_the_callers_options_for_key_matching_are_left_alone(road: Road, answer: str) -> None:
    options = {"handle_validation": "return_value", "similarity_threshold": 0.7, "fill_mapping": {"zebra_name": "x"}}
    before = copy.deepcopy(options)
    branch = road.branch(text(answer), text(answer))
    await branch.communicate("a", response_format=City, fuzzy_match_kwargs=options, num_parse_retries=1)
    assert options == before


@pytest.mark.record("DEC-01-1")
@pytest.mark.parametrize("mode", ["auto", "prompt"])
async def test_nothing_that_is_sent_names_the_runtimes_own_field(road: Road, bench: Bench, mode: Any) -> None:
    branch = road.branch(text("no json"), structured(zebra_name="x"), tools=list(bench.branch.tools.values()))
    result = await branch.operate(
        instruction="a", response_format=City, actions=True, reason=True, structured_output=mode
    )
    assert isinstance(result, City)
    assert len(road.payloads) == 2
    assert "action_responses" not in road.sent


@pytest.mark.record("DEC-12-4")
async def test_native_calls_beside_structured_text_are_merged(api_road: Road, bench: Bench) -> None:
    branch = api_road.branch(tools=list(bench.branch.tools.values()))
    reply: Reply = wire_call("safe", {"n": 2})
    reply.text = json.dumps({"zebra_name": "x", "action_requests": [request("safe", n=1)]})
    api_road.server.script(reply)
    result = await branch.operate(instruction="a", response_format=City, actions=True)
    assert [each.arguments for each in result.action_requests] == [{"n": 1}, {"n": 2}]
    assert [each.output for each in result.action_responses] == [2, 3]


@pytest.mark.record("DEC-12-5")
async def test_tools_that_an_agentic_endpoint_ran_itself_are_history(bench: Bench) -> None:
    chunks = [
        {"type": "tool_use", "tool_name": "safe", "tool_id": "1", "tool_input": {"n": 1}},
        {"type": "tool_result", "tool_id": "1", "tool_output": "done elsewhere"},
        {"type": "text", "content": "fine"},
    ]
    TestBranch.attach_script(bench.branch, [{"type": "stream", "chunks": chunks}])
    await bench.branch.operate(instruction="a", actions=True)
    assert [(asked.function, answer.output) for asked, answer in bench.pairs] == [("safe", "done elsewhere")]
    assert bench.events == []


@pytest.mark.record("DEC-04-1")
@pytest.mark.parametrize("flags", [{"reason": True}, {"actions": True}], ids=str)
async def test_a_dict_format_keeps_its_keys_beside_the_generated_ones(road: Road, bench: Bench, flags: Any) -> None:
    branch = road.branch(
        requests(request("safe", n=1), quokka="q", reason={"title": "t"}), tools=list(bench.branch.tools.values())
    )
    result = await branch.operate(instruction="a", response_format={"quokka": "a word"}, **flags)
    assert isinstance(result, dict)
    assert result["quokka"] == "q"
    assert next(iter(flags)).rstrip("s")[:6] in road.sent
    assert "quokka" in repr([road.payloads[0]["messages"], road.payloads[0].get("response_format")])


@pytest.mark.record("DEC-0022-2-1")
async def test_operate_takes_a_structure_of_the_callers_own(road: Road) -> None:
    result = await road.branch(text("so: !hello! ok")).operate(instruction="a", structure=Shout(City))
    assert result == "hello"
    assert "QUOKKA" in road.sent


@pytest.mark.record("DEC-0022-2-2")
async def test_communicate_takes_a_structure_of_the_callers_own(road: Road) -> None:
    assert await road.branch(text("so: !hello! ok")).communicate("a", structure=Shout(City)) == "hello"
    assert "QUOKKA" in road.sent


@pytest.mark.record("DEC-0022-2-3")
async def test_parse_takes_a_structure_of_the_callers_own(road: Road) -> None:
    assert await road.branch().parse("so: !hello! ok", structure=Shout(City)) == "hello"
    assert road.payloads == []


@pytest.mark.record("DEC-37-1")
@pytest.mark.parametrize("verb", ["communicate", "parse", "operate"])
async def test_who_reformats(road: Road, verb: str) -> None:
    helper: iModel = scripted_imodel([structured(zebra_name="helped")], clock=NoWaitClock())
    entries = [text("no json")] if verb == "communicate" else []
    entries = [text("no json"), structured(zebra_name="own")] if verb == "operate" else entries
    branch = road.branch(*entries, parse_model=helper)
    if verb == "parse":
        result = await branch.parse("no json", response_format=City, max_retries=1)
    else:
        result = await getattr(branch, verb)(
            instruction="a", response_format=City, **({} if verb == "operate" else {"num_parse_retries": 1})
        )
    assert result.zebra_name == ("own" if verb == "operate" else "helped")


@pytest.mark.record("DEC-17-1")
async def test_system_and_guidance_in_one_message_are_set_apart_by_a_blank_line() -> None:
    branch = TestBranch.from_text("fine", system="SYSTEM WORDS")
    model = branch.chat_model
    model.endpoint.capabilities = type(model.endpoint.capabilities)(system_role=False)
    await branch.operate(instruction="a", guidance="GUIDANCE WORDS")
    (message,) = TestBranch.calls(branch)[0].payload["messages"]
    words = message["content"]
    between = words[words.index("SYSTEM WORDS") + len("SYSTEM WORDS") : words.index("GUIDANCE WORDS")]
    assert "\n\n" in between


@pytest.mark.record("DEC-02-2")
async def test_an_api_gets_its_system_text_as_a_system_message(api_road: Road) -> None:
    branch = api_road.branch(text("fine"), system="SYSTEM WORDS")
    await branch.operate(instruction="a")
    roles = [
        (message["role"], "SYSTEM WORDS" in str(message["content"])) for message in api_road.payloads[0]["messages"]
    ]
    assert roles == [("system", True), ("user", False)]
