"""Exits and cancellation pass through a turn and leave a history that the next turn can use."""

from __future__ import annotations

import asyncio
import threading
import time
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import pytest
from aiohttp import web
from pydantic import BaseModel
from support.roads import Entry, Road, reply, request, requests, text

from lionagi.protocols.messages.action_request import ActionRequest
from lionagi.protocols.messages.action_response import ActionResponse
from lionagi.protocols.messages.instruction import Instruction
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch


class City(BaseModel):
    name: str


@types.coroutine
def counted(work: Coroutine[Any, Any, Any], tick: Callable[[], None]) -> Generator[Any, Any, Any]:
    """Run ``work`` and call ``tick`` whenever it waits."""
    value, error = None, None
    while True:
        try:
            waits_for = work.send(value) if error is None else work.throw(error)
        except StopIteration as done:
            return done.value
        value, error = None, None
        tick()
        try:
            value = yield waits_for
        except BaseException as raised:
            error = raised


async def cancelled_at(k: int, work: Callable[[], Coroutine[Any, Any, Any]]) -> bool:
    """Run ``work`` as a task and cancel it at the k-th wait of it or of a task of its own; False where it ended first.

    No task is left behind.
    """
    loop, waits = asyncio.get_running_loop(), 0
    before = asyncio.all_tasks()

    def tick() -> None:
        nonlocal waits
        waits += 1
        if waits == k:
            task.cancel()

    def make(loop: asyncio.AbstractEventLoop, coro: Any, **more: Any) -> asyncio.Task[Any]:
        return asyncio.Task(counted(coro, tick), loop=loop, **more)  # pyright: ignore[reportArgumentType]

    loop.set_task_factory(make)
    try:
        task = asyncio.create_task(work())
        await asyncio.wait([task])
    finally:
        loop.set_task_factory(None)
    assert asyncio.all_tasks() == before
    assert waits >= k or not task.cancelled()
    if not task.cancelled():
        task.result()
    return waits >= k


class Tools:
    """Three tools: one on the loop, one in a thread, one that fails; ``entered`` are those that began."""

    def __init__(self) -> None:
        self.entered: list[str] = []

    def all(self) -> list[Any]:
        async def slow(n: int) -> int:
            """Take a while."""
            self.entered.append("slow")
            for _ in range(2):
                await asyncio.sleep(0)
            return n

        def plain(n: int) -> int:
            """Run in a thread."""
            self.entered.append("plain")
            return n

        async def boom(n: int) -> int:
            """Fail."""
            self.entered.append("boom")
            await asyncio.sleep(0)
            raise LookupError(n)

        return [slow, plain, boom]


def check_history(branch: Branch, asked: int, begun: bool) -> None:
    """The exchange is there as a whole or not at all, and each request has its one response, next to it.

    Once a tool has begun, all requests of its turn are there.
    """
    messages = list(branch.messages)
    names = [type(message).__name__ for message in messages]
    assert names[:2] in ([], ["Instruction", "AssistantResponse"])
    pairs = messages[2:]
    assert len(pairs) in ((2 * asked,) if begun else (0, 2 * asked))
    for wanted, answer in zip(pairs[::2], pairs[1::2], strict=True):
        assert isinstance(wanted, ActionRequest)
        assert isinstance(answer, ActionResponse)
        assert wanted.content.action_response_id == str(answer.id)
        assert answer.content.action_request_id == str(wanted.id)
    records = [log.content for log in branch.logs if log.content["kind"] == "tool_call"]
    assert len(records) == len(pairs) // 2
    assert {record["status"] for record in records} <= {"ok", "error", "cancelled"}


def say(road: Road, branch: Branch, first: Entry, reformatted: Entry) -> None:
    """Let the branch's model say ``first``, ``reformatted`` where it is asked for that, and "fine" to "again".

    The server chooses by what it is asked: a request that was cancelled may still be on its way to it.
    """
    if road.name != "api":
        TestBranch.attach_script(branch, [first, reformatted])
        return

    async def choose(asked: web.Request, payload: dict[str, Any]) -> web.StreamResponse:
        words = str(payload["messages"][-1])
        entry = text("fine") if "again" in words else reformatted if "text_to_format" in words else first
        return await road.server._good(asked, payload, reply(entry))  # pyright: ignore[reportPrivateUsage]

    road.server.default = choose


