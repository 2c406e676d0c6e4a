"""The conditions of a script, arranged so that a call is matched in at most one substring test per condition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from ._types import WhenMatcher, last_user_text, tool_names_of

__all__ = ("Condition", "Conditions")

_INDEX_FROM = 64  # conditions; below this a plain scan is faster than collecting the prompt's character pairs
_PAIRS_PER_NEEDLE = 8  # characters of prompt per condition up to which the pairs cost less than the scan


class Condition:
    """One entry's condition, prepared: lowered needle, compiled pattern, the label that ``next`` returns."""

    __slots__ = ("after_calls", "by_text", "call_index", "index", "label", "needle", "pattern", "tool")

    def __init__(self, index: int, when: WhenMatcher) -> None:
        self.index = index
        self.call_index = when.call_index
        self.after_calls = when.after_calls
        content: dict[str, str] = {
            name: value
            for name in ("prompt_contains", "prompt_regex", "has_tool")
            if (value := getattr(when, name)) is not None
        }
        if when.combine == "first":
            content = dict(list(content.items())[:1])
        self.by_text = "prompt_contains" in content
        self.needle: str = content.get("prompt_contains", "").lower()
        self.pattern = re.compile(content["prompt_regex"]) if "prompt_regex" in content else None
        self.tool: str | None = content.get("has_tool")
        self.label = "when:" + "+".join(f"{name}:{value!r}" for name, value in content.items())
        if not content:
            name = "after_calls" if self.call_index is None else "call_index"
            self.label = f"when:{name}:{getattr(when, name)}"

    def holds_beside_needle(self, call: Call) -> bool:
        """Return whether everything but the needle holds."""
        if self.call_index is not None and call.index != self.call_index:
            return False
        if self.after_calls is not None and call.index < self.after_calls:
            return False
        if self.pattern is not None and self.pattern.search(call.text) is None:
            return False
        return self.tool is None or self.tool in tool_names_of(call.payload)


class Call:
    """One call as the conditions see it."""

    __slots__ = ("index", "lowered", "payload", "text")

    def __init__(self, payload: Mapping[str, Any], index: int) -> None:
        self.payload = payload
        self.index = index
        self.text = last_user_text(payload) or ""
        self.lowered = self.text.lower()


class Conditions:
    """The unserved conditions of a script in source order."""

    def __init__(self) -> None:
        self.served: set[int] = set()
        self._needles: dict[int, Condition] = {}
        self._others: dict[int, Condition] = {}
        self._pairs: dict[tuple[str, str], list[Condition]] = {}
        self._short: list[Condition] = []

    def __len__(self) -> int:
        return len(self._needles) + len(self._others)

    def add(self, index: int, when: WhenMatcher) -> None:
        """Add the condition of the entry at ``index``; called in source order."""
        condition = Condition(index, when)
        if not condition.by_text:
            self._others[index] = condition
            return
        self._needles[index] = condition
        pairs = list(pairwise(condition.needle))
        if pairs:
            rarest = min(pairs, key=lambda pair: len(self._pairs.get(pair, ())))
            self._pairs.setdefault(rarest, []).append(condition)
        else:
            self._short.append(condition)

    def take(self, payload: Mapping[str, Any], call_index: int) -> Condition | None:
        """Return the first condition that holds and count it as served; None where none holds."""
        if not self._needles and not self._others:
            return None
        call = Call(payload, call_index)
        found = self._first_by_needle(call) if self._needles else None
        for condition in self._others.values():
            if found is not None and condition.index > found.index:
                break
            if condition.holds_beside_needle(call):
                found = condition
                break
        if found is not None:
            self.drop((found.index,))
        return found

    def drop(self, indexes: Iterable[int]) -> None:
        """Count the entries at these indexes as served."""
        for index in indexes:
            self.served.add(index)
            self._others.pop(index, None)
            self._needles.pop(index, None)

    def _first_by_needle(self, call: Call) -> Condition | None:
        text = call.lowered
        if len(self._needles) < _INDEX_FROM or len(text) > _PAIRS_PER_NEEDLE * len(self._needles):
            for condition in self._needles.values():
                if condition.needle in text and condition.holds_beside_needle(call):
                    return condition
            return None
        return self._first_by_pair(call, text)

    def _first_by_pair(self, call: Call, text: str) -> Condition | None:
        """Test only the needles of which the prompt holds at least one rare pair of characters."""
        candidates = list(self._short)
        for pair in self._pairs.keys() & set(pairwise(text)):
            candidates += self._pairs[pair]
        found: Condition | None = None
        for condition in candidates:
            if found is not None and condition.index > found.index:
                continue
            if condition.index in self.served or condition.needle not in text:
                continue
            if condition.holds_beside_needle(call):
                found = condition
        return found
