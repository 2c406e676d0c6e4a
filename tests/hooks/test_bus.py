"""Hooks: order, failure, refusal."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from lionagi import testing
from lionagi.hooks.bus import BLOCKING_POINTS, HookBus, StopHook, hook
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


async def act_on(x: int) -> int:
    """Give it back."""
    if x < 0:
        raise ValueError("negative")
    return x


def raises(**_: Any) -> None:
    raise RuntimeError("broken")


async def cancels(**_: Any) -> None:
    raise asyncio.CancelledError


async def hangs(**_: Any) -> None:
    await asyncio.Event().wait()


def hangs_in_its_thread(**_: Any) -> None:
    threading.Event().wait(30)


@pytest.mark.parametrize("point", [HookPoint.TOOL_POST, HookPoint.TOOL_ERROR])
@pytest.mark.parametrize("handler", [raises, cancels, hangs, hangs_in_its_thread])
async def test_T10_a_hook_that_fails_or_hangs_is_logged_once_and_changes_nothing(
    handler: Any, point: HookPoint, caplog: pytest.LogCaptureFixture
) -> None:
    asked = [{"function": "act_on", "arguments": {"x": x}} for x in (1, -1, 2, -2, 3)]
    branch = testing.TestBranch.from_responses(
        [{"type": "structured", "data": {"action_requests": asked}}], tools=[act_on]
    )
    heard: list[str] = []

    async def hear(call_id: str, **_: Any) -> None:
        heard.append(call_id)

    branch.hooks = HookBus(deadline=0.02)
    branch.hooks.on(point, handler)
    branch.hooks.on(point, hear)
    result = await branch.operate(instruction="go", actions=True, action_strategy="sequential")
    outputs = [each.output for each in result.action_responses]
    failed = {"error": "ValueError", "message": "negative"}
    assert outputs == [1, failed, 2, failed, 3]
    assert len(heard) == (3 if point is HookPoint.TOOL_POST else 2)
    assert [record.levelname for record in caplog.records if handler.__name__ in record.message] == ["WARNING"]


async def test_T10_a_hook_that_hung_is_not_called_again() -> None:
    bus, called = HookBus(deadline=0.01), []

    async def hang(**_: Any) -> None:
        called.append(1)
        await asyncio.Event().wait()

    bus.on(HookPoint.TOOL_POST, hang)
    for _ in range(3):
        assert await bus.emit(HookPoint.TOOL_POST) == []
    assert called == [1]


async def test_a_plain_handler_runs_in_another_thread() -> None:
    bus = HookBus()
    bus.on(HookPoint.TOOL_POST, lambda **_: threading.get_ident())
    assert await bus.emit(HookPoint.TOOL_POST) != [threading.get_ident()]
