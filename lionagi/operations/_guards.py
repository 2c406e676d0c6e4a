"""Refusals of keywords that an earlier release accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ("reject_removed_kwargs",)


def reject_removed_kwargs(kwargs: Mapping[str, Any], removed: Mapping[str, str], *, where: str) -> None:
    """Raise TypeError when ``kwargs`` holds a removed name; the message gives each name's replacement.

    Args:
        kwargs: The keywords that a verb received beyond its own.
        removed: Removed name to replacement, for example ``{"imodel": "chat_model="}``; "" where there is none.
        where: The verb, as in "operate".
    """
    found = [name for name in removed if name in kwargs]
    if not found:
        return
    hints = ", ".join(f"{name!r} (use {removed[name]})" if removed[name] else repr(name) for name in found)
    raise TypeError(f"{where}() no longer accepts {hints}")
