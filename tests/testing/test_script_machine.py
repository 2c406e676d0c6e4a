"""ScriptModel against an oracle, over calls, resets, copies and additions in any order."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lionagi._errors import ScriptExhaustedError
from lionagi.testing import ScriptedEndpoint, ScriptModel, TextResponse, WhenMatcher

CONTENT = ("prompt_contains", "prompt_regex", "has_tool")
WHENS = st.fixed_dictionaries(
    {},
    optional={
        "prompt_contains": st.text("abAB", max_size=3),
        "prompt_regex": st.sampled_from(["^a", "b$", "A.", "", "ab|ba"]),
        "has_tool": st.sampled_from("fg"),
        "after_calls": st.integers(0, 6),
        "call_index": st.integers(0, 6),
        "combine": st.sampled_from(["first", "all"]),
    },
)
ENTRIES = st.lists(st.none() | WHENS, max_size=8)
PROMPTS = st.text("abAB", max_size=8)
TOOLS = st.lists(st.sampled_from("fg"), max_size=2)
MODES = st.sampled_from(["auto", "positional", "when_only"])


class Oracle:
    """The rules of serving, as plainly as they are spoken."""

    def __init__(self, mode: str, whens: list[dict[str, Any] | None]) -> None:
        self.mode, self.whens, self.done = mode, list(whens), list[int]()

    def conditional(self, index: int) -> bool:
        return bool((self.whens[index] or {}).keys() - {"combine"})

    def next(self, prompt: str, tools: list[str], call: int) -> int | None:
        unserved = [index for index in range(len(self.whens)) if index not in self.done]
        for index in unserved if self.mode != "positional" else []:
            if self.conditional(index) and self.holds(self.whens[index] or {}, prompt, tools, call):
                return index
        plain = [index for index in unserved if not self.conditional(index)]
        return plain[0] if plain and self.mode != "when_only" else None

    def holds(self, when: dict[str, Any], prompt: str, tools: list[str], call: int) -> bool:
        if "call_index" in when and call != when["call_index"]:
            return False
        if "after_calls" in when and call < when["after_calls"]:
            return False
        tests = {
            "prompt_contains": lambda value: value.lower() in prompt.lower(),
            "prompt_regex": lambda value: re.search(value, prompt) is not None,
            "has_tool": lambda value: value in tools,
        }
        verdicts = [tests[name](when[name]) for name in CONTENT if name in when]
        return all(verdicts if when.get("combine") == "all" else verdicts[:1])

    def exhausted(self) -> bool:
        servable = [i for i in range(len(self.whens)) if self.conditional(i) == (self.mode == "when_only")]
        return set(servable) <= set(self.done)

    def cursor(self) -> int:
        return max((index + 1 for index in self.done if not self.conditional(index)), default=0)


def entry_of(number: int, when: dict[str, Any] | None) -> TextResponse:
    return TextResponse(content=str(number), when=None if when is None else WhenMatcher(**when))


class ScriptMachine(RuleBasedStateMachine):
    """A script, the oracle beside it, and the number of the next call."""

    @initialize(whens=ENTRIES, mode=MODES)
    def begin(self, whens: list[dict[str, Any] | None], mode: str) -> None:
        entries: list[Any] = [entry_of(number, when) for number, when in enumerate(whens)]
        self.script = ScriptModel(mode=mode, responses=entries)
        self.oracle = Oracle(mode, whens)
        self.calls = 0

    @rule(prompt=PROMPTS, tools=TOOLS)
    def call(self, prompt: str, tools: list[str]) -> None:
        payload: dict[str, Any] = {
            "messages": [{"role": "user", "content": prompt}],
            "tools": [{"type": "function", "function": {"name": name}} for name in tools],
        }
        expected = self.oracle.next(prompt, tools, self.calls)
        foreseen = self.script.explain(payload, self.calls).served
        assert (None if foreseen is None else foreseen.index) == expected
        if expected is None:
            with pytest.raises(ScriptExhaustedError):
                self.script.next(payload, self.calls)
        else:
            entry, matched_by = self.script.next(payload, self.calls)
            assert entry is self.script.responses[expected]
            assert (matched_by != "positional") == self.oracle.conditional(expected)
            self.oracle.done.append(expected)
        self.calls += 1

    @rule()
    def reset(self) -> None:
        self.script.reset()
        self.oracle.done, self.calls = [], 0

    @rule()
    def go_on_with_a_copy(self) -> None:
        self.script = deepcopy(self.script)

    @rule()
    def go_on_beside_a_served_copy(self) -> None:
        twin = ScriptModel.coerce(self.script)
        for index in range(20):
            try:
                twin.next({"messages": [{"role": "user", "content": "ab"}]}, index)
            except ScriptExhaustedError:
                break

    @rule()
    def clone_the_endpoint(self) -> None:
        clone = ScriptedEndpoint(script=self.script).clone()
        assert clone.script.cursor == 0
        assert len(clone.script.unused_entries()) == len(self.script.responses)

    @rule(when=st.none() | WHENS)
    def add_an_entry(self, when: dict[str, Any] | None) -> None:
        self.script.responses.append(entry_of(len(self.oracle.whens), when))
        self.oracle.whens.append(when)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "script"):
            return
        unused = [index for index, _ in self.script.unused_entries()]
        assert unused == [index for index in range(len(self.oracle.whens)) if index not in self.oracle.done]
        assert self.script.exhausted == self.oracle.exhausted()
        assert self.script.cursor == self.oracle.cursor()


class TestF8ScriptMachine(ScriptMachine.TestCase):
    """F8: every walk through a script agrees with the oracle."""

    settings = settings(max_examples=100, stateful_step_count=25)
