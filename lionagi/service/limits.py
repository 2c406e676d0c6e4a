"""How many calls run at once, and how many start within an interval: exact, first come first served, per event loop."""

from __future__ import annotations

from collections import deque

from lionagi.ln.clock import Clock
from lionagi.ln.loops import PerLoop

__all__ = ("Limits", "LoopLimits")


class _Settings:
    """The figures; None is no limit, ``interval`` is in seconds."""

    __slots__ = ("concurrency", "interval", "requests", "tokens")

    def __init__(
        self,
        concurrency: int | None = None,
        requests: int | None = None,
        tokens: int | None = None,
        interval: float = 60.0,
    ) -> None:
        self.concurrency = concurrency
        self.requests = requests
        self.tokens = tokens
        self.interval = interval


class _Window:
    """What starts and costs within the interval. The lock is fair: whoever waits keeps the others behind."""

    __slots__ = ("settings", "spent", "starts", "turn")

    def __init__(self, settings: _Settings) -> None:
        import asyncio

        self.settings = settings
        self.turn = asyncio.Lock()
        self.starts: deque[float] = deque(maxlen=settings.requests)
        self.spent: deque[tuple[float, int]] = deque()

    async def wait(self, clock: Clock) -> None:
        """Wait until the interval has room for one more start."""
        async with self.turn:
            due = max(self._requests_due(), self._tokens_due(clock.monotonic()))
            if (pause := due - clock.monotonic()) > 0:
                await clock.sleep(pause)
            if self.settings.requests:
                self.starts.append(max(clock.monotonic(), due))

    def _requests_due(self) -> float:
        full = self.settings.requests is not None and len(self.starts) == self.settings.requests
        return self.starts[0] + self.settings.interval if full else float("-inf")

    def _tokens_due(self, now: float) -> float:
        if self.settings.tokens is None:
            return float("-inf")
        while self.spent and self.spent[0][0] + self.settings.interval <= now:
            self.spent.popleft()
        over = sum(tokens for _, tokens in self.spent) - self.settings.tokens
        for at, tokens in self.spent:
            if over < 0:
                break
            over -= tokens
            if over < 0:
                return at + self.settings.interval
        return float("-inf")


class LoopLimits:
    """What one event loop counts."""

    __slots__ = ("running", "window")

    def __init__(self, settings: _Settings) -> None:
        import asyncio

        self.running = asyncio.Semaphore(settings.concurrency) if settings.concurrency else None
        # Most models have no window, and its deques are the largest part of what a model holds.
        self.window = None if settings.requests is None and settings.tokens is None else _Window(settings)

    def release(self) -> None:
        """End the turn that ``Limits.acquire`` gave."""
        if self.running is not None:
            self.running.release()

    def spend(self, tokens: int, clock: Clock) -> None:
        """Count the tokens that the provider reported for a call that ended now, where tokens are limited."""
        window = self.window
        if window is not None and window.settings.tokens is not None:
            window.spent.append((clock.monotonic(), tokens))


class Limits:
    """Limits of one model.

    Tokens are those that the provider reported for finished calls: a call waits while the interval's sum has reached
    the limit. Nothing is estimated.

    Args:
        concurrency: Calls at once.
        requests: Calls that start within ``interval``.
        tokens: Tokens within ``interval``.
        interval: Seconds.
    """

    __slots__ = ("_states", "settings")

    def __init__(
        self,
        concurrency: int | None = None,
        requests: int | None = None,
        tokens: int | None = None,
        interval: float = 60.0,
    ) -> None:
        self.settings = _Settings(concurrency, requests, tokens, interval)
        self._states: PerLoop[LoopLimits] = PerLoop(LoopLimits)

    async def acquire(self, clock: Clock) -> LoopLimits:
        """Wait for a turn on the running loop; the caller ends it with ``release`` on what this returns."""
        state = self._states.get(self.settings)
        if state.running is not None:
            await state.running.acquire()
        if state.window is not None:
            try:
                await state.window.wait(clock)
            except BaseException:
                state.release()
                raise
        return state
