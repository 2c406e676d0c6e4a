"""Every I/O call of a persisted turn may fail; the turn's result reaches the caller all the same."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.roads import Road, pieces, requests

from lionagi.session.branch import Branch

CALLS = ("open", "fchmod", "write", "fsync", "replace", "mkdir", "unlink")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)


class Disk:
    """Lets the k-th call of one function of ``os`` fail, or the k-th and all after it."""

    def __init__(self, name: str, number: int, at: int, lasting: bool) -> None:
        self.name, self.number, self.at, self.lasting = name, number, at, lasting
        self.calls = 0

    @property
    def failed(self) -> bool:
        return self.calls >= self.at

    @contextmanager
    def broken(self) -> Iterator[None]:
        real = getattr(os, self.name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls == self.at or (self.lasting and self.failed):
                raise OSError(self.number, os.strerror(self.number), "here")
            return real(*args, **kwargs)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, self.name, call)
            yield


async def add_one(n: int) -> int:
    """Return the number plus one."""
    return n + 1


def words(branch: Branch) -> list[tuple[str, str]]:
    return [(type(each).__name__, each.rendered) for each in branch.messages]


def failures(branch: Branch) -> list[dict[str, Any]]:
    return [log.content for log in branch.logs if log.content["kind"] == "persistence"]


async def check(road: Road, directory: Path, disk: Disk) -> None:
    """Run a good turn, then two on the failing disk, and look at what each left."""
    asked = requests({"function": "add_one", "arguments": {"n": 4}})
    branch = road.branch(pieces("a", "b"), asked, pieces("c", "d"), tools=[add_one])
    # a directory of its own where making one is what fails
    where: dict[str, Any] = {name: str(directory / name) for name in ("persist_dir", "snapshot_dir")}
    snapshot = directory / "snapshot_dir" / f"{branch.id}.json"
    await branch.operate(instruction="one", stream_persist=True, **where)
    old = words(branch)
    if disk.name == "mkdir":
        where = {name: str(directory / "new" / name) for name in where}
    with disk.broken():
        result = await branch.operate(instruction="two", actions=True, stream_persist=True, **where)
        assert result.action_responses[0].output == 5
        taken = [message async for message in branch.run("three", stream_persist=True, **where)]
        assert getattr(taken[-1], "response") == "cd"  # noqa: B009
    assert len(branch.messages) == 8
    kept = words(Branch.from_snapshot(snapshot, where["persist_dir"]))
    assert kept[: len(old)] == old
    assert kept == words(branch)[: len(kept)]
    found = failures(branch)
    assert bool(found) is disk.failed or disk.name in ("open", "fsync", "unlink", "mkdir")
    assert {each["error"]["type"] for each in found} <= {type(OSError(disk.number, "")).__name__}
    if not disk.lasting and disk.name != "unlink":
        assert [each.name for each in directory.rglob("*.tmp")] == []


async def fail_each(road: Road, directory: Path, name: str, numbers: tuple[int, ...]) -> int:
    """Let the first call fail, then the second, and so on, until none is left; return how many there were."""
    for at in range(1, 100):
        disk = Disk(name, numbers[at % len(numbers)], at, lasting=False)
        await check(road, directory / str(at), disk)
        if not disk.failed:
            return at - 1
    return 0


@pytest.mark.parametrize("name", CALLS)
async def test_W2_a_call_that_fails_costs_no_result(road: Road, tmp_path: Path, name: str) -> None:
    assert await fail_each(road, tmp_path, name, ERRORS) >= 2


@pytest.mark.proof
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
async def test_W2_each_call_that_fails_with_each_error_costs_no_result(
    road: Road, tmp_path: Path, name: str, number: int
) -> None:
    assert await fail_each(road, tmp_path, name, (number,)) >= 2


@pytest.mark.parametrize("name", CALLS)
async def test_W2_a_disk_that_fails_for_good_costs_no_result(road: Road, tmp_path: Path, name: str) -> None:
    for at, number in zip((1, 2, 5), ERRORS, strict=True):
        await check(road, tmp_path / str(at), Disk(name, number, at, lasting=True))
