"""One call's walk: how many of our own frames, files and file switches one operate() with one tool takes."""

from __future__ import annotations

import itertools
import sys
import threading
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pydantic
from support.source import PACKAGES, ROOT

from lionagi import testing

MAX_FILES, MAX_SWITCHES, MAX_CALLS = 35, 150, 600
OURS = tuple(str(ROOT / package) for package in PACKAGES)


class Report(pydantic.BaseModel):
    """The answer asked for."""

    city: str


def weather(city: str) -> str:
    """Return the weather of a city."""
    return f"sunny in {city}"


def scripted() -> Any:
    """Return a branch that answers with one report and one tool request."""
    data = {
        "city": "Paris",
        "action_required": True,
        "action_requests": [{"function": "weather", "arguments": {"city": "Paris"}}],
    }
    return testing.TestBranch.from_responses([{"type": "structured", "data": data}], tools=[weather])


async def walk(profile: Callable[[FrameType, str, Any], None] | None = None) -> Any:
    """Run the call, every thread profiled."""
    branch = scripted()
    sys.setprofile(profile)
    threading.setprofile(profile)
    try:
        return await branch.operate(instruction="go", response_format=Report, actions=True)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # pyright: ignore[reportArgumentType]


async def test_one_operate_with_one_tool_is_a_short_walk() -> None:
    files: list[str] = []

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            files.append(frame.f_code.co_filename)

    await walk()  # classes and schemas are built once per process
    result = await walk(profile)
    switches = sum(before != after for before, after in itertools.pairwise(files))
    assert result.action_responses[0].output == "sunny in Paris"
    walked = Counter(file.removeprefix(f"{ROOT}/") for file in files)
    found = f"{len(walked)} files, {switches} switches, {len(files)} calls: {walked.most_common()}"
    assert (len(walked) <= MAX_FILES, switches <= MAX_SWITCHES, len(files) <= MAX_CALLS) == (True, True, True), found
