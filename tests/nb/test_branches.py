"""The views of real branches on a script: what the core records is what the views show."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from pydantic import BaseModel, Field
from support.nb_views import read

import lionagi_nb as nb
from lionagi import Branch
from lionagi._errors import ScriptExhaustedError
from lionagi.testing import TestBranch


class Triage(BaseModel):
    summary: str = Field(max_length=120)
    urgency: int = Field(ge=1, le=5)
    tags: list[str] = Field(default_factory=list)


def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up an order."""
    return {"order_id": order_id, "total": 59.9}


def refund(order_id: str, amount: float) -> str:
    """Refund an amount."""
    raise LookupError(f"no order {order_id} with {amount}")


def requests(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    wanted = [{"function": function, "arguments": arguments} for function, arguments in calls]
    return {"type": "structured", "data": {"summary": "s", "urgency": 3, "action_requests": wanted}}


def scripted(*entries: dict[str, Any], **kwargs: Any) -> Branch:
    return TestBranch.from_responses(list(entries), tools=[lookup_order, refund], name="triage", **kwargs)


async def ask(branch: Branch, **kwargs: Any) -> Any:
    return await branch.operate(instruction="classify", response_format=Triage, actions=True, **kwargs)


def statuses(view: Any) -> list[tuple[str, str]]:
    return [(row["function"], row["status"]) for group in view.data()["turns"] for row in group["rows"]]


async def test_each_end_of_a_request_is_shown() -> None:
    branch = scripted(
        requests(
            ("lookup_order", {"order_id": "A"}), ("refund", {"order_id": "A", "amount": "all"}),
            ("refund", {"order_id": "A", "amount": 1}), ("nothing", {}),
        )
    )  # fmt: skip
    await ask(branch)
    view = nb.actions(branch)
    assert statuses(view) == [("lookup_order", "ok"), ("refund", "error"), ("refund", "error"), ("nothing", "error")]
    text = " ".join(view.text().split())
    assert "Invalid arguments. 'amount': " in text
    assert 'LookupError: "no order A with 1.0".' in text or "LookupError: no order A with 1.0." in text
    assert "'nothing' is not registered" in text


async def test_a_denial_names_the_gate() -> None:
    def office_hours(action: Any) -> Any:
        return "nobody is there"

    branch = scripted(requests(("lookup_order", {"order_id": "A"})))
    branch.gate = office_hours
    await ask(branch)
    assert "Gate office_hours: nobody is there. Not called." in nb.actions(branch).text()


async def test_requests_past_the_cap_are_refusals() -> None:
    branch = scripted(requests(*[("lookup_order", {"order_id": str(n)}) for n in range(3)]))
    await ask(branch, max_tool_calls=2)
    assert [status for _, status in statuses(nb.actions(branch))] == ["ok", "ok", "refused"]


async def test_an_unselected_tool_is_a_denial() -> None:
    branch = scripted(requests(("refund", {"order_id": "A", "amount": 1})))
    await ask(branch, tools=["lookup_order"])
    assert statuses(nb.actions(branch)) == [("refund", "denied")]


async def test_a_result_alone_shows_its_requests() -> None:
    branch = scripted(requests(("lookup_order", {"order_id": "A"})))
    assert statuses(nb.actions(await ask(branch))) == [("lookup_order", "ok")]


async def test_a_result_with_its_branch_shows_the_turns_records() -> None:
    branch = scripted(requests(("lookup_order", {"order_id": "A"})), requests(("lookup_order", {"order_id": "B"})))
    await ask(branch)
    second = await ask(branch)
    view = nb.actions(second, branch)
    assert [row["arguments"] for group in view.data()["turns"] for row in group["rows"]] == [{"order_id": "B"}]
    assert view.data()["turns"][0]["rows"][0]["decided_by"]


async def test_skipped_validation_says_why_nothing_ran() -> None:
    branch = scripted(requests(("lookup_order", {"order_id": "A"})))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await ask(branch, skip_validation=True)
    assert "actions not run: skip_validation" in nb.actions(branch).text()


async def test_the_timeline_joins_calls_tools_and_the_script() -> None:
    branch = scripted(
        requests(("lookup_order", {"order_id": "A"})),
        {"type": "stream", "chunks": [{"type": "text", "content": "hel"}, {"type": "text", "content": "lo"}]},
        {"type": "text", "content": "x", "when": {"prompt_contains": "never said"}},
    )
    await ask(branch)
    async for _ in branch.run("stream it"):
        pass
    with pytest.raises(ScriptExhaustedError):
        await branch.communicate("more")
    view = nb.timeline(branch)
    text = view.text()
    assert "structured Triage " in text
    assert "  tool lookup_order" in text
    assert "stream 2 chunks, 5 chars" in text
    assert "Call 3 found no entry" in text
    assert 'say "never said" in the prompt, or add an entry after 2' in text
    assert "Unused entries: 1 of 3" in text
    assert read(view.html()).stray == []


async def test_the_served_answers_serve_again() -> None:
    branch = scripted(requests(), {"type": "text", "content": "hello"})
    await ask(branch)
    await branch.communicate("hi")
    from lionagi.ln.yamls import load_yaml

    again = TestBranch.from_script(load_yaml(nb.timeline(branch).script), tools=[lookup_order])
    await ask(again)
    assert await again.communicate("hi") == "hello"


async def test_views_of_a_branch_do_not_follow_it() -> None:
    branch = scripted(requests(("lookup_order", {"order_id": "A"})), {"type": "text", "content": "hello"})
    await ask(branch)
    views = (nb.actions(branch), nb.timeline(branch))
    before = [view.html() for view in views]
    await branch.communicate("hi")
    assert [view.html() for view in views] == before


async def test_the_schema_of_a_branch_that_is_prompted_shows_the_prompt() -> None:
    view = nb.schema(Triage, actions=scripted())
    assert "request schema: text" in view.text()
    assert "in the prompt" in view.text()


async def test_an_invented_response_is_not_shown() -> None:
    entry = requests()
    entry["data"]["action_responses"] = [{"function": "lookup_order", "output": "made up"}]
    result = await ask(scripted(entry))
    assert "made up" not in nb.schema(result).text()


async def test_run_sync_drives_a_branch_inside_a_loop() -> None:
    branch = scripted({"type": "text", "content": "hello"}, {"type": "text", "content": "again"})
    assert nb.run_sync(branch.communicate("hi")) == "hello"
    assert await branch.communicate("hi") == "again"
