"""The steps of a conversation, how two conversations pair up, and the marks inside one pair."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple, cast

from lionagi_nb._format import clip
from lionagi_nb._json import inline, thaw
from lionagi_nb._transcript.rows import CallLine, MessageRow, TurnGroup

__all__ = ("CompareStep", "FieldMark", "Pair", "WordMark", "field_marks", "pair_up", "steps_of", "word_marks")

Verdict = Literal["same", "differs", "missing", "added"]

_FIELDS = 40  # fields of an answer that are compared side by side
_WORDS = 2_000  # words of a text that are compared word by word


@dataclass(frozen=True)
class CompareStep:
    """One thing that happened: a prompt, a model's answer or a tool call.

    `value` is JSON text where `is_json`, else the text that was said; a tool's is its arguments and its outcome.
    """

    kind: Literal["prompt", "model call", "tool"]
    name: str
    value: str
    is_json: bool
    status: str = ""
    line: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What makes two steps the same kind of thing."""
        return self.kind, self.name


class Pair(NamedTuple):
    """A step of the first conversation and its counterpart in the second; None where there is none."""

    verdict: Verdict
    first: CompareStep | None
    second: CompareStep | None


class FieldMark(NamedTuple):
    """A field of one side of a pair: the mark (= + −), the field's name, and its value on one line."""

    mark: str
    name: str
    value: str


class WordMark(NamedTuple):
    """A run of words of one side of a pair, and whether the other side lacks it."""

    text: str
    changed: bool


def steps_of(turns: Sequence[TurnGroup]) -> tuple[CompareStep, ...]:
    """Return the steps in the order in which they happened."""
    return tuple(step for turn in turns for row in turn.rows for step in _steps(row))


def _steps(row: MessageRow) -> Iterator[CompareStep]:
    whole = next((fold for fold in row.folds if fold.is_json == row.code and fold.label not in _BESIDE), None)
    value = whole.body if whole is not None else row.text
    kind = "model call" if row.role == "assistant" else "prompt"
    if row.text or row.folds:
        yield CompareStep(kind, row.role if kind == "prompt" else "", value, row.code, line=row.text)
    for call in row.calls:
        yield _tool(call)


_BESIDE = ("Guidance", "Context")


def _tool(call: CallLine) -> CompareStep:
    line = f"{call.arguments} → {call.outcome}"
    return CompareStep("tool", call.function, call.whole, True, call.status, line)


def pair_up(first: Sequence[CompareStep], second: Sequence[CompareStep]) -> tuple[Pair, ...]:
    """Return every step of both sides once: alike from the start, and from there on by kind and name."""
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    pairs = [Pair("same", a, b) for a, b in zip(first[:same], second[:same], strict=True)]
    a, b = first[same:], second[same:]
    matcher = SequenceMatcher(None, [s.key for s in a], [s.key for s in b], autojunk=False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        shared = min(i2 - i1, j2 - j1) if [s.key for s in a[i1:i2]] == [s.key for s in b[j1:j2]] else 0
        for x, y in zip(a[i1 : i1 + shared], b[j1 : j1 + shared], strict=True):
            pairs.append(Pair("same" if x == y else "differs", x, y))
        pairs += [Pair("missing", x, None) for x in a[i1 + shared : i2]]
        pairs += [Pair("added", None, y) for y in b[j1 + shared : j2]]
    return tuple(pairs)


def field_marks(pair: Pair) -> tuple[tuple[FieldMark, ...], tuple[FieldMark, ...]] | None:
    """Return the fields of both sides with their marks, None where one side is no JSON object."""
    if pair.first is None or pair.second is None or "tool" in (pair.first.kind, pair.second.kind):
        return None
    a, b = (thaw(s.value) if s.is_json else None for s in (pair.first, pair.second))
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return None
    left, right = cast("dict[str, Any]", a), cast("dict[str, Any]", b)
    return _marks(left, right, "−"), _marks(right, left, "+")


def _marks(own: dict[str, Any], other: dict[str, Any], mark: str) -> tuple[FieldMark, ...]:
    marks = [
        FieldMark("=" if key in other and other[key] == value else mark, clip(key, 80), inline(value, 60))
        for key, value in own.items()
    ]
    marks.sort(key=lambda m: m.mark == "=" and len(marks) > _FIELDS)
    left = len(marks) - _FIELDS
    return (*marks[:_FIELDS], FieldMark("…", f"{left:,} more", "")) if left > 0 else tuple(marks)


def word_marks(pair: Pair) -> tuple[tuple[WordMark, ...], tuple[WordMark, ...]] | None:
    """Return the words of both sides in runs, None where a side is missing, no text, or too long to compare."""
    if pair.first is None or pair.second is None or pair.first.is_json or pair.second.is_json:
        return None
    a, b = (re.findall(r"\s+|\S+", s.value) for s in (pair.first, pair.second))
    if len(a) > _WORDS or len(b) > _WORDS:
        return None
    left: list[WordMark] = []
    right: list[WordMark] = []
    for op, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        changed = op != "equal"
        left += [WordMark("".join(a[i1:i2]), changed)] if i2 > i1 else []
        right += [WordMark("".join(b[j1:j2]), changed)] if j2 > j1 else []
    return tuple(left), tuple(right)
