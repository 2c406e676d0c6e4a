"""Token counts as providers report them: adding them up, and telling the model."""

from __future__ import annotations

from typing import Any, cast

__all__ = ("add_usage", "total_tokens", "with_usage_note")


def add_usage(total: dict[str, int], usage: dict[str, Any] | None) -> None:
    """Add a call's counts to ``total`` in place; what is no whole number above zero is left out."""
    for name, count in (usage or {}).items():
        if isinstance(count, int) and not isinstance(count, bool) and count > 0:
            total[name] = total.get(name, 0) + count


def total_tokens(usage: dict[str, Any] | None) -> int:
    """Return a call's tokens in all, 0 where the provider did not report them."""
    count = (usage or {}).get("total_tokens")
    return count if isinstance(count, int) else 0


def with_usage_note(messages: list[dict[str, Any]], usage: dict[str, int]) -> list[dict[str, Any]]:
    """Return a new list whose last message also says what was used so far; the given messages stay as they are."""
    counts = ", ".join(f"{name} {count}" for name, count in sorted(usage.items()))
    note = f"Token usage so far, as reported by the provider: {counts}"
    last = messages[-1]
    content: Any = last.get("content")
    if isinstance(content, list):
        content = [*cast("list[Any]", content), {"type": "text", "text": note}]
    else:
        content = f"{content}\n\n{note}" if content else note
    return [*messages[:-1], {**last, "content": content}]
