"""How a stream ends: whole, broken, left, cancelled or too late; its source is closed and the next turn works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from support.openai_server import Faults, sse
from support.roads import Road, pieces, text

from lionagi._errors import ExecutionError, TimeoutError
from lionagi.service.types import StreamChunk
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch

PARTS = ("one ", "two ", "three")


async def spend(branch: Branch, verb: str, **more: Any) -> None:
    """Run one streamed turn to its end."""
    if verb == "operate":
        await branch.operate(instruction="a", persist_dir="unused", **more)
        return
    async for _ in branch.run("a", **more):
        pass


class Source:
    """Counts the endpoint's streams that are open."""

    def __init__(self, branch: Branch) -> None:
        self.open = self.opened = 0
        endpoint: Any = branch.chat_model.endpoint
        real = endpoint.stream

        async def stream(*args: Any, **kwargs: Any) -> AsyncGenerator[StreamChunk]:
            self.open += 1
            self.opened += 1
            try:
                async with aclosing(real(*args, **kwargs)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            finally:
                self.open -= 1

        endpoint.stream = stream


def delta(content: str) -> bytes:
    return sse({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}]})


def unfinished(road: Road, then: str, *after: Any) -> Branch:
    """Return a branch whose first answer says PARTS and then breaks ("abort") or says nothing more ("hang")."""
    if road.name == "api":
        road.server.script(Faults.stream([delta(part) for part in PARTS], then=then), *after)
        return Branch(chat_model=road.make())
    more = [{"type": "error", "content": "the wire broke"}] if then == "abort" else [{"type": "text", "content": "."}]
    first = {"type": "stream", "chunks": [*pieces(*PARTS)["chunks"], *more]}
    branch = road.branch(first)
    if then == "hang":

        async def wait(chunk: StreamChunk) -> None:
            if chunk.content == ".":
                await asyncio.sleep(600)

        branch.chat_model.streaming_process_func = wait
    return branch


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_a_broken_stream_is_an_error_with_what_had_arrived(road: Road, verb: str) -> None:
    branch = unfinished(road, "abort")
    source = Source(branch)
    with pytest.raises(ExecutionError, match="API call failed") as raised:
        await spend(branch, verb)
    assert raised.value.details["partial_text"] == "".join(PARTS)
    assert len(branch.messages) == 0
    assert (source.opened, source.open) == (1, 0)


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_the_deadline_ends_a_stream_with_what_had_arrived(road: Road, verb: str) -> None:
    branch = unfinished(road, "hang")
    source = Source(branch)
    timeout = 0.2 if road.name == "agentic" else 2  # within it the server has to have spoken
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError, match=f"deadline of {timeout} s; 13 characters") as raised:
        await spend(branch, verb, timeout=timeout)
    assert asyncio.get_running_loop().time() - began >= timeout
    assert raised.value.details["partial_text"] == "".join(PARTS)
    assert len(branch.messages) == 0
    assert (source.opened, source.open) == (1, 0)


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_the_deadline_is_one_for_the_whole_stream(road: Road, verb: str) -> None:
    """Each chunk comes in time, and the reader's own time counts too."""
    branch = road.branch(pieces(*[f"{number} " for number in range(50)]))
    seen: list[str] = []

    async def dawdle(chunk: StreamChunk) -> None:
        await asyncio.sleep(0.05)
        seen.append(chunk.content or "")

    branch.chat_model.streaming_process_func = dawdle
    with pytest.raises(TimeoutError, match="passed its deadline"):
        await spend(branch, verb, timeout=0.4)
    assert len(seen) < 50


@pytest.mark.parametrize("timeout", [None, 0, -1])
@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_no_timeout_is_no_deadline_and_none_reaches_the_model(
    road: Road, verb: str, timeout: float | None
) -> None:
    branch = road.branch(text("hello"))
    await spend(branch, verb, timeout=timeout)
    assert branch.messages[-1].response == "hello"
    assert "timeout" not in road.payloads[0]


