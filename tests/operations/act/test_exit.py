"""A tool that never returns does not hold up the end of the program."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

PROGRAM = """
import asyncio, os, threading
from lionagi.testing import TestBranch

def for_ever() -> None:
    "Never return."
    os.write(1, b"entered\\n")
    threading.Event().wait()

async def main():
    asked = [{"function": "for_ever", "arguments": {}}] * 3
    answer = {"type": "structured", "data": {"action_requests": asked}}
    branch = TestBranch.from_responses([answer], tools=[for_ever])
    HOW

asyncio.run(main())
print("left", flush=True)
"""
DEADLINE = """result = await branch.operate(instruction="a", actions=True, tool_timeout=0.2)
    print([each.output["error"] for each in result.action_responses])"""
CANCELLED = """try:
        await asyncio.wait_for(branch.operate(instruction="a", actions=True), 0.5)
    except TimeoutError:
        print("cancelled")"""


@pytest.mark.record("DEC-28-2")
@pytest.mark.parametrize(
    ("how", "said"),
    [(DEADLINE, "['timeout', 'timeout', 'timeout']"), (CANCELLED, "cancelled")],
    ids=["deadline", "cancelled"],
)
def test_T4_a_plain_tool_that_never_returns_does_not_keep_the_program_from_leaving(how: str, said: str) -> None:
    began = time.monotonic()
    program = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("HOW", how)], capture_output=True, text=True, timeout=50, check=False
    )
    assert (program.returncode, program.stderr) == (0, "")
    assert program.stdout.splitlines() == ["entered"] * 3 + [said, "left"]
    assert time.monotonic() - began < 30
