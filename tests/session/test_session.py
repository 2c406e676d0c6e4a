"""Session: branches under one observer, gate and hooks."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from lionagi import testing
from lionagi._errors import ExistsError, NotFoundError, OperationError
from lionagi.session.branch import Branch
from lionagi.session.session import Session


def tool_branch(ran: list[int]) -> Branch:
    def act_on(x: int) -> int:
        ran.append(x)
        return x

    asked = {"action_requests": [{"function": "act_on", "arguments": {"x": 1}}]}
    return testing.TestBranch.from_responses([{"type": "structured", "data": asked}], tools=[act_on])


def test_a_session_begins_with_a_default_branch() -> None:
    session = Session(name="s")
    assert list(session.branches) == [session.default_branch]


def test_branches_are_found_by_id_name_and_themselves() -> None:
    session = Session()
    branch = session.new_branch(name="second")
    assert session.get_branch("second") is branch
    assert session.get_branch(branch.id) is branch
    assert session.get_branch(branch) is branch
    assert session.get_branch("none", None) is None
    with pytest.raises(NotFoundError, match="third"):
        session.get_branch("third")


def test_the_default_branch_cannot_be_removed_until_another_takes_its_place() -> None:
    session = Session()
    first, second = session.default_branch, session.new_branch(name="second")
    with pytest.raises(ValueError, match="change_default_branch"):
        session.remove_branch(first)
    session.change_default_branch(second)
    assert session.remove_branch(first) is first
    assert list(session.branches) == [second]


def test_a_split_branch_is_a_clone_in_the_session() -> None:
    session = Session()
    twin = session.split()
    assert twin in session.branches
    assert twin.metadata["clone_from"]["id"] == str(session.default_branch.id)


@pytest.mark.record("DEC-11-4")
@pytest.mark.parametrize(("of_session", "of_branch"), [(True, True), (True, False), (False, True), (False, False)])
async def test_A2_a_request_runs_only_where_both_gates_allow_it(of_session: bool, of_branch: bool) -> None:
    ran: list[int] = []
    branch = tool_branch(ran)
    session = Session(default_branch=branch)
    session.gate(lambda _: of_session)
    branch.gate = lambda _: of_branch
    await branch.operate(instruction="go", actions=True)
    assert bool(ran) == (of_session and of_branch)


async def test_a_branch_that_leaves_is_not_gated_any_more() -> None:
    ran: list[int] = []
    branch = tool_branch(ran)
    session = Session()
    session.include_branches(branch)
    session.gate(lambda _: False)
    session.remove_branch(branch)
    await branch.operate(instruction="go", actions=True)
    assert ran == [1]


async def test_observers_see_the_records_of_a_turn_and_their_failures_change_nothing() -> None:
    branch, seen = tool_branch([]), []
    session = Session(default_branch=branch)

    def broken(_: Any) -> None:
        raise ValueError("observer")

    session.observe(handler=broken)
    session.observe(lambda event: event.content["kind"] == "tool_call", handler=seen.append)
    result = await branch.operate(instruction="go", actions=True)
    assert result.action_responses[0].output == 1
    assert [event.content["function"] for event in seen] == ["act_on"]


def fails(_: Any) -> None:
    raise ValueError("observer")


async def cancels(_: Any) -> None:
    raise asyncio.CancelledError


async def hangs(_: Any) -> None:
    await asyncio.Event().wait()


def hangs_in_its_thread(_: Any) -> None:
    threading.Event().wait(30)


@pytest.mark.parametrize("observer", [fails, cancels, hangs, hangs_in_its_thread])
async def test_T10_an_observer_that_fails_or_hangs_is_logged_once_and_changes_nothing(
    observer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[int] = []
    branch, seen = tool_branch(ran), []
    session = Session(default_branch=branch)

    async def see(event: Any) -> None:
        seen.append(event)

    session.observer.deadline = 0.02
    session.observe(handler=observer)
    session.observe(handler=see)
    result = await branch.operate(instruction="go", actions=True)
    assert result.action_responses[0].output == 1
    assert ran == [1]
    assert [event.content["kind"] for event in seen] == ["model_call", "tool_call", "turn"]
    assert [record.levelname for record in caplog.records if observer.__name__ in record.message] == ["WARNING"]


async def test_T10_a_condition_that_fails_is_logged_once_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    branch = tool_branch([])
    session = Session(default_branch=branch)
    session.observe(fails, handler=hangs)
    result = await branch.operate(instruction="go", actions=True)
    assert result.action_responses[0].output == 1
    assert [record.levelname for record in caplog.records if "hangs" in record.message] == ["WARNING"]


async def test_a_removed_observer_sees_nothing() -> None:
    branch, seen = tool_branch([]), []
    session = Session(default_branch=branch)
    handler = session.observe(handler=seen.append)
    assert session.observer.unobserve(handler)
    assert not session.observer.unobserve(handler)
    await branch.operate(instruction="go", actions=True)
    assert seen == []


async def test_observe_is_a_decorator_too() -> None:
    session, seen = Session(), []

    @session.observe(str)
    def handler(event: str) -> str:
        seen.append(event)
        return event.upper()

    assert await session.emit("a") == ["A"]
    assert await session.emit(1) == []
    assert seen == ["a"]


async def test_named_operations_run_after_the_verbs_are_looked_up() -> None:
    session = Session(default_branch=testing.TestBranch.from_text("hello"))

    async def shout(branch: Branch, text: str) -> str:
        return text.upper()

    session.register_operation("shout", shout)
    assert await session.run_operation("shout", text="a") == "A"
    assert await session.run_operation("communicate", instruction="hi") == "hello"
    with pytest.raises(ExistsError, match="shout"):
        session.register_operation("shout", shout)
    with pytest.raises(OperationError, match="Unknown operation 'whisper'"):
        await session.run_operation("whisper")
    with pytest.raises(ValueError, match="async function"):
        session.register_operation("plain", lambda branch: None)  # pyright: ignore[reportArgumentType]
