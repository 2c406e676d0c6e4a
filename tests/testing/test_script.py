from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from pydantic import ValidationError

from lionagi._errors import ScriptExhaustedError
from lionagi.testing._script import ScriptModel
from lionagi.testing._types import TextResponse, WhenMatcher


def payload(prompt: str = "hello", *tools: str) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": prompt}],
        "tools": [{"type": "function", "function": {"name": name}} for name in tools],
    }


def text(content: str, **when: Any) -> dict[str, Any]:
    return {"type": "text", "content": content, **({"when": when} if when else {})}


def served(script: ScriptModel, *prompts: str) -> list[str]:
    return [script.next(payload(prompt), index)[0].model_dump()["content"] for index, prompt in enumerate(prompts)]


# --- building


@pytest.mark.record("0052-D4-03")
def test_an_empty_script_is_version_one_and_auto() -> None:
    script = ScriptModel()
    assert (script.version, script.mode, script.responses) == (1, "auto", [])
    with pytest.raises(ValidationError):
        ScriptModel(mode="random")


@pytest.mark.record("0052-D4-04")
def test_an_undeclared_top_level_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="stray"):
        ScriptModel.model_validate({"responses": [], "stray": 1})


@pytest.mark.record("0052-D4-05")
def test_serving_leaves_no_mark_in_the_dump() -> None:
    entries = [text("a"), text("b", prompt_contains="x"), text("c")]
    fresh, used = ScriptModel.from_responses(entries), ScriptModel.from_responses(entries)
    served(used, "hello", "x")
    assert used.model_dump() == fresh.model_dump()
    assert used.model_dump_json() == fresh.model_dump_json()


@pytest.mark.record("0052-D4-06")
def test_entries_may_be_mappings_and_objects_mixed() -> None:
    script = ScriptModel.from_responses([text("a"), TextResponse(content="b")], mode="positional")
    assert script.mode == "positional"
    assert served(script, "", "") == ["a", "b"]


@pytest.mark.record("0052-D4-06", "0052-D4-13")
@pytest.mark.parametrize("as_str", [True, False])
def test_files_lists_and_mappings_give_the_same_script(tmp_path: Path, as_str: bool) -> None:
    data = {"mode": "auto", "responses": [text("a", prompt_contains="x"), text("b")]}
    as_json, as_yaml = tmp_path / "s.json", tmp_path / "s.yaml"
    as_json.write_text(json.dumps(data))
    as_yaml.write_text(
        "responses:\n- type: text\n  content: a\n  when:\n    prompt_contains: x\n- type: text\n  content: b\n"
    )
    paths = [str(as_json), str(as_yaml)] if as_str else [as_json, as_yaml]
    expected = ScriptModel.model_validate(data).model_dump()
    assert ScriptModel.from_json(paths[0]).model_dump() == expected
    assert ScriptModel.from_yaml(paths[1]).model_dump() == expected
    for source in (*paths, data, data["responses"]):
        assert ScriptModel.coerce(source).model_dump() == expected


def test_a_yaml_script_may_use_anchors_and_hold_dates_and_numbers_as_keys(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "responses:\n- &a {type: structured, data: {day: 2026-01-02, by_id: {7: x}}}\n- *a\n"
    )
    first, second = ScriptModel.from_yaml(tmp_path / "s.yaml").responses
    assert first.model_dump() == second.model_dump()
    assert first.model_dump()["data"]["day"] == "2026-01-02"


