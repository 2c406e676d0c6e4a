"""The schema view says for each field who asked for it, who fills it, and what the model never sees."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, RootModel
from support.nb_views import body, snapshot
from support.openai_server import OpenAIServer, structured, tool_call

import lionagi_nb as nb
from lionagi import Branch, iModel
from lionagi.operations.operate.step import Step
from lionagi_nb._schema.words import constraint_words, type_words


class Triage(BaseModel):
    summary: str = Field(max_length=120)
    category: Literal["billing", "delivery", "account", "other"]
    urgency: int = Field(ge=1, le=5)
    refund_due: float | None = Field(None, ge=0)
    tags: list[str] = Field(default_factory=list, max_length=5)


class Colour(enum.Enum):
    RED = "red"


def lookup_order(order_id: str, include: list[str] | None = None) -> dict[str, Any]:
    """Look up an order."""
    return {"order_id": order_id, "include": include}


def search_kb(query: str, limit: int = 3) -> list[str]:
    """Search the knowledge base."""
    return [query] * limit


def refund(order_id: str, amount: float) -> str:
    """Refund an amount."""
    return f"{order_id} {amount}"


TOOLS = [lookup_order, search_kb, refund]


def result() -> Any:
    operative = Step.respond_operative(Step.request_operative(base_type=Triage, reason=True, actions=True))
    made = operative.response_type(summary="Charged twice.", category="billing", urgency=4, refund_due=59.9)
    responses = [{"function": name, "arguments": {}, "output": [1]} for name in ("lookup_order", "search_kb")]
    return made.model_copy(update={"action_responses": responses})


def fields(view: Any) -> dict[str, dict[str, Any]]:
    return {row["field"]: row for row in view.data()["fields"]}


async def exactly_as_sent(
    server: OpenAIServer, branch: Branch, answer: dict[str, Any], **kwargs: Any
) -> tuple[Any, Any]:
    """Return the schema that the server got and the one that the view of the result's class shows."""
    server.script(structured(answer))
    result = await branch.operate(instruction="Go.", **kwargs)
    view = nb.schema(type(result), actions=branch, max_tool_calls=kwargs.get("max_tool_calls", 64))
    sent = server.payloads[-1]["response_format"]["json_schema"]["schema"]
    return sent, view.data()["Request schema, exactly as sent"]


class Free(BaseModel):
    notes: dict[str, str] = Field(default_factory=dict)


async def test_after_a_call_the_view_shows_the_very_schema_that_was_sent(
    openai_server: OpenAIServer, server_model: Callable[..., iModel]
) -> None:
    plain = Branch(chat_model=server_model())
    triage = {"summary": "Twice.", "category": "billing", "urgency": 4, "refund_due": None, "tags": []}
    sent, shown = await exactly_as_sent(openai_server, plain, triage, response_format=Triage)
    assert shown == sent
    sent, shown = await exactly_as_sent(openai_server, plain, {"notes": {}}, response_format=Free)
    assert shown == sent


async def test_after_a_call_with_a_format_and_tools_the_view_shows_the_very_schema_that_was_sent(
    openai_server: OpenAIServer, server_model: Callable[..., iModel]
) -> None:
    tooled = Branch(chat_model=server_model(), tools=[search_kb, refund])
    answer = {"notes": {}, "action_requests": [], "action_required": False}
    kwargs = {"response_format": Free, "actions": True, "max_tool_calls": 2}
    sent, shown = await exactly_as_sent(openai_server, tooled, answer, **kwargs)
    assert shown == sent


async def test_where_only_tools_are_sent_the_view_shows_the_tools(
    openai_server: OpenAIServer, server_model: Callable[..., iModel]
) -> None:
    tooled = Branch(chat_model=server_model(), tools=[search_kb, refund])
    openai_server.script(tool_call("search_kb", {"query": "x"}))
    result = await tooled.operate(instruction="Go.", actions=True, max_tool_calls=1)
    shown = nb.schema(type(result), actions=tooled).data()
    assert "response_format" not in openai_server.payloads[0]
    assert shown["Tools, exactly as sent"] == {"tools": openai_server.payloads[0]["tools"]}
    assert not any(title.startswith("Request schema") for title in shown)


def test_the_text_form_is_the_kept_one() -> None:
    snapshot("schema.txt", nb.schema(Triage, reason=True, actions=TOOLS).text() + "\n")


def test_the_markup_is_the_kept_one() -> None:
    snapshot("schema.html", body(nb.schema(Triage, reason=True, actions=TOOLS).html()))


def test_the_text_form_of_a_result_is_the_kept_one() -> None:
    snapshot("schema_result.txt", nb.schema(result()).text() + "\n")


