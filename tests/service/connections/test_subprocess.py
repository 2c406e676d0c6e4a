from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lionagi import _errors as errors
from lionagi.service.connections.subprocess import Child, spawn

Start = Callable[..., Child]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a child that runs a piece of Python; all of them are ended with the test."""
    children: list[Child] = []

    def run(code: str, **options: object) -> Child:
        children.append(spawn([sys.executable, "-c", code], **options))  # pyright: ignore[reportArgumentType]
        return children[-1]

    yield run
    for child in children:
        child.stop(0.1)


def is_gone(pid: int) -> bool:
    """Return whether a process ended; a zombie that only waits for its parent has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until(condition: Callable[[], bool], seconds: float = 6.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_lines_go_in_and_come_out(start: Start) -> None:
    child = start("for line in iter(input, 'end'): print(line.upper(), flush=True)")
    child.write_line("héllo")
    assert child.read_line(20) == "HÉLLO"
    child.write_line("end")
    assert child.read_line(20) is None
    assert child.read_line(20) is None
    assert wait_until(lambda: child.returncode == 0)


def test_a_silent_child_is_a_timeout(start: Start) -> None:
    child = start("input()")
    with pytest.raises(errors.TimeoutError, match=r"wrote no line within 0\.05 s"):
        child.read_line(0.05)


def test_a_program_that_does_not_exist_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        spawn(["/nowhere/program"])


def test_stderr_is_kept_only_to_its_limit(start: Start) -> None:
    child = start("import sys; sys.stderr.write('x' * 300_000 + 'the end')", stderr_limit=1000)
    assert wait_until(lambda: child.returncode is not None)
    assert len(child.stderr_tail) == 1000
    assert child.stderr_tail.endswith("the end")


def test_environment_and_directory_are_the_given_ones(start: Start, tmp_path: Path) -> None:
    child = start("import os; print(os.getcwd(), os.environ['COLOUR'])", env={"COLOUR": "red"}, cwd=tmp_path)
    assert child.read_line(20) == f"{tmp_path} red"


def test_a_child_has_a_process_group_of_its_own(start: Start) -> None:
    child = start("input()")
    assert os.getpgid(child.pid) == child.pid != os.getpgid(0)


def test_stopping_closes_the_input_first(start: Start) -> None:
    child = start("import sys; sys.stdin.read()")
    assert child.stop(20) == 0


def test_P13_a_child_that_is_deaf_to_sigterm_is_killed(start: Start) -> None:
    child = start("import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)")
    assert child.read_line(20) == "deaf"
    began = time.monotonic()
    assert child.stop() == -signal.SIGKILL
    assert time.monotonic() - began < 6


GRANDCHILD = (
    "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', 'import signal, time; "
    'signal.signal(15, signal.SIG_IGN); print("up", flush=True); time.sleep(60)\'], stdout=subprocess.PIPE); '
    "p.stdout.readline(); print(p.pid, flush=True); "
)


@pytest.mark.parametrize("ending", ["time.sleep(60)", "sys.exit(0)"])
def test_P13_grandchildren_end_with_the_child(start: Start, ending: str) -> None:
    child = start(GRANDCHILD + ending)
    grandchild = int(child.read_line(20) or 0)
    if "exit" in ending:
        assert wait_until(lambda: child.returncode is not None)
    else:
        child.stop()
    assert wait_until(lambda: is_gone(grandchild))


def test_P13_a_flood_of_output_neither_fills_memory_nor_holds_up_the_stop(start: Start) -> None:
    child = start("while True: print('x' * 10_000)")
    assert child.read_line(20)
    began = time.monotonic()
    child.stop()
    assert time.monotonic() - began < 6
    assert is_gone(child.pid)


def test_stopping_twice_is_stopping_once(start: Start) -> None:
    child = start("input()")
    assert child.stop() == child.stop() is not None


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_of_the_parent_cannot_end_the_child(start: Start) -> None:
    child = start("print(input(), flush=True); input()")
    if (pid := os.fork()) == 0:
        child.stop(0.05)
        os._exit(0)
    os.waitpid(pid, 0)
    child.write_line("still here")
    assert child.read_line(20) == "still here"