def test_an_empty_file_is_an_empty_script(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("null")
    (tmp_path / "s.yaml").write_text("")
    assert ScriptModel.coerce(tmp_path / "s.json").responses == []
    assert ScriptModel.coerce(tmp_path / "s.yaml").responses == []


def test_a_file_that_is_no_script_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("{")
    with pytest.raises(ValueError, match=r"s\.json.*not JSON"):
        ScriptModel.from_json(tmp_path / "s.json")
    (tmp_path / "s.json").write_text("3")
    with pytest.raises(ValueError, match=r"s\.json.*holds 3"):
        ScriptModel.from_json(tmp_path / "s.json")


@pytest.mark.record("0052-D4-13")
@pytest.mark.parametrize("source", [None, 3, object(), ("text",)])
def test_other_sources_cannot_be_coerced(source: object) -> None:
    with pytest.raises(TypeError, match="cannot coerce"):
        ScriptModel.coerce(source)


@pytest.mark.record("0052-D4-12")
def test_coercing_a_script_copies_it_deeply() -> None:
    source = ScriptModel.from_responses([{"type": "structured", "data": {"a": [1]}}, text("x", prompt_contains="q")])
    copy = ScriptModel.coerce(source)
    copy.next(payload("q"), 0)
    copy.next(payload(), 1)
    copy.responses[0].data["a"].append(2)  # pyright: ignore[reportAttributeAccessIssue]
    assert (source.cursor, source.exhausted) == (0, False)
    assert source.next(payload("q"), 0)[0].model_dump()["content"] == "x"
    assert source.next(payload(), 1)[0].model_dump()["data"] == {"a": [1]}


def test_a_deep_copy_stands_where_its_source_stood() -> None:
    source = ScriptModel.from_responses([text("a"), text("b"), text("w", prompt_contains="q")])
    served(source, "hello", "q")
    assert served(deepcopy(source), "q") == ["b"]


def test_building_and_serving_leave_the_source_list_alone() -> None:
    entries = [text("a", prompt_contains="x"), {"type": "structured", "data": {"k": {"n": 1}}}]
    before = deepcopy(entries)
    first, second = ScriptModel.from_responses(entries), ScriptModel.from_responses(entries)
    first.next(payload("x"), 0)
    first.next(payload(), 1)
    assert entries == before
    assert second.next(payload("x"), 0)[0].model_dump()["content"] == "a"


@pytest.mark.record("0052-D4-14")
def test_an_unknown_type_is_a_value_error_and_no_mapping_a_type_error() -> None:
    with pytest.raises(ValueError, match=r"unknown response type 'picture'; expected one of \['error', 'stream'"):
        ScriptModel.from_responses([{"type": "picture"}])
    with pytest.raises(TypeError, match="response entry must be dict"):
        ScriptModel.from_responses(["text"])  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="response entry must be dict"):
        ScriptModel.coerce([3])


@pytest.mark.record("DEC-42-4")
def test_known_versions_load_and_others_are_refused_by_name() -> None:
    assert ScriptModel.model_validate({"version": 1, "responses": [text("a")]}).version == 1
    assert ScriptModel.model_validate({"version": 2}).version == 2
    with pytest.raises(ValueError, match="unknown script version 3; known versions are 1 and 2"):
        ScriptModel(version=3)


# --- serving


@pytest.mark.record("0052-D4-15")
@pytest.mark.parametrize(
    ("when", "label"),
    [
        ({"prompt_contains": "it's"}, 'when:prompt_contains:"it\'s"'),
        ({"prompt_regex": "i.*s"}, "when:prompt_regex:'i.*s'"),
        ({"has_tool": "f"}, "when:has_tool:'f'"),
        ({"call_index": 0}, "when:call_index:0"),
        ({"after_calls": 0}, "when:after_calls:0"),
        ({"call_index": 0, "prompt_contains": "it"}, "when:prompt_contains:'it'"),
        ({"prompt_contains": "it", "has_tool": "f", "combine": "all"}, "when:prompt_contains:'it'+has_tool:'f'"),
    ],
)
def test_next_says_which_condition_matched(when: dict[str, Any], label: str) -> None:
    script = ScriptModel.from_responses([text("a", **when)])
    entry, matched_by = script.next(payload("it's", "f"), 0)
    assert (entry.model_dump()["content"], matched_by) == ("a", label)


@pytest.mark.record("0052-D4-15")
def test_next_says_that_an_entry_was_served_by_position() -> None:
    assert ScriptModel.from_responses([text("a")]).next(payload(), 0)[1] == "positional"


@pytest.mark.record("0052-D4-16")
def test_a_matching_condition_comes_before_position_in_source_order() -> None:
    script = ScriptModel.from_responses(
        [
            text("plain"),
            text("regex", prompt_regex="x"),
            text("needle", prompt_contains="x"),
            text("tool", has_tool="f"),
        ]
    )
    assert served(script, "x", "x", "x") == ["regex", "needle", "plain"]


@pytest.mark.record("0052-D4-17")
def test_a_condition_is_served_once() -> None:
    script = ScriptModel.from_responses(
        [text("first", prompt_contains="x"), text("second", prompt_contains="x"), text("plain")]
    )
    assert served(script, "x", "x", "x") == ["first", "second", "plain"]


