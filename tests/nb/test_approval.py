"""A gate that asks: what a script answers, what is said where nobody can answer, and what stays to be seen."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, cast

import pytest

import lionagi_nb as nb
from lionagi import Branch
from lionagi._errors import ConfigurationError
from lionagi.protocols.control import ToolInvocation
from lionagi.testing import TestBranch
from lionagi_nb._approval.view import ApprovalView

ran: list[str] = []


def refund(order: str) -> str:
    """Pay back."""
    ran.append(order)
    return "re_01"


def asking(*orders: str, **kwargs: Any) -> Branch:
    requests = [{"function": "refund", "arguments": {"order": order}} for order in orders]
    data = {"action_required": True, "action_requests": requests}
    branch = TestBranch.from_responses([{"type": "structured", "data": data}], tools=[refund])
    branch.gate = nb.approval(**kwargs)
    ran.clear()
    return branch


async def records(branch: Branch) -> list[dict[str, Any]]:
    await branch.operate(instruction="go", actions=True, reason=True)
    return [log.content for log in branch.logs if log.content["kind"] == "tool_call"]


@pytest.mark.record("DEC-B-7")
async def test_a_scripted_yes_runs_the_tool_and_a_scripted_no_does_not() -> None:
    with nb.scripted_input({"refund": [True, "Ask for the bank reference first."]}):
        branch = asking("A-1", "A-2")
        found = await records(branch)
    assert ran == ["A-1"]
    assert [(r["status"], r["decided_by"]) for r in found] == [("ok", "approval"), ("denied", "approval")]
    assert found[1]["reason"] == "Ask for the bank reference first."
    assert [view.verdict for view in cast("Any", branch.gate).history] == ["approved", "denied"]


async def test_a_no_without_a_reason_is_a_denial_too() -> None:
    with nb.scripted_input({"refund": False}):
        (record,) = await records(asking("A-1"))
    assert (record["status"], record["reason"], ran) == ("denied", "the person said no", [])


async def test_a_script_that_is_used_up_denies() -> None:
    with nb.scripted_input({"refund": [True]}):
        first, second = await records(asking("A-1", "A-2"))
    assert (first["status"], second["status"], ran) == ("ok", "denied", ["A-1"])
    assert "used up" in second["reason"]


@pytest.mark.parametrize("answer", [None, 1, "", {"order": "A-1"}])
async def test_an_answer_of_another_kind_denies(answer: Any) -> None:
    with nb.scripted_input({"refund": answer}):
        (record,) = await records(asking("A-1"))
    assert (record["status"], ran) == ("denied", [])
    assert "must be True, False or the reason" in record["reason"]


async def test_A3_where_nobody_can_be_asked_nothing_runs() -> None:
    (record,) = await records(asking("A-1"))
    assert (record["status"], ran) == ("denied", [])
    assert "there is no notebook to ask in" in record["reason"]


async def test_in_static_mode_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_NB_STATIC", "1")
    (record,) = await records(asking("A-1"))
    assert "LIONAGI_NB_STATIC is set" in record["reason"]
    assert "scripted_input" in record["reason"]


@pytest.mark.record("DEC-11-9")
def test_the_deadline_is_300_s_unless_it_is_set() -> None:
    assert nb.approval().timeout == 300
    assert nb.approval(timeout=5).timeout == 5


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), True, "5", None])
def test_a_timeout_that_is_no_time_is_refused(timeout: Any) -> None:
    with pytest.raises(ValueError, match="positive number of seconds"):
        nb.approval(timeout=timeout)


def test_a_script_ends_with_its_block_and_the_outer_one_goes_on() -> None:
    with nb.scripted_input({"a": 1}) as outer, nb.scripted_input({"a": 2}) as inner:
        assert (outer.take("a"), inner.take("a")) == (1, 2)
    from lionagi_nb._scripted import scripted_answer

    assert scripted_answer("a") == (False, None)


def test_an_unknown_name_is_an_error_that_lists_the_known() -> None:
    with (
        nb.scripted_input({"refund": True}) as script,
        pytest.raises(ConfigurationError, match="'pay', only for refund"),
    ):
        script.take("pay")


def test_a_script_is_a_mapping() -> None:
    with pytest.raises(TypeError, match="mapping of names to answers"):
        nb.scripted_input([True])  # pyright: ignore[reportArgumentType]


async def test_a_direct_call_of_the_gate_answers_as_a_gate_does() -> None:
    gate = nb.approval()
    with nb.scripted_input({"refund": [True, False, "no"]}):
        call = ToolInvocation("refund", {"order": "A-1"})
        assert [await gate(call), await gate(call), await gate(call)] == [True, "the person said no", "no"]


ENDS: dict[str, Callable[[], ApprovalView]] = {
    "approved": lambda: ApprovalView("refund", '{"order": "A-1"}', "approved", seconds=18.0),
    "denied": lambda: ApprovalView("send_reply", '{"body": "hi"}', "denied", reason="Ask first.", seconds=6.0),
    "no answer": lambda: ApprovalView("refund", "{}", "no answer", seconds=300.0),
    "cancelled": lambda: ApprovalView("refund", "{}", "cancelled"),
}
TEXTS = {
    "approved": 'Approval refund: ✓ approved\n{"order": "A-1"}',
    "denied": 'Approval send_reply: ⊘ denied\n{"body": "hi"}\nReason told to the model: “Ask first.”',
    "no answer": "Approval refund: ⊘ denied: no answer\n{}\n"
    "Nobody answered in time. The tool did not run; the other requests went on.",
    "cancelled": "Approval refund: □ cancelled\n{}\nThe run was cancelled before an answer came. The tool did not run.",
}


@pytest.mark.parametrize("end", sorted(ENDS))
def test_each_end_leaves_a_view(end: str) -> None:
    view = ENDS[end]()
    assert view.text() == TEXTS[end]
    assert pickle.loads(pickle.dumps(view)) == view
    assert view.data()["verdict"] == end
