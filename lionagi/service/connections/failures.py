"""From what a provider sent instead of an answer to an error of ours, scrubbed of credentials."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from lionagi._errors import (
    ParseError,
    ProviderAuthError,
    ProviderCapacityError,
    ProviderContextError,
    ProviderError,
    ProviderQuotaError,
    ProviderResponseError,
    ProviderSafetyError,
    ProviderStreamError,
    ProviderUnsupportedModelError,
    short_repr,
)
from lionagi.ln.clock import Clock
from lionagi.ln.jsons import loads_json
from lionagi.ln.patterns import late_pattern
from lionagi.ln.secrets import scrub

__all__ = ("classify_provider_error", "error_from_body", "retry_after_seconds", "stream_error")

_LONGEST_RAW = 4096

_WORDS: tuple[tuple[type[ProviderError], re.Pattern[str]], ...] = (
    (
        ProviderContextError,
        late_pattern(r"context.{0,12}(length|window|size)|maximum context|too many tokens|prompt is too long", re.I),
    ),
    (
        ProviderAuthError,
        late_pattern(r"api.?key|unauthori[sz]ed|authenticat|invalid.{0,8}credential|logged? ?in", re.I),
    ),
    (ProviderQuotaError, late_pattern(r"quota|rate.?limit|too many requests|usage limit|billing", re.I)),
    (
        ProviderUnsupportedModelError,
        late_pattern(r"model.{0,40}(not found|does not exist|unsupported|not supported)|unknown model", re.I),
    ),
    (ProviderSafetyError, late_pattern(r"content.?(policy|filter)|safety|moderation", re.I)),
    (ProviderCapacityError, late_pattern(r"overloaded|capacity|unavailable|try again later", re.I)),
)
_ADVICE: dict[type[ProviderError], str] = {
    ProviderAuthError: "check the API key",
    ProviderQuotaError: "wait, or raise the limit of your account",
    ProviderContextError: "shorten the history or the request",
    ProviderUnsupportedModelError: "check the model's name and base_url",
    ProviderSafetyError: "change the request",
    ProviderCapacityError: "try again later",
}


def classify_provider_error(
    content: object, *, stderr_tail: str = "", status: int | None = None
) -> type[ProviderError]:
    """Return the error class for what a provider said, by its HTTP status first and by its words second.

    Args:
        content: The provider's message or body.
        stderr_tail: The last lines of a CLI agent's standard error, read like ``content``.
        status: The HTTP status, None where there is none.
    """
    if status in (401, 403):
        return ProviderAuthError
    if status == 429:
        return ProviderQuotaError
    if status in (408, 409) or (status or 0) >= 500:
        return ProviderCapacityError
    words = f"{content} {stderr_tail}"[:_LONGEST_RAW]
    for error_class, pattern in _WORDS:
        if pattern.search(words) and not (status is not None and error_class.retryable):
            return error_class
    return ProviderUnsupportedModelError if status == 404 else ProviderError


def retry_after_seconds(value: str | None, clock: Clock) -> float | None:
    """Read a Retry-After header, seconds or an HTTP date; None for an absent or unreadable one."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - clock.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def error_from_body(
    body: str,
    *,
    provider: str,
    clock: Clock,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    secrets: Iterable[str] = (),
) -> ProviderError:
    """Return the error for an error body; its message is one line and carries no credential."""
    if status is not None and 300 <= status < 400:
        return ProviderResponseError(
            f"{provider} answered with a redirect (HTTP {status}), which is never followed: "
            "set base_url to the final address",
            provider=provider,
            status_code=status,
        )
    clean = scrub(body[:_LONGEST_RAW], secrets)
    words = " ".join(_message_of(clean).split())
    error_class = classify_provider_error(words, status=status)
    place = f"HTTP {status}" if status is not None else "an error in the stream"
    advice = _ADVICE.get(error_class, "correct the request")
    asked = retry_after_seconds(headers.get("Retry-After") if headers else None, clock)
    wait = f" (it asks to wait {asked:.0f} s)" if asked else ""
    return error_class(
        f"{provider} answered with {place}: {short_repr(words)}{wait}; {advice}",
        provider=provider,
        status_code=status,
        retry_after=asked,
        raw=clean,
    )


def stream_error(what: str, *, provider: str, partial_text: str) -> ProviderStreamError:
    """Return the error for a stream that cannot be read to its end; ``partial_text`` is what had arrived."""
    return ProviderStreamError(
        f"{provider}: {what} after {len(partial_text)} characters of the answer; ask again",
        provider=provider,
        partial_text=partial_text,
    )


def _message_of(body: str) -> str:
    try:
        data: Any = loads_json(body)
    except ParseError:
        return body
    inner: Any = cast("dict[str, Any]", data).get("error", data) if isinstance(data, dict) else data
    if isinstance(inner, dict):
        parts = cast("dict[str, Any]", inner)
        said = [str(parts[key]) for key in ("message", "code", "detail") if parts.get(key)]
        return " ".join(said) or body
    return str(inner)
