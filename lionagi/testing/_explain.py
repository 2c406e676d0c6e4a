"""Why an entry of a script is served or not, in words; nothing here is on the way of a call that is answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from lionagi._errors import short_repr

from ._types import ResponseEntry, WhenMatcher, last_user_text, tool_names_of

__all__ = ("EntryVerdict", "ScriptExplanation", "explain", "problems_of")

_CONTENT = ("prompt_contains", "prompt_regex", "has_tool")
_MOST_COMPARED = 500
_LONGEST_COMPARED = 4096


class EntryVerdict:
    """What becomes of one entry for one call.

    Attributes:
        index: The entry's place in ``responses``.
        entry: The entry.
        serves: Whether it is the one that is served.
        reason: Why, or why not.
        closeness: From 0 to 1, how near it came; the closest entry of a call without answer is the one named by
            ScriptExhaustedError.
    """

    __slots__ = ("closeness", "entry", "index", "reason", "serves")

    def __init__(self, index: int, entry: ResponseEntry, reason: str, closeness: float, serves: bool = False) -> None:
        self.index = index
        self.entry = entry
        self.reason = reason
        self.closeness = closeness
        self.serves = serves

    def __repr__(self) -> str:
        return f"{'→' if self.serves else ' '} {self.index} {self.entry.type}: {self.reason}"


class ScriptExplanation:
    """The verdict on each entry of a script for one call; printed, it is one line per entry.

    Attributes:
        call_index: The call's number.
        prompt: The last user message, None where there is none.
        entries: One verdict per entry, in the script's order.
    """

    __slots__ = ("call_index", "entries", "prompt")

    def __init__(self, call_index: int, prompt: str | None, entries: list[EntryVerdict]) -> None:
        self.call_index = call_index
        self.prompt = prompt
        self.entries = entries

    @property
    def served(self) -> EntryVerdict | None:
        """The verdict on the entry that answers the call, None where none does."""
        return next((verdict for verdict in self.entries if verdict.serves), None)

    @property
    def closest(self) -> EntryVerdict | None:
        """The verdict on the served entry, else on the nearest one, the last of equals; None for no entries."""
        return self.served or max(reversed(self.entries), key=lambda verdict: verdict.closeness, default=None)

    def __repr__(self) -> str:
        head = f"call {self.call_index}, last user message {short_repr(self.prompt)}"
        tail = "" if self.served else "\nno entry is served"
        return "\n".join([head, *map(repr, self.entries)]) + tail


class _Part:
    """One condition of a matcher, held against a call."""

    __slots__ = ("holds", "likeness", "text")

    def __init__(self, holds: bool, text: str, likeness: Callable[[], float]) -> None:
        self.holds = holds
        self.text = text
        self.likeness = likeness


def explain(
    entries: Sequence[ResponseEntry], mode: str, served: Set[int], payload: Mapping[str, Any], call_index: int
) -> ScriptExplanation:
    """Return what ``ScriptModel.next`` would do with a call, and why.

    Args:
        entries: The script's responses.
        mode: The script's mode.
        served: Indexes of the entries that were served before.
        payload: What is sent.
        call_index: The call's number.
    """
    verdicts: list[EntryVerdict] = []
    plain: list[EntryVerdict] = []
    taken: int | None = None
    for index, entry in enumerate(entries):
        if entry.when is None or entry.when.is_empty():
            verdicts.append(EntryVerdict(index, entry, "", 0.0))
            plain.append(verdicts[-1])
            continue
        parts = list(_parts(entry.when, payload, call_index))
        verdict = _conditional(index, entry, parts, mode, index in served, taken)
        if verdict.serves:
            taken = index
        verdicts.append(verdict)
    _judge_plain(plain, mode, served, taken)
    return ScriptExplanation(call_index, last_user_text(payload), verdicts)


def _conditional(
    index: int, entry: ResponseEntry, parts: list[_Part], mode: str, served: bool, taken: int | None
) -> EntryVerdict:
    failing = [part.text for part in parts if not part.holds]
    likeness = sum(1.0 if part.holds else part.likeness() if index < _MOST_COMPARED else 0.0 for part in parts)
    closeness = 0.9 * likeness / len(parts)
    if mode == "positional":
        return EntryVerdict(index, entry, "mode 'positional' never serves an entry with a condition", closeness)
    if failing:
        before = "was served before, and " if served else ""
        return EntryVerdict(index, entry, before + "; ".join(failing), closeness)
    if served:
        return EntryVerdict(index, entry, "its condition holds, but it was served before", 1.0)
    if taken is not None:
        return EntryVerdict(index, entry, f"its condition holds, but entry {taken} comes first", closeness)
    return EntryVerdict(index, entry, "; ".join(part.text for part in parts), 1.0, serves=True)


def _judge_plain(verdicts: list[EntryVerdict], mode: str, served: Set[int], taken: int | None) -> None:
    following: int | None = None
    for verdict in verdicts:
        if mode == "when_only":
            verdict.reason, verdict.closeness = "mode 'when_only' never serves an entry without a condition", 0.3
        elif verdict.index in served:
            verdict.reason, verdict.closeness = "was served before", 0.5
        elif taken is not None:
            verdict.reason = f"entry {taken}, whose condition holds, comes first"
        elif following is None:
            verdict.reason, verdict.serves = "is the next entry without a condition", True
            following = verdict.index
        else:
            verdict.reason = f"its turn comes after entry {following}"


def _parts(when: WhenMatcher, payload: Mapping[str, Any], call_index: int) -> Iterator[_Part]:
    """Yield the conditions that are looked at; what ``combine="first"`` leaves out is noted with the one it takes."""
    if when.call_index is not None:
        wanted = when.call_index
        said = f"call_index {wanted} is asked for, this is call {call_index}"
        yield _Part(call_index == wanted, said, lambda: 1 / (1 + abs(call_index - wanted)))
    if when.after_calls is not None:
        least = when.after_calls
        said = f"after_calls {least} is asked for, this is call {call_index}"
        yield _Part(call_index >= least, said, lambda: 1 / (1 + least - call_index))
    names = [name for name in _CONTENT if getattr(when, name) is not None]
    ignored = names[1:] if when.combine == "first" else []
    note = f" ({' and '.join(ignored)} not looked at: combine is 'first')" if ignored else ""
    for name in names[: len(names) - len(ignored)]:
        part = _content_part(name, getattr(when, name), payload)
        part.text += note
        yield part


def _content_part(name: str, value: str, payload: Mapping[str, Any]) -> _Part:
    if name == "has_tool":
        offered = tool_names_of(payload)
        holds = value in offered
        said = f"tool {value!r} is{'' if holds else ' not'} among the offered {offered}"
        return _Part(holds, said, lambda: max((_likeness(value, each) for each in offered), default=0.0))
    text = last_user_text(payload) or ""
    if name == "prompt_contains":
        holds = value.lower() in text.lower()
        said = f"the last user message {'contains' if holds else 'does not contain'} {value!r}"
        return _Part(holds, said, lambda: _likeness(value.lower(), text[-_LONGEST_COMPARED:].lower()))
    holds = re.search(value, text) is not None
    return _Part(holds, f"prompt_regex {value!r} is {'' if holds else 'not '}found in the last user message", _unknown)


def _unknown() -> float:
    return 0.3


def _likeness(needle: str, text: str) -> float:
    from rapidfuzz import fuzz

    return fuzz.partial_ratio(needle, text) / 100 if len(needle) <= len(text) else fuzz.ratio(needle, text) / 100


def problems_of(entries: Sequence[ResponseEntry], mode: str) -> list[str]:
    """Return what is legal in a script and most likely a mistake: entries and conditions that can never count."""
    found = [] if entries else ["the script holds no entry, so the first call fails"]
    for index, entry in enumerate(entries):
        when = entry.when if entry.when is not None and not entry.when.is_empty() else None
        if when is None and mode == "when_only":
            found.append(f"entry {index} has no condition, so mode 'when_only' never serves it")
        elif when is not None and mode == "positional":
            found.append(f"entry {index} has a condition, so mode 'positional' never serves it")
        elif when is not None:
            found += [f"entry {index}: {problem}" for problem in _problems_of_matcher(when)]
    return found


def _problems_of_matcher(when: WhenMatcher) -> Iterator[str]:
    first, *others = [name for name in _CONTENT if getattr(when, name) is not None] or [""]
    if others and when.combine == "first":
        yield f"{' and '.join(others)} count only beside {first} with combine: all"
    if when.call_index is not None and when.call_index < 0:
        yield f"call_index {when.call_index} never comes: calls are counted from 0"
    if when.call_index is not None and when.after_calls is not None and when.after_calls > when.call_index:
        yield f"after_calls {when.after_calls} and call_index {when.call_index} never hold together"