@pytest.mark.record("0052-D4-18")
def test_position_passes_over_conditions_and_takes_empty_ones() -> None:
    script = ScriptModel.from_responses(
        [text("w", prompt_contains="x"), text("a"), TextResponse(content="b", when=WhenMatcher())]
    )
    assert served(script, "", "") == ["a", "b"]
    with pytest.raises(ScriptExhaustedError):
        script.next(payload(), 2)


@pytest.mark.record("0052-D4-19")
def test_positional_mode_looks_at_no_condition() -> None:
    script = ScriptModel.from_responses([text("w", prompt_contains="x"), text("a")], mode="positional")
    assert served(script, "x") == ["a"]
    with pytest.raises(ScriptExhaustedError):
        script.next(payload("x"), 1)


@pytest.mark.record("0052-D4-20")
def test_when_only_mode_never_falls_back() -> None:
    script = ScriptModel.from_responses([text("a"), text("w", prompt_contains="x")], mode="when_only")
    with pytest.raises(ScriptExhaustedError, match="no when: matcher matched call_index=0; payload last user message="):
        script.next(payload("hello"), 0)


@pytest.mark.record("0052-D4-21")
@pytest.mark.parametrize(
    ("gate", "index", "matches"),
    [
        ({"call_index": 2}, 2, True),
        ({"call_index": 2}, 3, False),
        ({"after_calls": 2}, 1, False),
        ({"after_calls": 2}, 2, True),
        ({"after_calls": 2}, 7, True),
        ({"after_calls": 3, "call_index": 2}, 2, False),
    ],
)
@pytest.mark.parametrize("content", [{"prompt_contains": "x"}, {"prompt_regex": "x"}])
def test_gates_must_hold_before_content_counts(
    gate: dict[str, int], index: int, matches: bool, content: dict[str, str]
) -> None:
    script = ScriptModel.from_responses([text("w", **gate, **content), text("plain")])
    assert script.next(payload("x"), index)[0].model_dump()["content"] == ("w" if matches else "plain")


@pytest.mark.record("0052-D4-22")
def test_the_first_configured_predicate_decides() -> None:
    passes = ScriptModel.from_responses([text("w", prompt_contains="x", prompt_regex="nope", has_tool="no"), text("p")])
    assert served(passes, "x") == ["w"]
    fails = ScriptModel.from_responses([text("w", prompt_regex="nope", has_tool="f"), text("p")])
    assert fails.next(payload("x", "f"), 0)[0].model_dump()["content"] == "p"


@pytest.mark.record("DEC-0052-4-2")
@pytest.mark.parametrize("failing", ["prompt_contains", "prompt_regex", "has_tool", "call_index", "after_calls", None])
def test_combine_all_asks_for_every_predicate_and_gate(failing: str | None) -> None:
    holds = {"prompt_contains": "X", "prompt_regex": "^x", "has_tool": "f", "call_index": 3, "after_calls": 3}
    fails = {"prompt_contains": "no", "prompt_regex": "x$", "has_tool": "g", "call_index": 2, "after_calls": 4}
    when = {**holds, **({failing: fails[failing]} if failing else {})}
    script = ScriptModel.from_responses([text("w", **when, combine="all"), text("p")])
    assert script.next(payload("xy", "f"), 3)[0].model_dump()["content"] == ("p" if failing else "w")


@pytest.mark.record("0052-D4-23")
@pytest.mark.parametrize(
    ("when", "prompt", "matches"),
    [
        ({"prompt_contains": "BuDGet"}, "the budGET of", True),
        ({"prompt_contains": "budget"}, "budge", False),
        ({"prompt_regex": r"\d{3}"}, "call 112 now", True),
        ({"prompt_regex": r"^now"}, "call 112 now", False),
        ({"has_tool": "look"}, "any", True),
        ({"has_tool": "LOOK"}, "any", False),
        ({"has_tool": "loo"}, "any", False),
    ],
)
def test_predicates_compare_as_documented(when: dict[str, str], prompt: str, matches: bool) -> None:
    script = ScriptModel.from_responses([text("w", **when), text("p")])
    assert script.next(payload(prompt, "look"), 0)[0].model_dump()["content"] == ("w" if matches else "p")


@pytest.mark.record("0052-D4-24")
def test_a_bare_gate_matches_when_it_holds() -> None:
    script = ScriptModel.from_responses([text("one", call_index=1), text("late", after_calls=2), text("p"), text("q")])
    assert served(script, "", "", "", "") == ["p", "one", "late", "q"]


