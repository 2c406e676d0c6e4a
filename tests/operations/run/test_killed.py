"""Real processes killed with SIGKILL at any moment of a persisted turn, and several of them at the same time."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.persisting import BRANCH_ID, PIECES, TURNS, Nursery, piece, streams

from lionagi.protocols.messages.assistant_response import AssistantResponse
from lionagi.protocols.messages.instruction import Instruction
from lionagi.session.branch import Branch

HOWS = ("before", "half", "after")


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as started:
        yield started


def snapshot_in(directory: Path, number: int = 0) -> Path:
    return directory / "snapshot_dir" / f"{BRANCH_ID.format(number)}.json"


def recovered(directory: Path) -> tuple[Branch, list[str]]:
    """Return the branch and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        branch = Branch.from_snapshot(snapshot_in(directory), directory / "persist_dir")
    return branch, [str(each.message) for each in caught]


def turns_of(branch: Branch) -> list[list[str]]:
    """Return the texts of each turn's messages, the instruction left out."""
    turns: list[list[str]] = []
    for message in branch.messages:
        if isinstance(message, Instruction):
            assert message.content.instruction == f"turn {len(turns)}"
            turns.append([])
        elif isinstance(message, AssistantResponse):
            turns[-1].append(message.response)
        else:
            turns[-1].append(message.role if message.role != "action" else type(message).__name__)
    return turns


def check(directory: Path, said: list[str]) -> None:
    """Check what a killed process left against what it had said before."""
    assert not [line for line in said if line.startswith("failed")]
    returned = sum(line.startswith("turn ") for line in said)
    if not snapshot_in(directory).exists():
        assert (returned, [line for line in said if line.startswith("chunk ")]) == (0, [])
        return
    json.loads(snapshot_in(directory).read_bytes())
    branch, warned = recovered(directory)
    turns = turns_of(branch)
    assert len(turns) in (returned, returned + 1)
    for number, texts in enumerate(turns):
        if number < returned:
            check_whole(number, texts)
        elif streams(number):
            taken = sum(line.startswith(f"chunk {number} ") for line in said)
            possible = ["".join(piece(number, each) for each in range(count)) for count in range(taken, PIECES + 1)]
            assert "".join(texts) in possible
    assert len(warned) <= 1
    assert all("skipped, it is no whole record" in each for each in warned)


def check_whole(number: int, texts: list[str]) -> None:
    if streams(number):
        assert texts == ["".join(piece(number, each) for each in range(PIECES))]
    else:
        assert texts[1:] == ["ActionRequest", "ActionResponse"]
        assert '"n": ' in texts[0]


def spread(count: int, calls: int) -> list[tuple[int, str]]:
    """Return ``count`` different points of ``calls`` calls, evenly, in every way."""
    points = list(itertools.product(range(1, calls + 1), HOWS))
    return [points[index * len(points) // count] for index in range(count)]


def calls_of(nursery: Nursery, directory: Path) -> list[str]:
    """Run a job undisturbed; return the names of the I/O calls that it made."""
    said = nursery.run(directory)
    assert said[-1] == "over 0"
    check(directory, said)
    return next(line for line in said if line.startswith("calls ")).split()[1:]


def kill_all(nursery: Nursery, directory: Path, points: list[tuple[int, str]], outside: int) -> int:
    """Kill a process at each point and ``outside`` more from outside; return how many were killed."""
    kills = 0
    for number, (at, how) in enumerate(points):
        place = directory / f"in{number}"
        said = nursery.run(place, at=at, how=how)
        assert said[-1] == "over -9"
        check(place, said)
        kills += 1
    for number in range(outside):
        place = directory / f"out{number}"
        said = nursery.run_killed(place, after=1 + number % (TURNS // 2 * PIECES))
        check(place, said)
        kills += said[-1] == "over -9"
    return kills


@pytest.mark.record("DEC-16-2")
@pytest.mark.record("DEC-43-1")
def test_W1_a_killed_process_loses_nothing_acknowledged(nursery: Nursery, tmp_path: Path) -> None:
    points = spread(18, len(calls_of(nursery, tmp_path / "whole")))
    assert kill_all(nursery, tmp_path, points, 4) >= 20


@pytest.mark.proof
@pytest.mark.timeout(1800)
def test_W1_a_thousand_killed_processes_lose_nothing_acknowledged(nursery: Nursery, tmp_path: Path) -> None:
    calls = len(calls_of(nursery, tmp_path / "whole"))
    points = spread(len(HOWS) * calls, calls)
    assert kill_all(nursery, tmp_path, points, 1_050 - len(points)) >= 1_000


@pytest.mark.record("DEC-43-1")
@pytest.mark.parametrize("turn", range(TURNS))
def test_W1_a_process_killed_as_soon_as_a_turn_returned_has_all_of_it(
    nursery: Nursery, tmp_path: Path, turn: int
) -> None:
    said = nursery.run(tmp_path, how="returned", at=turn)
    assert said[-1] == "over -9"
    assert [line for line in said if line.startswith("turn ")] == [f"turn {each}" for each in range(turn + 1)]
    branch = Branch.from_dict(json.loads(snapshot_in(tmp_path).read_bytes()))
    turns = turns_of(branch)
    assert len(turns) == turn + 1
    for number, texts in enumerate(turns):
        check_whole(number, texts)


def test_W1_a_line_torn_by_a_kill_is_skipped_with_a_warning(nursery: Nursery, tmp_path: Path) -> None:
    calls = calls_of(nursery, tmp_path / "whole")
    appends = [at for at, pair in enumerate(itertools.pairwise(calls), 2) if pair == ("open", "write")]
    assert len(appends) == TURNS // 2 * (PIECES + 1)
    for number, at in enumerate(appends[:PIECES]):
        place = tmp_path / str(at)
        check(place, nursery.run(place, at=at, how="half"))
        branch, warned = recovered(place)
        assert (len(warned), f"line {number + 1}: skipped" in warned[0]) == (1, True)
        assert turns_of(branch)[0] == (["".join(piece(0, each) for each in range(number))] if number else [])
        assert number == 0 or branch.messages[-1].metadata["partial"] is True


@pytest.mark.parametrize("processes", [8])
def test_W3_eight_processes_in_one_directory_lose_no_snapshot(nursery: Nursery, tmp_path: Path, processes: int) -> None:
    said = nursery.run(tmp_path, processes=processes)
    assert said[-1] == "over" + " 0" * processes
    for number in range(processes):
        turns = turns_of(Branch.from_snapshot(snapshot_in(tmp_path, number), tmp_path / "persist_dir"))
        assert len(turns) == TURNS
        for turn, texts in enumerate(turns):
            check_whole(turn, texts)
    assert list((tmp_path / "persist_dir").iterdir()) == []
