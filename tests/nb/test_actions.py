"""The action view shows every request with its end, and says why one never ran."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.nb_views import body, branch, model_call, read, snapshot, tool_call, triage_actions, turn

import lionagi_nb as nb
from lionagi.testing import TestBranch


def rows(view: Any) -> list[dict[str, Any]]:
    return [row for group in view.data()["turns"] for row in group["rows"]]


def test_the_text_form_is_the_kept_one() -> None:
    snapshot("actions.txt", nb.actions(triage_actions()).text() + "\n")


def test_the_markup_is_the_kept_one() -> None:
    snapshot("actions.html", body(nb.actions(triage_actions()).html()))


def test_statuses_and_order_are_those_of_the_records() -> None:
    found = [row["status"] for row in rows(nb.actions(triage_actions()))]
    assert found == ["ok", "ok", "error", "timeout", "denied", "refused", "not run", "not run"]


def test_an_argument_error_says_that_nothing_was_called() -> None:
    row = rows(nb.actions(triage_actions()))[2]
    assert row["reason"] == 'Invalid arguments. `amount`: expected a number, got "all". Not called.'
    assert row["duration"] is None


def test_a_denial_names_its_gate() -> None:
    assert rows(nb.actions(triage_actions()))[4]["reason"] == "Gate `outbound_mail`: replies need a person. Not called."


def test_a_tools_own_error_keeps_its_class() -> None:
    record = tool_call("f", {}, {"error": "KeyError", "message": "'x'"}, status="error", reason="'x'")
    row = rows(nb.actions(branch([record])))[0]
    assert row["reason"] == "KeyError: 'x'."
    assert row["duration"] == 0.038


def test_cancelled_calls_are_shown() -> None:
    record = tool_call("f", {}, None, status="cancelled", reason=None)
    assert "□ cancelled  f  {}" in nb.actions(branch([record])).text()


def test_an_unknown_status_is_a_caution() -> None:
    assert "! odd" in nb.actions(branch([tool_call("f", {}, status="odd")])).text()


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("skip_validation=True returns before the actions", "skip_validation=True returns before the actions."),
        ("invoke_actions=False", "invoke_actions=False leaves the requests to you."),
        ("actions were not enabled in this call", "Actions were not enabled in this call."),
        (None, "It never began."),
    ],
)
def test_a_request_that_never_ran_says_why(why: str | None, words: str) -> None:
    record = turn(not_run=why, requests=[{"function": "refund", "arguments": {"amount": 1}}])
    assert f"→ {words}" in nb.actions(branch([record])).text()


def test_turns_keep_their_order_and_their_verbs() -> None:
    logs = [
        model_call([], 0, 1, turn="a"),
        tool_call("f", {}, turn="a"),
        turn("a"),
        tool_call("g", {}, turn="b", strategy="sequential"),
    ]
    text = nb.actions(branch(logs)).text()
    assert "Turn 1: operate, concurrent, 1 request\n" in text
    assert "Turn 2: act, sequential, 1 request\n" in text


def test_a_turn_that_was_cancelled_before_its_record_keeps_its_verb() -> None:
    logs = [model_call([], 0, 1, turn="a"), tool_call("f", {}, turn="a")]
    assert "Turn 1: operate" in nb.actions(branch(logs)).text()


def test_each_attempt_has_its_row() -> None:
    logs = [tool_call("f", {}, status="error", reason="x"), tool_call("f", {}, 1, attempt=2)]
    assert "attempt 2, finished ok" in "".join(read(nb.actions(branch(logs)).html()).words)


def test_no_requests_names_the_tools_on_offer() -> None:
    assert nb.actions(branch([turn()], "greeting")).text() == (
        "Actions greeting: no requests\n"
        "The model asked for no tool. 3 tools were offered: lookup_order, search_kb, refund."
    )


def test_no_turn_says_so() -> None:
    assert "No turn has been recorded here." in nb.actions(branch([], None)).text()


def test_neither_times_nor_ids_are_in_the_text() -> None:
    text = nb.actions(triage_actions()).text()
    assert "38 ms" not in text
    assert "7.4 s" not in text
    assert "22:13" not in text


def test_the_text_is_at_most_100_columns_wide() -> None:
    long = tool_call("a_tool_with_quite_a_long_name_indeed", {f"key_{n}": "value " * 3 for n in range(9)}, "word " * 90)
    view = nb.actions(branch([*triage_actions().logs, long]))
    assert max(map(len, view.text().splitlines())) <= 100


def test_a_result_alone_shows_what_it_holds() -> None:
    result = {
        "action_requests": [{"function": "f", "arguments": {}}, {"function": "g", "arguments": {}}],
        "action_responses": [{"function": "f", "arguments": {}, "output": {"error": "denied", "message": "no"}}],
    }
    assert [row["status"] for row in rows(nb.actions(result))] == ["denied", "not run"]


def test_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a branch or a result"):
        nb.actions(42)


def test_records_that_break_the_rules_are_shown_all_the_same() -> None:
    odd = [tool_call(None, None, object()), {"kind": "tool_call"}, {"kind": "turn"}, {"other": 1}]
    view = nb.actions(branch(odd))
    assert view.text().count("✓ ok") == 2
    assert read(view.html()).stray == []


def test_a_turn_whose_requests_were_not_read_is_named() -> None:
    view = nb.actions(branch([turn(not_run="skip_validation=True returns before the actions")]))
    assert view.text().endswith("Turn 1: operate, actions not run: skip_validation")
    assert read(view.html()).stray == []


@pytest.mark.record("DEC-30-3")
async def test_every_audit_record_of_a_turn_is_a_row_with_its_end() -> None:
    def good(n: int) -> int:
        """Give it back."""
        return n

    def bad(n: int) -> int:
        """Fail."""
        raise LookupError("no such thing")

    async def slow(n: int) -> int:
        """Never come back."""
        await asyncio.sleep(60)
        return n

    wanted = [("good", 1), ("bad", 2), ("slow", 3), ("good", 13), ("nobody", 5), ("good", "x"), ("good", 7)]
    requests = [{"function": name, "arguments": {"n": n}} for name, n in wanted]
    data = {"action_required": True, "action_requests": requests}
    held = TestBranch.from_responses([{"type": "structured", "data": data}], tools=[good, bad, slow])
    held.gate = lambda call: call.arguments["n"] != 13
    await held.operate(instruction="go", actions=True, reason=True, tool_timeout=0.05, max_tool_calls=6)
    logged = [log.content for log in held.logs if log.content["kind"] == "tool_call"]
    shown = rows(nb.actions(held))
    assert sorted((r["function"], r["status"]) for r in shown) == sorted((r["function"], r["status"]) for r in logged)
    assert {r["status"] for r in shown} == {"ok", "error", "timeout", "denied", "refused"}
    assert len(shown) == len(wanted)
