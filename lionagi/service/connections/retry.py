"""When a failed request is sent again, and after how long a pause."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from lionagi._errors import ProviderError
from lionagi.ln.clock import Clock

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ("LONGEST_RETRY_AFTER", "may_retry", "with_retries")

T = TypeVar("T")

LONGEST_RETRY_AFTER = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0


def may_retry(error: BaseException) -> bool:
    """Return whether the same request may succeed soon: a transient failure that asks for no wait above 60 s."""
    if not isinstance(error, ProviderError) or not error.retryable:
        return False
    return error.retry_after is None or error.retry_after <= LONGEST_RETRY_AFTER


async def with_retries(attempt: Callable[[], Awaitable[T]], *, requests: int, clock: Clock) -> T:
    """Run ``attempt`` up to ``requests`` times, pausing on ``clock``, and return its first result.

    A pause is as long as the provider asks, else random between zero and 0.5 s, doubling up to 8 s.
    The last failure is raised as it is.
    """
    try:
        return await attempt()
    except ProviderError as error:
        if requests < 2 or not may_retry(error):
            raise
        failed = [error]

    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

    async def again() -> T:
        # the first failure has happened already; tenacity is loaded only now and counts it as its first attempt
        if failed:
            raise failed.pop()
        return await attempt()

    retrying = AsyncRetrying(
        sleep=clock.sleep,
        stop=stop_after_attempt(requests),
        wait=_pause,
        retry=retry_if_exception(may_retry),
        reraise=True,
    )
    return await retrying(again)


def _pause(state: RetryCallState) -> float:
    from tenacity import wait_random_exponential

    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, ProviderError) else None
    return asked if asked is not None else wait_random_exponential(multiplier=_FIRST_PAUSE, max=_LONGEST_PAUSE)(state)