@pytest.mark.record("0052-D4-25")
def test_exhaustion_shows_index_count_and_prompt() -> None:
    script = ScriptModel.from_responses([text("a"), text("w", prompt_contains="zzz")])
    served(script, "")
    wanted = re.escape(
        "script exhausted at call_index=7; only 1 positional entries available; payload last user message='why?'"
    )
    with pytest.raises(ScriptExhaustedError, match=wanted):
        script.next(payload("why?"), 7)
    with pytest.raises(ScriptExhaustedError, match="payload last user message=None"):
        script.next({}, 8)


@pytest.mark.record("0052-D4-26")
def test_reset_serves_the_same_sequence_again() -> None:
    script = ScriptModel.from_responses([text("a"), text("w", prompt_contains="x"), text("b")])
    first = served(script, "", "x", "")
    script.reset()
    assert served(script, "", "x", "") == first == ["a", "w", "b"]


@pytest.mark.record("DEC-39-8")
def test_when_only_is_exhausted_once_every_condition_was_served() -> None:
    script = ScriptModel.from_responses(
        [text("w", prompt_contains="x"), TextResponse(content="never", when=WhenMatcher()), text("p")], mode="when_only"
    )
    assert not script.exhausted
    served(script, "x")
    assert script.exhausted


def test_exhausted_by_position_and_the_cursor_follow_serving() -> None:
    script = ScriptModel.from_responses([text("w", prompt_contains="x"), text("a"), text("b")])
    assert (script.cursor, script.exhausted) == (0, False)
    served(script, "")
    assert (script.cursor, script.exhausted) == (2, False)
    served(script, "")
    assert (script.cursor, script.exhausted) == (3, True)


def test_an_entry_added_later_is_served_and_nothing_twice() -> None:
    script = ScriptModel.from_responses([text("a"), text("w", prompt_contains="x")])
    served(script, "", "x")
    script.responses.append(TextResponse(content="b"))
    assert served(script, "x") == ["b"]


def test_text_parts_and_plain_input_are_the_prompt() -> None:
    script = ScriptModel.from_responses([text("w", prompt_contains="ab"), text("v", prompt_contains="ab")])
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    script.next({"messages": [{"role": "user", "content": parts}]}, 0)
    script.next({"input": "AB"}, 1)
    assert script.next({"input": "x"}, 2) if not script.exhausted else True


class CountingText(str):
    """A prompt that counts the substring tests made on it."""

    tests = 0

    def lower(self) -> CountingText:
        return CountingText(super().lower())

    def __contains__(self, key: object) -> bool:
        CountingText.tests += 1
        return super().__contains__(key)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("length", [50, 100_000])
def test_a_thousand_conditions_cost_at_most_a_thousand_substring_tests(length: int) -> None:
    script = ScriptModel.from_responses([text("p"), *(text(f"w{i}", prompt_contains=f"key-{i}-") for i in range(1000))])
    CountingText.tests = 0
    prompt = CountingText("k" * length + " KEY-999-")
    assert script.next({"messages": [{"role": "user", "content": prompt}]}, 0)[0].model_dump()["content"] == "w999"
    assert 0 < CountingText.tests <= 1000


