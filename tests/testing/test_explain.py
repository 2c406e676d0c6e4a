from __future__ import annotations

import pickle
from typing import Any

import pytest

from lionagi._errors import ScriptExhaustedError
from lionagi.session.branch import Branch
from lionagi.testing import ScriptModel, TestBranch


def asked(prompt: str = "hello", *tools: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}], "tools": [{"name": name} for name in tools]}


def text(content: str = "a", **when: Any) -> dict[str, Any]:
    return {"type": "text", "content": content, **({"when": when} if when else {})}


def reasons(script: ScriptModel, prompt: str = "hello", call_index: int = 0, tools: tuple[str, ...] = ()) -> list[str]:
    return [verdict.reason for verdict in script.explain(asked(prompt, *tools), call_index).entries]


def script_of(*entries: dict[str, Any], mode: str = "auto") -> ScriptModel:
    return ScriptModel.from_responses(list(entries), mode=mode)


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ({"prompt_contains": "bye"}, "the last user message does not contain 'bye'"),
        ({"prompt_contains": "HELL"}, "the last user message contains 'HELL'"),
        ({"prompt_regex": "^b"}, "prompt_regex '^b' is not found in the last user message"),
        ({"prompt_regex": "l+o"}, "prompt_regex 'l+o' is found in the last user message"),
        ({"has_tool": "g"}, "tool 'g' is not among the offered ['f']"),
        ({"has_tool": "f"}, "tool 'f' is among the offered ['f']"),
        ({"call_index": 3}, "call_index 3 is asked for, this is call 1"),
        ({"after_calls": 2}, "after_calls 2 is asked for, this is call 1"),
        (
            {"prompt_contains": "bye", "has_tool": "f"},
            "the last user message does not contain 'bye' (has_tool not looked at: combine is 'first')",
        ),
        ({"prompt_contains": "hell", "has_tool": "g", "combine": "all"}, "tool 'g' is not among the offered ['f']"),
        (
            {"call_index": 0, "prompt_contains": "bye"},
            "call_index 0 is asked for, this is call 1; the last user message does not contain 'bye'",
        ),
    ],
)
def test_a_condition_says_what_holds_or_what_does_not(when: dict[str, Any], reason: str) -> None:
    assert reasons(script_of(text(**when)), call_index=1, tools=("f",)) == [reason]


def test_each_entry_says_why_it_is_or_is_not_served() -> None:
    script = script_of(text(), text(prompt_contains="hell"), text(prompt_contains="hello"), text(prompt_contains="no"))
    explanation = script.explain(asked(), 0)
    assert [verdict.serves for verdict in explanation.entries] == [False, True, False, False]
    assert reasons(script) == [
        "entry 1, whose condition holds, comes first",
        "the last user message contains 'hell'",
        "its condition holds, but entry 1 comes first",
        "the last user message does not contain 'no'",
    ]


def test_positional_entries_wait_for_their_turn() -> None:
    script = script_of(text(), text(), text())
    script.next(asked(), 0)
    assert reasons(script) == [
        "was served before",
        "is the next entry without a condition",
        "its turn comes after entry 1",
    ]


def test_a_condition_that_was_served_says_so() -> None:
    script = script_of(text(prompt_contains="hello"))
    script.next(asked(), 0)
    assert reasons(script) == ["its condition holds, but it was served before"]
    assert reasons(script, "bye") == ["was served before, and the last user message does not contain 'hello'"]


@pytest.mark.parametrize("mode", ["positional", "when_only"])
def test_a_mode_says_what_it_never_serves(mode: str) -> None:
    plain, conditional = reasons(script_of(text(), text(prompt_contains="hello"), mode=mode))
    if mode == "positional":
        assert plain == "is the next entry without a condition"
        assert conditional == "mode 'positional' never serves an entry with a condition"
    else:
        assert plain == "mode 'when_only' never serves an entry without a condition"
        assert conditional == "the last user message contains 'hello'"


def test_explaining_serves_nothing() -> None:
    script = script_of(text("a"), text("b", prompt_contains="hello"))
    before = script.explain(asked(), 0)
    assert repr(script.explain(asked(), 0)) == repr(before)
    assert script.next(asked(), 0)[0] is script.responses[1]


def test_an_explanation_reads_as_a_line_per_entry() -> None:
    shown = repr(script_of(text(), text(prompt_contains="bye")).explain(asked(), 4))
    assert shown.splitlines() == [
        "call 4, last user message 'hello'",
        "→ 0 text: is the next entry without a condition",
        "  1 text: the last user message does not contain 'bye'",
    ]
    assert repr(ScriptModel().explain({})).splitlines() == [
        "call 0, last user message None",
        "no entry is served",
    ]


