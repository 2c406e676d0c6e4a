"""One clock for everything that waits or measures, so that tests wait for nothing.

Code that sleeps takes a ``clock`` and calls its ``sleep``; it never calls ``asyncio.sleep`` with more than zero.
"""

from __future__ import annotations

from time import monotonic, time
from typing import Protocol, runtime_checkable

__all__ = ("SYSTEM_CLOCK", "Clock", "ManualClock", "NoWaitClock", "SystemClock")


@runtime_checkable
class Clock(Protocol):
    """What a clock has to offer; all figures are seconds."""

    def time(self) -> float:
        """Return seconds since the epoch, for stamps that people read."""
        ...

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start that never go back, for durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; zero or less only lets other tasks run."""
        ...


class SystemClock:
    """Real time: ``time`` and ``monotonic`` are the functions of that name in the standard library."""

    time = staticmethod(time)
    monotonic = staticmethod(monotonic)

    async def sleep(self, seconds: float) -> None:
        """Wait on the running loop."""
        import asyncio

        await asyncio.sleep(max(seconds, 0.0))


class NoWaitClock(SystemClock):
    """Real stamps and durations, but nothing ever waits: ``sleep`` only lets other tasks run once."""

    async def sleep(self, seconds: float) -> None:
        """Let other tasks run once, however long the wait that was asked for."""
        import asyncio

        await asyncio.sleep(0)


class ManualClock:
    """A clock that stands still until somebody sleeps on it or moves it.

    Args:
        start: The reading at which it starts, in seconds; ``time`` and ``monotonic`` show the same figure.

    Attributes:
        sleeps: Every wait that was asked for, in seconds and in order.
    """

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self.sleeps: list[float] = []

    def time(self) -> float:
        """Return the reading."""
        return self._now

    def monotonic(self) -> float:
        """Return the reading."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock forward without recording a sleep."""
        self._now += max(seconds, 0.0)

    async def sleep(self, seconds: float) -> None:
        """Move the clock forward at once, then let other tasks run."""
        import asyncio

        self.sleeps.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)


SYSTEM_CLOCK: Clock = SystemClock()
