"""The transcript shows who said what, in turns, with the tool calls under the answer that asked for them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from support.nb_views import read, said

import lionagi_nb as nb
from lionagi import Branch, iModel
from lionagi.testing import TestBranch

ASKS = {
    "city": "Paris",
    "action_required": True,
    "action_requests": [{"function": "weather", "arguments": {"city": "Paris"}}],
}


class City(BaseModel):
    """The answer asked for."""

    city: str


def weather(city: str) -> str:
    """Return the weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"sunny in {city}"


def answers(*entries: Any, **kwargs: Any) -> Branch:
    made = [e if isinstance(e, dict) else {"type": "text", "content": e} for e in entries]
    return TestBranch.from_responses(made, tools=[weather], name="trip", **kwargs)


async def asked(data: dict[str, Any] = ASKS) -> Branch:
    branch = answers({"type": "structured", "data": data}, "Gladly.\n\nBring a hat.", system="Be brief.")
    await branch.operate(instruction="Where to?", response_format=City, actions=True)
    await branch.communicate("And what to wear?")
    return branch


async def test_the_text_form_has_turns_roles_and_calls() -> None:
    text = nb.transcript(await asked()).text()
    assert text.splitlines()[0] == "Transcript trip: 2 turns, 7 messages"
    assert "turn 1     operate, added 4 messages, 1 tool call" in text
    assert '✓ ok weather {"city": "Paris"} → "sunny in Paris"' in text
    assert "turn 2     communicate, added 2 messages" in text
    assert text.index("system     Be brief.") < text.index("turn 1") < text.index("user       Where to?")


async def test_a_failed_call_shows_its_reason() -> None:
    request = {"function": "weather", "arguments": {"city": "Atlantis"}}
    branch = await asked({**ASKS, "action_requests": [request]})
    assert "✗ error weather" in nb.transcript(branch).text()
    assert "no such city" in nb.transcript(branch).text()


async def test_a_denied_call_shows_who_said_no() -> None:
    branch = answers({"type": "structured", "data": ASKS})
    branch.gate = lambda call: False
    await branch.operate(instruction="Where to?", response_format=City, actions=True)
    (call,) = nb.transcript(branch).data()["turns"][0]["messages"][1]["calls"]
    assert call["status"] == "denied"


async def test_the_data_form_holds_every_message_and_the_whole_answer() -> None:
    turns = nb.transcript(await asked()).data()["turns"]
    assert [t["number"] for t in turns] == [0, 1, 2]
    (answer,) = [m for m in turns[1]["messages"] if m["role"] == "assistant"]
    assert answer["parts"] == [{"label": "3 fields", "value": ASKS}]
    assert turns[2]["messages"][1]["text"] == "Gladly.\n\nBring a hat."


async def test_tokens_are_the_providers_own(server_model: Callable[..., iModel]) -> None:
    branch = Branch(chat_model=server_model())
    await branch.communicate("hi")
    page = read(nb.transcript(branch).html())
    (turn,) = nb.transcript(branch).data()["turns"]
    usage = branch.messages[-1].metadata["model_response"]["usage"]
    await branch.chat_model.close()
    assert turn["messages"][1]["tokens"] == usage["completion_tokens"]
    assert turn["tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
    assert f"{turn['tokens']:,} tokens where known" in " ".join(page.words)


async def test_unknown_tokens_are_a_dash_and_never_zero() -> None:
    view = nb.transcript(await asked())
    assert [turn["tokens"] for turn in view.data()["turns"]] == [None, None, None]
    assert "tokens where known" not in view.html()


async def test_a_long_message_is_cut_and_whole_in_its_fold() -> None:
    branch = answers("word " * 500)
    await branch.communicate("hi")
    message = nb.transcript(branch).data()["turns"][0]["messages"][1]
    assert message["text"].endswith("(2,500 chars)") or message["text"].endswith("(2,499 chars)")
    assert len(message["parts"][0]["value"]) >= 2_499


async def test_an_image_is_named_with_its_size_and_never_shown() -> None:
    image = "data:image/png;base64," + base64.b64encode(b"x" * 1_900).decode()
    branch = answers("a cat")
    await branch.communicate("what is this?", images=[image])
    view = nb.transcript(branch)
    assert view.data()["turns"][0]["messages"][0]["images"] == ["image/png · 1.9\u00a0kB"]
    assert image[:80] not in view.html()


def test_an_empty_branch_says_so() -> None:
    assert nb.transcript(answers("x")).text() == "Transcript trip: no messages\nNothing has been said here yet."


def test_something_else_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="takes a branch, not int"):
        nb.transcript(3)


async def test_a_long_conversation_ends_with_how_many_turns_are_left() -> None:
    branch = answers(*["yes"] * 120)
    for n in range(120):
        await branch.communicate(f"question {n}")
    view = nb.transcript(branch)
    assert view.text().endswith("20 more turns")
    assert "20 more turns" in " ".join(read(view.html()).words)
    assert len(view.data()["turns"]) == 120


def test_a_call_without_an_answer_in_the_history_did_not_run() -> None:
    held = said("x")
    held.messages = held.messages[:4]
    held.logs = []
    (_, turn) = nb.transcript(held).data()["turns"]
    assert turn["messages"][1]["calls"][0]["status"] == "not run"
