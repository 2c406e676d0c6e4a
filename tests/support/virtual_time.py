"""An event loop whose clock is virtual: a wait of ten seconds is over at once, and exactly ten seconds long."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class _Selector(selectors.DefaultSelector):
    """Turns waiting into the passing of virtual time; what is ready on real sockets comes first."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(5 if timeout is None else 0)
        if not ready and timeout is not None:
            self.now += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its ``time()`` moves only by the waits on it. Threads take no time on it, so that none may be under way."""

    def __init__(self) -> None:
        self.virtual = _Selector()
        super().__init__(self.virtual)

    def time(self) -> float:
        return self.virtual.now


def run_virtually(work: Coroutine[Any, Any, Any]) -> tuple[Any, float]:
    """Return what ``work`` returns and the virtual seconds that it took."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        began = runner.get_loop().time()
        result = runner.run(work)
        return result, runner.get_loop().time() - began