def lines_run(function: Callable[[], object]) -> int:
    """Return how many lines of Python a call runs: its cost without the machine's noise."""
    count = 0

    def see(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return see

    before = sys.gettrace()
    sys.settrace(see)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("conditions", [0, 3])
def test_serving_from_ten_thousand_entries_costs_what_it_costs_from_ten(conditions: int) -> None:
    costs: list[int] = []
    for size in (10, 10, 10_000):  # the first makes what is made at first use
        unmatched = [text("w", prompt_contains=f"never {number}") for number in range(conditions)]
        script = ScriptModel.from_responses([*unmatched, *(text(str(number)) for number in range(size))])
        for index in range(size - 1):
            script.next(payload(), index)
        costs.append(lines_run(lambda: script.next(payload(), size - 1)))  # noqa: B023
        assert script.exhausted
    assert costs[1] == costs[2] > 0


# --- the oracle


class Oracle:
    """The rules of the script contract written down as plainly as they are spoken."""

    def __init__(self, entries: list[dict[str, Any]], mode: str) -> None:
        self.entries, self.mode, self.cursor, self.done = entries, mode, 0, set[int]()

    def next(self, prompt: str, tools: list[str], call_index: int) -> int | None:
        for index, entry in enumerate(self.entries if self.mode != "positional" else []):
            when = entry.get("when") or {}
            if index not in self.done and self.conditional(when) and self.matches(when, prompt, tools, call_index):
                self.done.add(index)
                return index
        if self.mode == "when_only":
            return None
        while self.cursor < len(self.entries) and self.conditional(self.entries[self.cursor].get("when") or {}):
            self.cursor += 1
        if self.cursor == len(self.entries):
            return None
        self.cursor += 1
        return self.cursor - 1

    def conditional(self, when: dict[str, Any]) -> bool:
        return any(value is not None for key, value in when.items() if key != "combine")

    def matches(self, when: dict[str, Any], prompt: str, tools: list[str], call_index: int) -> bool:
        if when.get("call_index") is not None and call_index != when["call_index"]:
            return False
        if when.get("after_calls") is not None and call_index < when["after_calls"]:
            return False
        verdicts: list[bool] = []
        if when.get("prompt_contains") is not None:
            verdicts.append(when["prompt_contains"].lower() in prompt.lower())
        if when.get("prompt_regex") is not None:
            verdicts.append(re.search(when["prompt_regex"], prompt) is not None)
        if when.get("has_tool") is not None:
            verdicts.append(when["has_tool"] in tools)
        return all(verdicts if when.get("combine") == "all" else verdicts[:1])


WORDS = st.text("abAB", max_size=3)
WHENS = st.fixed_dictionaries(
    {},
    optional={
        "prompt_contains": st.none() | WORDS,
        "prompt_regex": st.sampled_from([None, "^a", "b$", "A.", "", "ab|ba"]),
        "has_tool": st.none() | st.sampled_from("fg"),
        "after_calls": st.none() | st.integers(0, 6),
        "call_index": st.none() | st.integers(0, 6),
        "combine": st.sampled_from(["first", "all"]),
    },
)
SCRIPTS = st.lists(st.none() | WHENS, max_size=8)
CALLS = st.lists(st.tuples(st.text("abAB", max_size=8), st.lists(st.sampled_from("fg"), max_size=2)), max_size=10)
MODES = st.sampled_from(["auto", "auto", "positional", "when_only"])


def assert_agrees_with_the_oracle(
    whens: list[dict[str, Any] | None], mode: str, calls: list[tuple[str, list[str]]]
) -> None:
    entries: list[dict[str, Any]] = [
        {"type": "text", "content": str(index), **({} if when is None else {"when": when})}
        for index, when in enumerate(whens)
    ]
    script, oracle = ScriptModel.model_validate({"responses": entries, "mode": mode}), Oracle(entries, mode)
    for index, (prompt, tools) in enumerate(calls):
        expected = oracle.next(prompt, tools, index)
        if expected is None:
            with pytest.raises(ScriptExhaustedError):
                script.next(payload(prompt, *tools), index)
        else:
            entry, matched_by, position = script.serve(payload(prompt, *tools), index)
            assert (entry.model_dump()["content"], position) == (str(expected), expected)
            assert (matched_by == "positional") == (not oracle.conditional(whens[expected] or {}))


@given(SCRIPTS, MODES, CALLS)
@settings(max_examples=300)
def test_F8_a_script_serves_what_the_oracle_serves(
    whens: list[dict[str, Any] | None], mode: str, calls: list[tuple[str, list[str]]]
) -> None:
    assert_agrees_with_the_oracle(whens, mode, calls)


@pytest.mark.proof
@pytest.mark.timeout(1800)
@given(SCRIPTS, MODES, CALLS)
@settings(max_examples=50_000)
def test_F8_fifty_thousand_scripts_serve_what_the_oracle_serves(
    whens: list[dict[str, Any] | None], mode: str, calls: list[tuple[str, list[str]]]
) -> None:
    assert_agrees_with_the_oracle(whens, mode, calls)


@given(st.lists(WORDS, min_size=70, max_size=90), st.text("abAB", max_size=12))
@settings(max_examples=60)
def test_F8_many_conditions_are_found_as_by_the_oracle(needles: list[str], prompt: str) -> None:
    assert_agrees_with_the_oracle([{"prompt_contains": needle} for needle in needles], "when_only", [(prompt, [])] * 3)