async def next_turn_works(road: Road, branch: Branch) -> None:
    if road.name != "api":
        TestBranch.attach_script(branch, [text("fine")])
    assert await branch.operate(instruction="again") == "fine"
    assert isinstance(list(branch.messages)[-2], Instruction)


ASKED = [request("slow", n=1), request("plain", n=2), request("boom", n=3), request("slow", n=4)]
CALLS = [
    {"actions": True},
    {"actions": True, "action_strategy": "sequential"},
    {"actions": True, "max_concurrent_tools": 2},
    {"actions": True, "response_format": City},
    {"actions": True, "response_format": City, "reason": True, "structured_output": "prompt"},
]


@pytest.mark.parametrize("call", CALLS, ids=lambda each: ", ".join(each))
async def test_T5_cancelled_at_any_await_leaves_valid_history(road: Road, call: dict[str, Any]) -> None:
    """With a format the first answer is no JSON, so that the turn has a reformatting call as well."""
    whole = requests(*ASKED, name="Oslo")
    k, went_on = 0, False
    tools = Tools()
    branch = road.branch(tools=tools.all())
    while not went_on:
        k += 1
        tools.entered.clear()
        branch.msgs.clear_messages()
        branch.logs.clear()
        say(road, branch, text("no json") if "response_format" in call else whole, whole)
        went_on = not await cancelled_at(k, lambda: branch.operate(instruction="go", **call))
        check_history(branch, len(ASKED), bool(tools.entered))
        await next_turn_works(road, branch)
    assert sorted(tools.entered) == sorted(each["function"] for each in ASKED)
    assert k > len(ASKED)


# -- exits


def through(error: BaseException, how: str, strategy: Any, many: int) -> BaseException | None:
    """Return what comes out of a turn whose tool raises ``error``."""

    async def on_the_loop() -> None:
        """Leave."""
        raise error

    def in_a_thread() -> None:
        """Leave."""
        raise error

    async def hangs() -> None:
        """Never end."""
        await asyncio.Event().wait()

    tool = on_the_loop if how == "loop" else in_a_thread
    answer = requests(request(tool.__name__), *[request("hangs")] * (many - 1))
    branch = TestBranch.from_responses([answer], tools=[tool, hangs])
    try:
        with asyncio.Runner() as runner:
            runner.get_loop().set_exception_handler(lambda *_: None)  # it reports the same exit for each task
            runner.run(branch.operate(instruction="a", actions=True, action_strategy=strategy))
    except BaseException as raised:
        return raised
    return None


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("how", ["loop", "thread"])
@pytest.mark.parametrize("strategy", ["sequential", "concurrent"])
@pytest.mark.parametrize("many", [1, 3])
def test_T2_an_exit_in_a_tool_passes_the_turn_untouched(
    kind: type[BaseException], how: str, strategy: str, many: int
) -> None:
    error = kind("leave")
    began = time.monotonic()
    assert through(error, how, strategy, many) is error
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("how", ["loop", "thread"])
async def test_T2_cancelling_a_turn_ends_it_within_a_second(road: Road, how: str) -> None:
    begun, release = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def on_the_loop() -> None:
        """Never end."""
        begun.set()
        await asyncio.Event().wait()

    def in_a_thread() -> None:
        """Never end."""
        loop.call_soon_threadsafe(begun.set)
        release.wait(30)

    tool = on_the_loop if how == "loop" else in_a_thread
    branch = road.branch(requests(request(tool.__name__)), tools=[tool])
    turn = asyncio.create_task(branch.operate(instruction="a", actions=True))
    await begun.wait()
    began = time.monotonic()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert time.monotonic() - began < 1
    release.set()
    check_history(branch, 1, True)