async def test_a_reader_that_leaves_early_closes_the_source_and_keeps_what_it_saw(road: Road) -> None:
    branch = road.branch(pieces(*PARTS), text("next"))
    source = Source(branch)
    async with aclosing(branch.run("a")) as stream:
        async for _ in stream:
            break
    assert (source.opened, source.open) == (0, 0)
    assert len(branch.messages) == 0
    branch.chat_model.streaming_process_func = leave = Leaving(branch)
    with pytest.raises(ExecutionError, match="enough"):
        await spend(branch, "run")
    assert (leave.seen, source.opened, source.open) == (["one ", "two "], 1, 0)


class Leaving:
    """Fails at the second chunk."""

    def __init__(self, branch: Branch) -> None:
        self.seen: list[str] = []

    def __call__(self, chunk: StreamChunk) -> None:
        self.seen.append(chunk.content or "")
        if len(self.seen) == 2:
            raise LookupError("enough")


@pytest.mark.parametrize("timeout", [None, 60])
async def test_a_reader_that_leaves_in_the_middle_keeps_what_it_saw_of_an_agent(timeout: float | None) -> None:
    chunks = [
        {"type": "text", "content": "looking"},
        {"type": "tool_use", "tool_name": "ls"},
        *pieces(*PARTS)["chunks"],
    ]
    branch = TestBranch.from_responses([{"type": "stream", "chunks": chunks}, text("next")])
    source = Source(branch)
    async with aclosing(branch.run("a", timeout=timeout)) as stream:
        async for message in stream:
            if message.role == "assistant":
                break
    assert source.open == 0
    assert TestBranch.calls(branch)[0].closed_early
    assert [type(each).__name__ for each in branch.messages][:2] == ["Instruction", "AssistantResponse"]
    assert branch.messages[1].response == "looking"


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_a_cancelled_stream_closes_its_source_and_leaves_the_history(road: Road, verb: str) -> None:
    branch = unfinished(road, "hang")
    source = Source(branch)
    arrived = asyncio.Event()
    hang = branch.chat_model.streaming_process_func

    async def look(chunk: StreamChunk) -> None:
        if chunk.content == PARTS[-1]:
            arrived.set()
        if hang is not None:
            await hang(chunk)  # pyright: ignore[reportGeneralTypeIssues]

    branch.chat_model.streaming_process_func = look
    task = asyncio.create_task(spend(branch, verb))
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(branch.messages) == 0
    assert (source.opened, source.open) == (1, 0)


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_a_stream_read_to_its_end_is_closed(road: Road, verb: str) -> None:
    branch = road.branch(pieces(*PARTS))
    source = Source(branch)
    await spend(branch, verb)
    assert branch.messages[-1].response == "".join(PARTS)
    assert (source.opened, source.open) == (1, 0)


@pytest.mark.parametrize("timeout", [None, 60])
async def test_an_agent_that_says_it_is_over_is_not_read_further(timeout: float | None) -> None:
    over = {"type": "error", "content": "stream closed", "metadata": {"benign_eos": True}}
    chunks = [*pieces(*PARTS)["chunks"], over, {"type": "text", "content": "never"}]
    branch = TestBranch.from_responses([{"type": "stream", "chunks": chunks}])
    source = Source(branch)
    await spend(branch, "run", timeout=timeout)
    assert branch.messages[-1].response == "".join(PARTS)
    assert (source.opened, source.open, TestBranch.calls(branch)[0].closed_early) == (1, 0, True)


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_the_model_answers_again_after_a_broken_stream(road: Road, verb: str) -> None:
    branch = unfinished(road, "abort")
    with pytest.raises(ExecutionError):
        await spend(branch, verb)
    branch.chat_model = road.model(text("again"))
    await spend(branch, verb)
    assert branch.messages[-1].response == "again"


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_an_agents_session_is_resumed_by_the_next_turn(verb: str) -> None:
    first = {"type": "stream", "chunks": [{"type": "system", "metadata": {"session_id": "s1"}}, *pieces("a")["chunks"]]}
    branch = TestBranch.from_responses([first, text("b")])
    await spend(branch, verb)
    await spend(branch, verb)
    assert [call.payload.get("resume") for call in TestBranch.calls(branch)] == [None, "s1"]
    assert branch.chat_model.provider_session_id == "s1"


async def test_an_api_has_no_session_to_resume(api_road: Road) -> None:
    branch = api_road.branch(text("a"), text("b"))
    await spend(branch, "run")
    await spend(branch, "run")
    assert [payload.get("resume") for payload in api_road.payloads] == [None, None]
