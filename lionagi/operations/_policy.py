"""The validation policies."""

from __future__ import annotations

from lionagi._errors import ConfigurationError

__all__ = ("POLICIES", "check_policy")

POLICIES = ("raise", "return_value", "return_none")
"""What a verb can do with an answer that does not fit."""


def check_policy(handle_validation: str) -> None:
    """Raise ValueError for a validation policy that does not exist."""
    if handle_validation not in POLICIES:
        raise ConfigurationError(f"handle_validation must be one of {', '.join(POLICIES)}; got {handle_validation!r}.")
