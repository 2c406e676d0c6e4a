"""The comparison says where two conversations part, and what differs there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from support.nb_views import read

import lionagi_nb as nb
from lionagi import Branch
from lionagi.testing import TestBranch
from lionagi_nb._compare.steps import CompareStep, pair_up

ASKS = {"function": "refund", "arguments": {"order": "A-1", "amount": 59.9}}


class Triage(BaseModel):
    """The answer asked for."""

    category: str
    urgency: int


def refund(order: str, amount: float) -> str:
    """Pay back."""
    return "re_01"


async def talk(urgency: int, reply: str, *, refunds: bool = True, ask: str = "Draft the reply.") -> Branch:
    data = {"category": "billing", "urgency": urgency, "action_requests": [ASKS] if refunds else []}
    entries: list[Any] = [{"type": "structured", "data": {**data, "action_required": refunds}}]
    branch = TestBranch.from_responses([*entries, {"type": "text", "content": reply}], tools=[refund], name="triage")
    await branch.operate(instruction="I was charged twice.", response_format=Triage, actions=True)
    await branch.communicate(ask)
    return branch


async def test_two_runs_of_one_conversation_are_the_same() -> None:
    view = nb.compare(await talk(3, "Done."), await talk(3, "Done."))
    assert view.same
    assert view.text() == "Compare triage: = same\n5 steps, times and ids ignored"
    assert "first divergence" not in view.html()


async def test_the_first_divergence_names_the_fields_that_changed() -> None:
    view = nb.compare(await talk(4, "Done."), await talk(3, "Done."), names=("recorded", "today"))
    assert view.first_divergence == 2
    assert "the model answered urgency differently" in view.text()
    page = " ".join(read(view.html()).words)
    assert "differs at step 2 of 5" in page
    assert "first divergence" in page
    assert "Step 1 is the same" in page
    assert "<del>4</del>" in view.html()
    assert "<ins>3</ins>" in view.html()


async def test_a_tool_call_of_the_first_only_is_missing() -> None:
    view = nb.compare(await talk(3, "Done."), await talk(3, "Done.", refunds=False))
    verdicts = [(s["verdict"], (s["first"] or s["second"])["kind"]) for s in view.data()["steps"]]
    assert verdicts == [
        ("same", "prompt"), ("differs", "model call"), ("missing", "tool"), ("same", "prompt"), ("same", "model call")
    ]  # fmt: skip


async def test_a_tool_call_of_the_second_only_is_added() -> None:
    view = nb.compare(await talk(3, "Done.", refunds=False), await talk(3, "Done."))
    assert view.data()["steps"][2]["verdict"] == "added"
    assert view.data()["steps"][2]["first"] is None


@pytest.mark.parametrize(("turned", "words"), [(False, "the first only"), (True, "the second only")])
async def test_a_step_of_one_side_only_is_said_in_words(turned: bool, words: str) -> None:
    longer, shorter = await talk(3, "Done."), await talk(3, "Done.")
    await longer.msgs.a_add_message(instruction="One more thing.", recipient=longer.id)
    pair = (shorter, longer) if turned else (longer, shorter)
    assert f"Step 6, a prompt, happened in {words}." in nb.compare(*pair).text()


async def test_texts_are_marked_word_by_word() -> None:
    view = nb.compare(await talk(3, "We have refunded it today."), await talk(3, "We have passed it on today."))
    assert view.first_divergence == 5
    assert "<del>refunded</del>" in view.html()
    assert "<ins>passed</ins>" in view.html()


async def test_a_changed_prompt_is_said_to_be_the_cause() -> None:
    view = nb.compare(await talk(3, "Done."), await talk(3, "Done.", ask="Draft it."))
    assert "What was said to the model differs at step 4. Later steps follow from it." in view.text()


async def test_arguments_beyond_the_shown_line_count() -> None:
    def branch(tail: str) -> Any:
        request = {"function": "refund", "arguments": {"order": "A" * 500 + tail, "amount": 1}}
        data = {"category": "x", "urgency": 1, "action_required": True, "action_requests": [request]}
        return TestBranch.from_responses([{"type": "structured", "data": data}], tools=[refund])

    a, b = branch("1"), branch("2")
    for each in (a, b):
        await each.operate(instruction="go", response_format=Triage, actions=True)
    assert [s["verdict"] for s in nb.compare(a, b).data()["steps"]] == ["same", "differs", "differs"]


async def test_transcripts_compare_after_their_branches_went_on() -> None:
    branch = await talk(3, "Done.")
    before = nb.transcript(branch)
    branch.messages.clear()
    assert nb.compare(before, branch).data()["steps"][0]["verdict"] == "missing"


def test_something_else_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="two branches or two transcripts, not str"):
        nb.compare("a", "b")
    with pytest.raises(ValueError, match="must be two"):
        nb.compare(TestBranch.from_responses([]), TestBranch.from_responses([]), names=("one",))


steps = st.lists(
    st.builds(
        lambda kind, name, value: CompareStep(kind, name, value, False),
        st.sampled_from(["prompt", "model call", "tool"]),
        st.sampled_from(["", "f", "g"]),
        st.sampled_from(["x", "y"]),
    ),
    max_size=12,
).map(tuple)


@given(steps, steps)
def test_every_step_of_both_sides_stands_once_and_in_order(
    a: tuple[CompareStep, ...], b: tuple[CompareStep, ...]
) -> None:
    pairs = pair_up(a, b)
    assert tuple(p.first for p in pairs if p.first is not None) == a
    assert tuple(p.second for p in pairs if p.second is not None) == b
    assert all((p.verdict == "same") == (p.first == p.second) for p in pairs)
    assert (a == b) == all(p.verdict == "same" for p in pairs)
