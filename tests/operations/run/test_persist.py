"""What a persisted turn leaves on disk, and how a branch comes back from it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from support.roads import Road, pieces, requests, text

from lionagi._errors import LionError, NotFoundError, ValidationError
from lionagi.operations.communicate.communicate import communicate
from lionagi.protocols.messages.action_response import ActionResponse
from lionagi.protocols.messages.assistant_response import AssistantResponse
from lionagi.service.types import StreamChunk
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch, scripted_imodel

PARTS = ("one ", "two ", "drei–", "four")


async def collect(stream: Any) -> list[Any]:
    return [message async for message in stream]


async def turn(branch: Branch, verb: str, directory: Path, instruction: str = "a", **more: Any) -> Any:
    """Run one persisted turn and return its answer."""
    keywords = {"stream_persist": True, "persist_dir": str(directory), **more}
    if verb == "operate":
        return await branch.operate(instruction=instruction, **keywords)
    return (await collect(branch.run(instruction, **keywords)))[-1].response


def watch(branch: Branch, look: Any) -> None:
    """Let ``look`` see each chunk, before it is taken."""

    def process(chunk: StreamChunk) -> None:
        look(chunk)

    branch.chat_model.streaming_process_func = process


def snapshot_of(branch: Branch, directory: Path) -> Path:
    return directory / f"{branch.id}.json"


def buffer_of(branch: Branch, directory: Path) -> Path:
    return directory / f"{branch.id}.buffer.jsonl"


def texts(branch: Branch) -> list[str]:
    return [message.rendered.removeprefix("Instruction: ") for message in branch.messages]


def streamed(*chunks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "stream", "chunks": list(chunks)}


@pytest.mark.record("DEC-16-1")
async def test_the_buffer_holds_a_whole_line_for_each_chunk_so_far(road: Road, tmp_path: Path) -> None:
    branch = road.branch(pieces(*PARTS))
    buffer = buffer_of(branch, tmp_path)
    seen: list[dict[str, Any]] = []

    def lines() -> list[dict[str, Any]]:
        raw = buffer.read_text() if buffer.exists() else ""
        assert raw.endswith("\n") or not raw
        found = [json.loads(line) for line in raw.splitlines()]
        assert all(line.pop("instruction") for line in found)
        return found

    def look(chunk: StreamChunk) -> None:
        assert lines() == seen
        seen.append(chunk.to_dict())

    watch(branch, look)
    async for message in branch.run("a", stream_persist=True, persist_dir=str(tmp_path)):
        assert lines() == seen
        last = message
    assert getattr(last, "response") == "".join(PARTS)  # noqa: B009
    assert len(seen) >= len(PARTS)
    assert not buffer.exists()


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_what_was_killed_in_mid_stream_comes_back_with_its_partial_text(
    road: Road, tmp_path: Path, verb: str
) -> None:
    branch = road.branch(text("before"), pieces(*PARTS))
    here = tmp_path / "here"
    await turn(branch, verb, here, "first")
    taken: list[Path] = []

    def look(_: StreamChunk) -> None:
        taken.append(Path(shutil.copytree(here, tmp_path / str(len(taken)))))

    watch(branch, look)
    await turn(branch, verb, here, "second")
    history = ["first", "before", "second"]
    for number, place in enumerate(taken[: len(PARTS)]):
        again = Branch.from_snapshot(snapshot_of(branch, place))
        assert texts(again) == history + (["".join(PARTS[:number])] if number else [])
        assert number == 0 or again.messages[-1].metadata["partial"] is True
        assert (again.id, "under_way" in again.metadata) == (branch.id, False)
    whole = Branch.from_snapshot(snapshot_of(branch, here))
    assert [each.id for each in whole.messages] == [each.id for each in branch.messages]


async def test_an_answer_that_was_whole_when_the_process_died_is_not_partial(road: Road, tmp_path: Path) -> None:
    branch = road.branch(text("hello"))
    async for message in branch.run("a", stream_persist=True, persist_dir=str(tmp_path)):
        if isinstance(message, AssistantResponse):
            again = Branch.from_snapshot(snapshot_of(branch, tmp_path))
    assert texts(again) == ["a", "hello"]
    assert again.messages[-1].metadata == branch.messages[-1].metadata


@pytest.mark.record("DEC-35-3")
@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_a_snapshot_during_a_stream_holds_the_answer_so_far(road: Road, tmp_path: Path, verb: str) -> None:
    branch = road.branch(text("before"), pieces(*PARTS))
    await turn(branch, verb, tmp_path, "first")
    taken: list[dict[str, Any]] = []
    watch(branch, lambda _: taken.append(branch.snapshot()))
    await turn(branch, verb, tmp_path, "second")
    for number, data in enumerate(taken[: len(PARTS)]):
        again = Branch.from_dict(data)
        assert texts(again) == ["first", "before", "second"] + (["".join(PARTS[:number])] if number else [])
        assert number == 0 or again.messages[-1].metadata["partial"] is True
    assert "under_way" not in branch.snapshot()["metadata"]
    assert texts(Branch.from_dict(branch.snapshot())) == ["first", "before", "second", "".join(PARTS)]


@pytest.mark.record("DEC-35-3")
@pytest.mark.parametrize("more", [{}, {"middle": communicate}], ids=["communicate", "operate"])
async def test_a_snapshot_during_a_blocking_call_holds_its_instruction(more: dict[str, Any]) -> None:
    class Clock:
        def time(self) -> float:
            return 0.0

        monotonic = time

        async def sleep(self, seconds: float) -> None:
            taken.append(texts(Branch.from_dict(branch.snapshot())))

    taken: list[list[str]] = []
    failing = {"type": "error", "kind": "value_error", "delay_ms": 5}
    branch = Branch(chat_model=scripted_imodel([text("one"), failing], clock=Clock()))
    verb = branch.operate if more else branch.communicate
    await verb(instruction="first", **more)
    with pytest.raises(Exception, match="API call failed"):
        await verb(instruction="second", **more)
    assert taken == [["first", "one", "second"]]
    assert texts(Branch.from_dict(branch.snapshot())) == ["first", "one"]


@pytest.mark.record("DEC-43-1")
async def test_a_turn_that_returned_is_on_disk_with_its_tool_calls(road: Road, tmp_path: Path) -> None:
    def add_one(n: int) -> int:
        """Return the number plus one."""
        return n + 1

    branch = road.branch(requests({"function": "add_one", "arguments": {"n": 4}}), tools=[add_one])
    result = await turn(branch, "operate", tmp_path, actions=True)
    assert result.action_responses[0].output == 5
    again = Branch.from_dict(json.loads(snapshot_of(branch, tmp_path).read_bytes()))
    assert [each.id for each in again.messages] == [each.id for each in branch.messages]
    assert isinstance(again.messages[-1], ActionResponse)


async def test_a_reformatted_answer_is_saved_with_both_responses(road: Road, tmp_path: Path) -> None:
    branch = road.branch(text("no json"), text('{"city": "Rome"}'))
    await turn(branch, "operate", tmp_path, response_format={"city": str})
    again = Branch.from_snapshot(snapshot_of(branch, tmp_path))
    assert again.messages[-1].metadata == branch.messages[-1].metadata
    assert "original_model_response" in again.messages[-1].metadata


@pytest.mark.parametrize("verb", ["run", "operate"])
async def test_a_failed_turn_leaves_the_snapshot_of_before_and_no_buffer(tmp_path: Path, verb: str) -> None:
    broken = streamed({"type": "text", "content": "half "}, {"type": "error", "content": "the wire broke"})
    branch = TestBranch.from_responses([text("one"), broken])
    await turn(branch, verb, tmp_path, "first")
    with pytest.raises(LionError, match="the wire broke") as raised:
        await turn(branch, verb, tmp_path, "second")
    assert raised.value.details["partial_text"] == "half "
    assert texts(Branch.from_snapshot(snapshot_of(branch, tmp_path))) == ["first", "one"]
    assert list(tmp_path.iterdir()) == [snapshot_of(branch, tmp_path)]


async def test_the_lines_of_a_killed_turn_are_not_taken_for_the_next_one(tmp_path: Path) -> None:
    branch = TestBranch.from_responses([pieces("a", "b"), pieces("c", "d")])
    here, killed = tmp_path / "here", tmp_path / "killed"
    watch(branch, lambda chunk: chunk.content == "b" and shutil.copytree(here, killed))
    await turn(branch, "run", here, "first")
    again = Branch.from_snapshot(snapshot_of(branch, killed))
    again.chat_model = branch.chat_model
    after: list[list[str]] = []
    watch(branch, lambda _: after.append(texts(Branch.from_snapshot(snapshot_of(branch, killed)))))
    await turn(again, "run", killed, "second")
    assert after == [["first", "a", "second"], ["first", "a", "second", "c"]]
    assert not buffer_of(branch, killed).exists()


async def test_two_turns_at_once_are_both_recovered(tmp_path: Path) -> None:
    branch = TestBranch.from_responses([pieces("b1", "b2"), pieces("a1", "a2")])
    keywords: dict[str, Any] = {"stream_persist": True, "persist_dir": str(tmp_path / "here")}
    first, second = branch.run("first", **keywords), branch.run("second", **keywords)
    for stream in (first, second):
        await anext(stream)
    at_second: list[list[str]] = []
    watch(branch, lambda _: at_second.append(texts(Branch.from_snapshot(snapshot_of(branch, tmp_path / "here")))))
    await collect(second)
    assert at_second == [["first", "second"], ["first", "second", "b1"]]
    at_second.clear()
    await collect(first)
    assert at_second == [["second", "b1b2", "first"], ["second", "b1b2", "first", "a1"]]
    assert [path.suffix for path in (tmp_path / "here").iterdir()] == [".json"]


async def test_a_turn_that_begins_leaves_the_lines_of_another_one(tmp_path: Path) -> None:
    waiting = streamed(
        {"type": "text", "content": "looking"},
        {"type": "tool_use", "tool_name": "ls"},
        {"type": "text", "content": "x"},
    )
    branch = TestBranch.from_responses([waiting, pieces("b")])
    keywords: dict[str, Any] = {"stream_persist": True, "persist_dir": str(tmp_path)}
    first = branch.run("first", **keywords)
    for _ in range(3):
        await anext(first)
    await collect(branch.run("second", **keywords))
    again = Branch.from_snapshot(snapshot_of(branch, tmp_path))
    assert [type(each).__name__ for each in again.messages][-3:] == [
        "Instruction",
        "AssistantResponse",
        "ActionRequest",
    ]
    await first.aclose()
    assert not buffer_of(branch, tmp_path).exists()


async def test_an_agents_own_tool_calls_come_back_in_order_and_its_session_goes_on(tmp_path: Path) -> None:
    chunks = [
        {"type": "system", "metadata": {"session_id": "s1"}},
        {"type": "text", "content": "looking"},
        {"type": "tool_use", "tool_name": "ls", "tool_id": "1", "tool_input": {"path": "."}},
        {"type": "tool_result", "tool_id": "1", "tool_output": "a b"},
        {"type": "text", "content": "there are"},
        {"type": "text", "content": " two"},
    ]
    branch = TestBranch.from_responses([streamed(*chunks)])
    here, killed = tmp_path / "here", tmp_path / "killed"
    watch(branch, lambda chunk: chunk.content == " two" and shutil.copytree(here, killed))
    await turn(branch, "run", here)
    again = Branch.from_snapshot(snapshot_of(branch, killed))
    names = ["Instruction", "AssistantResponse", "ActionRequest", "ActionResponse", "AssistantResponse"]
    assert [type(each).__name__ for each in again.messages] == names
    assert (again.messages[1].response, again.messages[-1].response) == ("looking", "there are")
    assert again.messages[3].content.output == "a b"
    assert again.chat_model.provider_session_id == "s1"


async def test_a_snapshot_in_a_directory_of_its_own_needs_the_buffers(road: Road, tmp_path: Path) -> None:
    branch = road.branch(pieces(*PARTS))
    found: list[tuple[list[str], list[str]]] = []
    snapshot = tmp_path / "s" / f"{branch.id}.json"

    def look(_: StreamChunk) -> None:
        found.append((texts(Branch.from_snapshot(snapshot)), texts(Branch.from_snapshot(snapshot, tmp_path / "p"))))

    watch(branch, look)
    await turn(branch, "run", tmp_path / "p", snapshot_dir=str(tmp_path / "s"))
    assert found[:2] == [(["a"], ["a"]), (["a"], ["a", PARTS[0]])]


@pytest.mark.parametrize(
    "line", [b'{"type": "text", "cont', b"[1]", b'{"type": "text", "content": 5, "instruction": "%s"}', b"\xff", b"{}"]
)
async def test_a_line_that_is_no_chunk_is_skipped_with_a_warning(tmp_path: Path, line: bytes) -> None:
    branch = TestBranch.from_responses([pieces("a", "b", "c")])
    here, killed = tmp_path / "here", tmp_path / "killed"
    watch(branch, lambda chunk: chunk.content == "c" and shutil.copytree(here, killed))
    await turn(branch, "run", here)
    buffer = buffer_of(branch, killed)
    first, second = buffer.read_bytes().splitlines()
    broken = line.replace(b"%s", json.loads(first)["instruction"].encode())
    buffer.write_bytes(b"\n".join([first, broken, second, b""]))
    with pytest.warns(UserWarning, match="line 2: skipped, it is no whole record"):
        again = Branch.from_snapshot(snapshot_of(branch, killed))
    assert texts(again) == ["a", "ab"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"id": "x"}', b"\xff\xfe"])
def test_what_is_no_snapshot_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ValidationError, match=r"a\.json"):
        Branch.from_snapshot(tmp_path / "a.json")


def test_a_snapshot_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no snapshot .*a\.json"):
        Branch.from_snapshot(tmp_path / "a.json")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_W4_a_persisted_turn_writes_private_files_and_none_elsewhere(road: Road, tmp_path: Path) -> None:
    branch = road.branch(pieces(*PARTS))
    p, s = tmp_path / "p" / "deep", tmp_path / "s"
    modes: list[dict[str, int]] = []
    watch(
        branch, lambda _: modes.append({str(each.relative_to(tmp_path)): mode_of(each) for each in tmp_path.rglob("*")})
    )
    old = os.umask(0)
    try:
        await turn(branch, "run", p, snapshot_dir=str(s))
    finally:
        os.umask(old)
    directories = {"p": 0o700, "p/deep": 0o700, "s": 0o700}
    files = {f"p/deep/{branch.id}.buffer.jsonl": 0o600, f"s/{branch.id}.json": 0o600}
    assert modes[1] == directories | files
    assert list(Path.home().iterdir()) == list(Path.cwd().iterdir()) == []


async def test_W4_a_relative_directory_stays_the_same_when_the_process_moves(
    road: Road, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch = road.branch(pieces(*PARTS))
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    watch(branch, lambda _: os.chdir(tmp_path / "there"))
    await turn(branch, "run", Path("saved"))
    assert [str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*.json")] == [f"here/saved/{branch.id}.json"]
    assert list((tmp_path / "there").iterdir()) == []


async def test_W4_a_snapshot_that_is_a_symbolic_link_is_refused_before_the_call(road: Road, tmp_path: Path) -> None:
    branch = road.branch(text("hello"))
    (tmp_path / "outside").write_text("kept")
    (tmp_path / "here").mkdir()
    snapshot_of(branch, tmp_path / "here").symlink_to(tmp_path / "outside")
    with pytest.raises(ValidationError, match="symbolic link"):
        await turn(branch, "run", tmp_path / "here")
    assert (tmp_path / "outside").read_text() == "kept"
    assert road.payloads == []
    assert await branch.communicate("again") == "hello"


async def test_W4_links_put_in_place_during_a_turn_are_not_written_through(road: Road, tmp_path: Path) -> None:
    branch = road.branch(pieces(*PARTS))
    here, outside = tmp_path / "here", tmp_path / "outside"
    outside.write_text("kept")

    def look(_: StreamChunk) -> None:
        for each in (snapshot_of(branch, here), buffer_of(branch, here)):
            each.unlink(missing_ok=True)
            each.symlink_to(outside)

    watch(branch, look)
    assert await turn(branch, "run", here) == "".join(PARTS)
    assert outside.read_text() == "kept"
    failures = [log.content for log in branch.logs if log.content["kind"] == "persistence"]
    assert [each["error"]["type"] for each in failures] == ["ValidationError"] * 2
