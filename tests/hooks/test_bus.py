"""Hooks: order, failure, refusal."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lionagi import testing
from lionagi.hooks.bus import BLOCKING_POINTS, Denial, HookBus, StopHook, hook
from lionagi.protocols.control import HookPoint


async def test_handlers_run_in_the_order_of_registration_and_their_answers_come_back() -> None:
    bus = HookBus()
    bus.on(HookPoint.TOOL_POST, lambda **facts: ("first", facts["x"]))

    async def second(**facts: Any) -> tuple[str, int]:
        return "second", facts["x"]

    bus.on("tool.post", second)
    assert await bus.emit("tool.post", x=1) == [("first", 1), ("second", 1)]


async def test_a_handler_that_fails_is_logged_and_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    bus = HookBus()

    def broken(**_: Any) -> None:
        raise ValueError("broken")

    bus.on(HookPoint.TOOL_POST, broken)
    bus.on(HookPoint.TOOL_POST, lambda **_: "ran")
    assert await bus.emit(HookPoint.TOOL_POST) == ["ran"]
    assert "broken" in caplog.text


@pytest.mark.parametrize("point", sorted(BLOCKING_POINTS))
async def test_a_failure_at_a_blocking_point_reaches_the_caller(point: HookPoint) -> None:
    bus = HookBus()

    def broken(**_: Any) -> None:
        raise ValueError("no")

    bus.on(point, broken)
    with pytest.raises(ValueError, match="no"):
        await bus.emit(point)


async def test_stop_hook_skips_the_handlers_behind_it() -> None:
    bus, ran = HookBus(), []

    def stop(**_: Any) -> None:
        raise StopHook

    bus.on(HookPoint.TOOL_POST, stop)
    bus.on(HookPoint.TOOL_POST, lambda **_: ran.append(1))
    assert await bus.emit(HookPoint.TOOL_POST) == []
    assert ran == []


def test_an_unknown_point_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"tool\.pre"):
        HookBus().on("tool.before", lambda: None)


def test_a_point_that_nothing_emits_warns() -> None:
    with pytest.warns(UserWarning, match=r"artifact\.created"):
        HookBus().on(HookPoint.ARTIFACT_CREATED, lambda: None)


def test_a_marked_function_needs_no_point() -> None:
    @hook("tool.error")
    def handler(**_: Any) -> None: ...

    bus = HookBus()
    bus.on(handler)
    assert bus.handlers_for("tool.error") == [handler]
    assert bus.off("tool.error", handler)
    assert not bus.off("tool.error", handler)


def test_on_without_a_handler_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a point and a handler"):
        HookBus().on("tool.pre")


def branch_with(handler: Any, ran: list[str], deadline: float = 10.0) -> Any:
    def act_on(x: int) -> int:
        ran.append("tool")
        return x

    asked = {"action_requests": [{"function": "act_on", "arguments": {"x": 1}}]}
    branch = testing.TestBranch.from_responses([{"type": "structured", "data": asked}], tools=[act_on])
    branch.hooks = HookBus(deadline=deadline)
    branch.hooks.on(HookPoint.TOOL_PRE, handler)
    return branch


def raises(**_: Any) -> None:
    raise RuntimeError("refused by policy")


async def hangs(**_: Any) -> None:
    await asyncio.sleep(5)


@pytest.mark.record("DEC-11-8")
@pytest.mark.parametrize("handler", [raises, lambda **_: False, lambda **_: Denial("not today"), hangs])
async def test_T10_a_tool_pre_handler_refuses_by_raising_false_a_denial_or_hanging(handler: Any) -> None:
    ran: list[str] = []
    result = await branch_with(handler, ran, deadline=0.05).operate(instruction="go", actions=True)
    assert ran == []
    assert result.action_responses[0].output["error"] == "denied"


async def test_a_tool_pre_handler_that_returns_none_is_neutral() -> None:
    ran: list[str] = []
    result = await branch_with(lambda **_: None, ran).operate(instruction="go", actions=True)
    assert ran == ["tool"]
    assert result.action_responses[0].output == 1