@pytest.mark.parametrize(
    ("entries", "closest"),
    [
        ([text(prompt_contains="the weather in Rome"), text(prompt_contains="the wether in Paris")], 1),
        ([text(prompt_contains="the weather in Paris", call_index=7), text(prompt_contains="zzz")], 0),
        ([text(has_tool="serch"), text(has_tool="zzz")], 0),
        ([text(after_calls=9), text(prompt_contains="zzz")], 0),
    ],
)
def test_exhaustion_names_the_closest_entry_and_the_reason(entries: list[dict[str, Any]], closest: int) -> None:
    script = script_of(*entries, mode="when_only")
    with pytest.raises(ScriptExhaustedError) as caught:
        script.next(asked("What is the weather in Paris?", "search"), 6)
    assert caught.value.closest == closest
    reason = script.explain(asked("What is the weather in Paris?", "search"), 6).entries[closest].reason
    assert caught.value.reason == reason
    assert f"closest is entry {closest} (text): {reason}" in str(caught.value)


def test_a_second_question_is_closest_to_the_entry_that_answered_the_first() -> None:
    script = script_of(text(prompt_contains="hello"), text(prompt_contains="other"))
    script.next(asked(), 0)
    with pytest.raises(ScriptExhaustedError) as caught:
        script.next(asked(), 1)
    assert (caught.value.closest, caught.value.reason) == (0, "its condition holds, but it was served before")


def test_the_last_answer_is_closest_where_all_were_served() -> None:
    script = script_of(text(), text())
    for index in (0, 1):
        script.next(asked(), index)
    with pytest.raises(ScriptExhaustedError, match=r"closest is entry 1 \(text\): was served before"):
        script.next(asked(), 2)


def test_an_empty_script_has_no_closest_entry() -> None:
    with pytest.raises(ScriptExhaustedError, match="the script is empty") as caught:
        ScriptModel().next(asked(), 0)
    assert (caught.value.closest, caught.value.reason) == (None, "")


def test_the_closest_entry_survives_pickling() -> None:
    error = ScriptExhaustedError("no", closest=3, reason="because")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.closest, copy.reason) == ("no", 3, "because")


async def test_a_branch_shows_why_its_script_did_not_answer() -> None:
    branch = TestBranch.from_responses([text(prompt_contains="bye")])
    with pytest.raises(ScriptExhaustedError, match="does not contain 'bye'"):
        await branch.chat("hello")


# --- what was never used


async def test_a_branch_that_used_its_script_up_is_exhausted() -> None:
    branch = TestBranch.from_text(["a", "b"])
    await branch.chat("1")
    await branch.chat("2")
    assert TestBranch.unused_entries(branch) == []
    TestBranch.assert_exhausted(branch)


async def test_unused_entries_are_listed_with_their_index() -> None:
    branch = TestBranch.from_responses([text("a"), text("b", prompt_contains="never"), text("c")])
    await branch.chat("1")
    assert [(index, entry.model_dump()["content"]) for index, entry in TestBranch.unused_entries(branch)] == [
        (1, "b"),
        (2, "c"),
    ]
    with pytest.raises(AssertionError) as caught:
        TestBranch.assert_exhausted(branch)
    first, *lines = str(caught.value).splitlines()
    assert first == "2 entries of the script were not used in 1 calls:"
    assert lines == [
        "  1 text {'when': {'prompt_contains': 'never'}, 'content': 'b'}",
        "  2 text {'content': 'c'}",
    ]


def test_an_entry_that_its_mode_never_serves_is_unused() -> None:
    script = script_of(text("a"), text("b", prompt_contains="hello"), mode="positional")
    script.next(asked(), 0)
    assert [index for index, _ in script.unused_entries()] == [1]


def test_only_a_scripted_branch_can_be_exhausted() -> None:
    with pytest.raises(TypeError, match="not ScriptedEndpoint"):
        TestBranch.assert_exhausted(Branch(chat_model="openai/m"))


# --- what can never count


@pytest.mark.parametrize(
    ("mode", "entry", "problem"),
    [
        ("positional", text(call_index=0), "entry 0 has a condition, so mode 'positional' never serves it"),
        ("when_only", text(), "entry 0 has no condition, so mode 'when_only' never serves it"),
        ("auto", text(call_index=-1), "entry 0: call_index -1 never comes: calls are counted from 0"),
        ("auto", text(call_index=1, after_calls=2), "entry 0: after_calls 2 and call_index 1 never hold together"),
        (
            "auto",
            text(prompt_contains="a", has_tool="f"),
            "entry 0: has_tool count only beside prompt_contains with combine: all",
        ),
    ],
)
def test_an_entry_that_can_never_count_is_a_problem(mode: str, entry: dict[str, Any], problem: str) -> None:
    assert script_of(entry, mode=mode).problems() == [problem]


def test_a_sound_script_has_no_problem_and_an_empty_one_has() -> None:
    sound = script_of(text(), text(prompt_contains="a", has_tool="f", combine="all"), text(call_index=2, after_calls=2))
    assert sound.problems() == []
    assert ScriptModel().problems() == ["the script holds no entry, so the first call fails"]


def test_a_written_script_is_read_back_the_same(tmp_path: Any) -> None:
    entries = [text("a", prompt_contains="ü\n: x", combine="all"), {"type": "error", "kind": "timeout"}]
    script = script_of(*entries, mode="when_only")
    (tmp_path / "s.yaml").write_text(script.to_yaml(), encoding="utf-8")
    assert ScriptModel.from_yaml(tmp_path / "s.yaml").model_dump() == script.model_dump()
    assert script.to_mapping()["responses"][1] == {"type": "error", "kind": "timeout"}
