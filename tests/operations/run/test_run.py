"""The streaming verb, on every endpoint that streams."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support.roads import Road, text

from lionagi.ln import files
from lionagi.operations.run import _persist
from lionagi.operations.run import run as run_module
from lionagi.protocols.messages.assistant_response import AssistantResponse
from lionagi.protocols.messages.instruction import Instruction
from lionagi.testing import TestBranch


async def collect(stream: Any) -> list[Any]:
    return [message async for message in stream]


@pytest.mark.record("DEC-18-1")
async def test_run_yields_the_instruction_and_then_the_answer(road: Road) -> None:
    asked, answer = await collect(road.branch(text("hello world")).run("a"))
    assert isinstance(asked, Instruction)
    assert isinstance(answer, AssistantResponse)
    assert answer.response == "hello world"


@pytest.mark.record("DEC-18-1")
async def test_stream_persist_writes_on_either_road(road: Road, tmp_path: Path) -> None:
    await collect(road.branch(text("hello world")).run("a", stream_persist=True, persist_dir=str(tmp_path)))
    assert any(b"hello world" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.record("DEC-19-2")
@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_without_stream_persist_nothing_is_written(road: Road, tmp_path: Path, verb: str) -> None:
    branch = road.branch(text("hello"))
    where: dict[str, Any] = {"persist_dir": str(tmp_path / "p"), "snapshot_dir": str(tmp_path / "s")}
    if verb == "run":
        await collect(branch.run("a", **where))
    else:
        await branch.operate(instruction="a", **where)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.record("DEC-18-2")
@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_a_model_for_one_call_does_not_stay(road: Road, verb: str) -> None:
    branch = TestBranch.from_text("never")
    before = branch.chat_model
    other = road.model(text("other"))
    if verb == "run":
        assert (await collect(branch.run("a", chat_model=other)))[-1].response == "other"
    else:
        assert await branch.operate(instruction="a", chat_model=other) == "other"
    assert branch.chat_model is before
    assert TestBranch.calls(branch) == []


async def test_a_failing_stream_leaves_the_history_as_it_was() -> None:
    branch = TestBranch.from_responses([{"type": "error", "kind": "value_error"}])
    with pytest.raises(Exception, match="API call failed"):
        await collect(branch.run("a"))
    assert len(branch.messages) == 0


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_nothing_of_persistence_runs_where_it_was_not_asked_for(road: Road, verb: str) -> None:
    branch = road.branch(text("hello"))
    walked: set[str] = set()
    sys.setprofile(lambda frame, _event, _argument: walked.add(frame.f_code.co_filename))
    try:
        if verb == "run":
            await collect(branch.run("a"))
        else:
            await branch.operate(instruction="a")
    finally:
        sys.setprofile(None)
    assert run_module.__file__ in walked or (verb, road.name) == ("operate", "api")
    assert not {_persist.__file__, files.__file__} & walked
