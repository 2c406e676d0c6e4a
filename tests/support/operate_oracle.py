"""What one operate() has to do, said once more in the words of the record and without a look at the code.

A row is one combination of the call's switches and of what comes back from the model. ``expected`` gives the number of
tool runs and what the caller gets.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from support.roads import Entry, request, structured, text, tool_call

POLICIES = ("raise", "return_value", "return_none")
CALLERS = ("no format", "class", "instance", "dict")
REQUIRED = ("absent", None, False, True)
ASKED = [request("add", n=1), request("add", n=5)]
PROSE = "I would call add(n=1) here."

ANSWERS = ("prose", "fits", "fits, none asked", "fits, null", "fits, silent", "lacks a field", "tool call")
"""What a model says. All but the first and the last are JSON; the last is a native tool call without text."""

VALUES = (
    "text", "none", "number", "mapping", "mapping that asks", "mapping, none asked", "mapping, null",
    "caller's model", "caller's model that asks", "caller's model, none asked", "foreign model that asks",
)  # fmt: skip
"""What a Middle of the caller's own returns."""


class Words(BaseModel):
    """The caller's model."""

    words: str


class AskingWords(Words):
    """An instance of the caller's model that holds requests."""

    action_required: bool | None = None
    action_requests: list[dict[str, Any]] | None = None


class Foreign(BaseModel):
    """A model that is not the caller's."""

    words: str = "f"
    action_required: bool | None = None
    action_requests: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    said: str
    caller: str
    required: Any
    policy: Any
    skip: bool
    invoke: bool
    actions: bool

    @property
    def wants_model(self) -> bool:
        return self.caller in ("class", "instance")

    @property
    def acts(self) -> bool:
        """Whether the call has an ActionParam."""
        return self.actions and self.invoke

    @property
    def response_format(self) -> Any:
        return {"no format": None, "class": Words, "instance": Words(words="x"), "dict": {"words": "a word"}}[
            self.caller
        ]

    @property
    def keywords(self) -> dict[str, Any]:
        return {
            "response_format": self.response_format,
            "handle_validation": self.policy,
            "skip_validation": self.skip,
            "invoke_actions": self.invoke,
            "actions": self.actions,
        }


@dataclass(frozen=True)
class Seen:
    """What the Middle returns: its shape, whether it is an instance of the caller's model, the requests in it."""

    shape: Literal["text", "mapping", "model", "other"]
    fits: bool = False
    asks: int | None = None


@dataclass(frozen=True)
class Ending:
    """How a row ends: tool runs, and the value as it is, None, the mismatch error, or the enriched value."""

    runs: int
    gives: Literal["value", "none", "raise", "enriched"]
    shape: str


def rows(said: str) -> Iterator[Row]:
    """Yield every row of one answer or value."""
    flags = (False, True)
    for rest in itertools.product(CALLERS, REQUIRED, POLICIES, flags, flags, flags):
        yield Row(said, *rest)


def expected(row: Row, seen: Seen) -> Ending:
    """Return the ending: D3's order (raw shortcut, mismatch, invoke_actions), then D4's inspection of requests."""
    if row.skip:
        return Ending(0, "value", seen.shape)
    if row.wants_model and not seen.fits:
        gives: Any = {"raise": "raise", "return_value": "value", "return_none": "none"}[row.policy]
        return Ending(0, gives, seen.shape)
    if not row.invoke or not row.actions:
        return Ending(0, "value", seen.shape)
    if seen.shape not in ("mapping", "model") or not seen.asks:
        return Ending(0, "value", seen.shape)
    return Ending(seen.asks, "enriched", seen.shape)


# -- what a model says


def answer(row: Row) -> Entry:
    """Return the script entry for the row's answer."""
    if row.said == "prose":
        return text(PROSE)
    if row.said == "tool call":
        return tool_call("add", n=1)
    return structured(**answer_data(row))


def answer_data(row: Row) -> dict[str, Any]:
    """Return the JSON of an answer."""
    data: dict[str, Any] = {"other": "o"} if row.said == "lacks a field" else {"words": "w"}
    if row.required != "absent":
        data["action_required"] = row.required
    if row.said in ("fits", "lacks a field"):
        data["action_requests"] = ASKED
    if row.said == "fits, none asked":
        data["action_requests"] = []
    if row.said == "fits, null":
        data["action_requests"] = None
    return data


def seen_of_answer(row: Row) -> Seen:
    """Return what either adapter makes of the answer.

    It reads where a format was asked for: the caller's, or the generated one of a call with actions.
    """
    reads = not row.skip and (row.caller != "no format" or row.acts)
    if row.said == "tool call":
        if reads and row.caller == "no format":
            return Seen("model", asks=1)  # it fills the generated actions model
        return Seen("mapping", asks=1)  # a tool call has none of the caller's fields
    if not reads or row.said == "prose":
        return Seen("text")
    asks = {"fits": 2, "lacks a field": 2, "fits, none asked": 0}.get(row.said)
    if row.caller == "dict":
        return Seen("mapping", asks=asks)
    if row.wants_model:
        return Seen("text") if row.said == "lacks a field" else Seen("model", True, asks if row.acts else None)
    silent = row.said == "fits, silent" and row.required == "absent"
    return Seen("text") if silent else Seen("model", asks=asks)  # without any of the generated fields it is only text


# -- what a Middle of the caller's own returns


def value_of(row: Row) -> Any:
    """Return the row's value, a new one at each call."""
    said = row.said
    if said in ("text", "none", "number"):
        return {"text": PROSE, "none": None, "number": 3}[said]
    fields: dict[str, Any] = {"words": "w"}
    if row.required != "absent":
        fields["action_required"] = row.required
    if "asks" in said:
        fields["action_requests"] = [dict(each) for each in ASKED]
    if "none asked" in said:
        fields["action_requests"] = []
    if "null" in said:
        fields["action_requests"] = None
    if said == "caller's model":
        return Words(words="w")
    if said.startswith("mapping"):
        return fields
    return (Foreign if said.startswith("foreign") else AskingWords)(**fields)


def seen_of_value(row: Row) -> Seen:
    """Return the facts of a value that a Middle of the caller's own returned."""
    said = row.said
    asks = 2 if "asks" in said else 0 if "none asked" in said else None
    if said.startswith("mapping"):
        return Seen("mapping", asks=asks)
    if "model" in said:
        return Seen("model", not said.startswith("foreign"), asks)
    return Seen("text" if said == "text" else "other")