def test_the_markup_of_a_result_is_the_kept_one() -> None:
    snapshot("schema_result.html", body(nb.schema(result()).html()))


def test_each_field_says_who_added_it() -> None:
    added = {name: row["added"] for name, row in fields(nb.schema(Triage, reason=True, actions=True)).items()}
    assert added == {
        **dict.fromkeys(Triage.model_fields, "you"),
        "reason": "reason=True",
        "action_required": "actions=True",
        "action_requests": "actions=True",
        "action_responses": "runtime",
    }


def test_runtime_fields_are_hidden_from_the_model() -> None:
    view = nb.schema(Triage, actions=TOOLS)
    row = fields(view)["action_responses"]
    assert (row["request"], row["response"]) == ("hidden", "runtime")
    assert "action_responses" not in str(view.data()["Request schema"])


def test_the_request_names_the_tools() -> None:
    assert fields(nb.schema(Triage, actions=TOOLS))["action_requests"]["constraints"] == (
        "tools: lookup_order, search_kb, refund; at most 64, may be empty"
    )


def test_a_plain_model_is_shown_as_it_is() -> None:
    assert nb.schema(Triage).text().startswith("Schema Triage: 5 fields, 5 sent to the model\n")


def test_an_operative_is_shown_with_its_flags() -> None:
    operative = Step.request_operative(base_type=Triage, reason=True)
    assert list(fields(nb.schema(operative))) == [*Triage.model_fields, "reason"]


def test_a_dict_format_is_shown_as_fields() -> None:
    assert fields(nb.schema({"title": "x"}, reason=True))["title"]["added"] == "you"


def test_values_say_who_produced_them() -> None:
    made = {row["field"]: row["produced_by"] for row in nb.schema(result()).data()["fields"]}
    assert made["summary"] == "model"
    assert made["tags"] == "default"
    assert made["action_responses"] == "runtime"


def test_generated_fields_at_their_default_are_folded() -> None:
    assert (
        "3 more fields, each holds its default: reason, action_required, action_requests" in nb.schema(result()).text()
    )


def test_a_result_is_named_after_the_callers_class() -> None:
    assert nb.schema(result()).subject == "Triage"


def test_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a model class"):
        nb.schema(42)


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (str, "str"),
        (float | None, "float | None"),
        (list[str], "list[str]"),
        (dict[str, list[int]], "dict[str, list[int]]"),
        (Literal["a", "b"], "str"),
        (Literal["a", 1], "str | int"),
        (Annotated[int, Field(ge=1)], "int"),
        (Colour, "Colour"),
        (Triage | None, "Triage | None"),
        (tuple[int, ...], "tuple[int, ...]"),
        (Any, "Any"),
    ],
)
def test_types_are_written_as_in_code(annotation: Any, words: str) -> None:
    assert type_words(annotation) == words


@pytest.mark.parametrize(
    ("prop", "words"),
    [
        ({"minimum": 1, "maximum": 5}, ["1 to 5"]),
        ({"minimum": 0}, ["at least 0"]),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 1}, ["more than 0", "less than 1"]),
        ({"maxLength": 120}, ["at most 120 characters"]),
        ({"minLength": 1, "maxLength": 1}, ["exactly 1 character"]),
        ({"minItems": 2, "maxItems": 5, "uniqueItems": True}, ["2 to 5 items", "no item twice"]),
        ({"enum": ["a", "b"]}, ["one of a, b"]),
        ({"enum": list(range(10))}, ["one of 0, 1, 2, 3, 4, 5, 6, 7, … 2 more"]),
        ({"const": "x"}, ["always x"]),
        ({"pattern": "^a$"}, ["matches ^a$"]),
        ({"multipleOf": 5, "format": "date"}, ["a multiple of 5", "format date"]),
        ({"type": "string"}, []),
    ],
)
def test_constraints_are_words(prop: dict[str, Any], words: list[str]) -> None:
    assert constraint_words(prop) == words


class Numbers(RootModel[list[int]]):
    """A format whose root is no object."""


async def test_a_format_that_cannot_go_natively_is_shown_in_the_prompt_as_it_was_sent(
    openai_server: OpenAIServer, server_model: Callable[..., iModel]
) -> None:
    branch = Branch(chat_model=server_model())
    openai_server.script(structured([1, 2]))
    result = await branch.operate(instruction="Go.", response_format=Numbers)
    text = nb.schema(type(result), actions=branch).text()
    assert "response_format" not in openai_server.payloads[-1]
    assert "sent natively" not in text
    assert "in the prompt" in text
