"""What operate() adds to the work itself, as ratios within one run.

The base is what the job needs in any case: pydantic reads the answer and checks the arguments, and the tool is awaited
once. Run it with ``python benchmarks/operate.py``; only the ratios mean anything, machines differ by the minute.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

from lionagi.session.branch import Branch
from lionagi.testing import TestBranch

DATA = {"title": "Quarterly audit", "score": 0.875, "count": 42, "tags": ["alpha", "beta"], "note": "Nothing found."}
ASKED = {**DATA, "action_requests": [{"function": "price", "arguments": {"sku": "A-100", "quantity": 3}}]}


class Report(BaseModel):
    title: str
    score: float
    count: int
    tags: list[str]
    note: str


class Asked(Report):
    action_requests: list[dict[str, Any]]


class Arguments(TypedDict):
    sku: str
    quantity: int


ARGUMENTS: TypeAdapter[Arguments] = TypeAdapter(Arguments)


async def price(sku: str, quantity: int) -> float:
    """Return the price of some pieces."""
    await asyncio.sleep(0)
    return quantity * 2.5


async def base_structured() -> None:
    await asyncio.sleep(0)
    Report.model_validate_json(json.dumps(DATA))


async def base_tool() -> None:
    await asyncio.sleep(0)
    asked = Asked.model_validate_json(json.dumps(ASKED))
    await price(**ARGUMENTS.validate_python(asked.action_requests[0]["arguments"]))


def branches(data: dict[str, Any], count: int) -> list[Branch]:
    return [TestBranch.from_responses([{"type": "structured", "data": data}], tools=[price]) for _ in range(count)]


async def median(action: Callable[[int], Awaitable[Any]], count: int) -> float:
    """Return the median seconds of one action, the first five left out."""
    times: list[float] = []
    for number in range(count):
        start = time.perf_counter()
        await action(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times[5:])


async def turns(count: int = 500) -> tuple[float, float]:
    """Return the seconds of a turn around the 10th and around the last of one conversation."""
    branch = TestBranch.from_responses([{"type": "structured", "data": DATA}] * count)
    times: list[float] = []
    for number in range(count):
        start = time.perf_counter()
        await branch.operate(instruction=f"question {number}", response_format=Report)
        times.append(time.perf_counter() - start)
    return statistics.median(times[5:15]), statistics.median(times[-10:])


async def main(count: int = 300) -> None:
    plain, asking = branches(DATA, count), branches(ASKED, count)
    rows = {
        "structured answer": (
            await median(lambda number: plain[number].operate(instruction="go", response_format=Report), count),
            await median(lambda _: base_structured(), count),
        ),
        "answer and one tool": (
            await median(
                lambda number: asking[number].operate(instruction="go", response_format=Report, actions=True), count
            ),
            await median(lambda _: base_tool(), count),
        ),
        "turn 500 against turn 10": tuple(reversed(await turns())),
    }
    for name, (ours, base) in rows.items():
        print(f"{name:<26} {ours * 1e6:8.0f} µs / {base * 1e6:8.0f} µs = {ours / base:6.2f} x")


if __name__ == "__main__":
    asyncio.run(main())
