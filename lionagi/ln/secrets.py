"""Keeping credentials out of reprs, records, errors and files.

:data:`Secret` holds a credential so that printing or pickling its owner by accident shows asterisks;
:func:`mask_headers` is for headers that are kept, :func:`scrub` for text that came from outside.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote

from pydantic import SecretStr as Secret

from lionagi.ln.patterns import late_pattern

__all__ = ("CREDENTIAL_HEADERS", "MASK", "Secret", "is_credential_header", "mask_headers", "scrub")

MASK = "***"

CREDENTIAL_HEADERS = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "proxy-authorization",
        "set-cookie",
        "x-amz-security-token",
        "x-api-key",
        "x-auth-token",
        "x-goog-api-key",
    }
)

_CREDENTIAL_WORD = late_pattern(
    r"(?:^|[-_])(?:authorization|auth|credentials?|password|secret|token|cookie|api-?key|key)(?:$|[-_])"
)
_BEARER = late_pattern(r"(?i)\b(bearer|basic)\s+[\w.~+/-]{16,}=*")
_SHORTEST_SECRET = 6


@lru_cache(maxsize=256)
def is_credential_header(name: str) -> bool:
    """Return whether a header of that name carries a credential: a known name, or a word such as token or key."""
    lowered = name.lower()
    return lowered in CREDENTIAL_HEADERS or _CREDENTIAL_WORD.search(lowered) is not None


def mask_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return a copy with every name kept and the values of credential headers replaced by asterisks."""
    return {name: MASK if is_credential_header(name) else value for name, value in headers.items()}


def scrub(text: str, secrets: Iterable[str | Secret | None] = ()) -> str:
    """Return ``text`` without the given secrets (plain, percent-encoded or JSON-escaped) and without bearer tokens.

    A secret of fewer than six characters is a placeholder ("none", "local") and stays, or ordinary words would go.
    """
    plain = {each.get_secret_value() if isinstance(each, Secret) else each for each in secrets if each is not None}
    forms: set[str] = set()
    for secret in plain:
        if len(secret) >= _SHORTEST_SECRET:
            forms.update((secret, quote(secret, safe="", errors="replace"), json.dumps(secret)[1:-1]))
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, MASK)
    return _BEARER.sub(rf"\1 {MASK}", text)
