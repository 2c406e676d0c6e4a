"""The timeline shows what answered each call, what was sent anew, and what a script left over."""

from __future__ import annotations

from typing import Any

import pytest
from support.nb_views import START, body, branch, model_call, read, snapshot, tool_call, triage_timeline

import lionagi_nb as nb
from lionagi.testing._script import ScriptModel
from lionagi.testing._types import RecordedCall
from lionagi_nb._timeline.view import axis

USER = {"role": "user", "content": "Say hello"}


def scripted(entries: list[dict[str, Any]], served: list[tuple[str, str, int | None]], asked: str, **call: Any) -> Any:
    """A branch on a script: calls served as (type, rule, index of the conditional entry), then one that found none."""
    messages = [[{"role": "user", "content": f"call {n}"}] for n in range(len(served))]
    calls = [
        RecordedCall(n, {"messages": messages[n]}, {}, kind, None, matched_by=rule, when_index=place)
        for n, (kind, rule, place) in enumerate(served)
    ]
    logs = [model_call(m, n, 0.1) for n, m in enumerate(messages)]
    error = {"type": "ScriptExhaustedError", "message": "script exhausted"}
    logs.append(model_call([{"role": "user", "content": asked}], 9, 0, status="error", error=error, **call))
    return branch(logs, "b", calls, ScriptModel.from_responses(entries))


def test_the_text_form_is_the_kept_one() -> None:
    snapshot("timeline.txt", nb.timeline(triage_timeline()).text() + "\n")


def test_the_markup_is_the_kept_one() -> None:
    snapshot("timeline.html", body(nb.timeline(triage_timeline()).html()))


def test_a_list_of_recorded_calls_needs_no_branch() -> None:
    calls = triage_timeline().chat_model.endpoint.calls
    text = nb.timeline(calls).text()
    assert text.startswith("Timeline: ✗ error\n3 calls\n")
    assert 'prompt_contains "charged twice"' in text


def test_a_live_call_names_its_model() -> None:
    logs = [model_call([USER], 0, 1.5, provider="openai", model="gpt-4.1-mini", streamed=False, chars=12)]
    text = nb.timeline(branch(logs)).text()
    assert "operate 12 chars  model openai/gpt-4.1-mini" in text


def test_a_failed_live_call_names_its_error() -> None:
    error = {"type": "ProviderTimeoutError", "message": "no answer"}
    view = nb.timeline(branch([model_call([USER], 0, 1, status="error", error=error)]))
    assert view.verdict == "error"
    assert "✗ error  error ProviderTimeoutError" in view.text()


@pytest.mark.parametrize(
    ("when", "asked", "why", "fix"),
    [
        ({"prompt_contains": "refund"}, "hello", "the last message does not contain it", 'say "refund" in the prompt'),
        ({"prompt_regex": "^a+$"}, "hello", "the last message does not match", "match ^a+$ in the prompt"),
        ({"has_tool": "refund"}, "hello", "the call offered lookup_order, search_kb", "offer the tool refund"),
        ({"has_tool": "search_kb"}, "hello", "stood in the prompt", "match the prompt instead"),
        ({"call_index": 7}, "hello", "this was call_index 1", "make call_index equal 7"),
        ({"after_calls": 5}, "hello", "this was call_index 1", "make call_index at least 5"),
    ],
)
def test_the_closest_entry_says_why_it_failed(when: dict[str, Any], asked: str, why: str, fix: str) -> None:
    entries = [{"type": "text", "content": "first"}, {"type": "text", "content": "second", "when": when}]
    text = nb.timeline(scripted(entries, [("text", "positional", None)], asked)).text()
    assert why in " ".join(text.split())
    assert f"to fix        {fix}" in text
    assert "or add an entry after 1" in text


def test_a_used_up_script_without_conditions_asks_for_an_entry() -> None:
    text = nb.timeline(scripted([{"type": "text", "content": "x"}], [("text", "positional", None)], "more")).text()
    assert "the 1 positional entry is used up" in text
    assert "to fix        add an entry after 1" in text


def test_an_empty_script_is_explained() -> None:
    text = nb.timeline(scripted([], [], "hello")).text()
    assert "no entry; there is no positional entry" in text
    assert "add an entry to the script" in text


def test_entries_are_numbered_as_in_the_file() -> None:
    entries = [
        {"type": "text", "content": "a", "when": {"call_index": 1}},
        {"type": "text", "content": "b"},
        {"type": "text", "content": "c"},
    ]
    served = [("text", "positional", None), ("text", "when:call_index:1", 0), ("text", "positional", None)]
    matched = [call["matched_by"] for call in nb.timeline(scripted(entries, served, "x")).data()["calls"]]
    assert matched[:3] == ["entry 2, next in order", "entry 1, call_index 1", "entry 3, next in order"]


def test_all_predicates_of_a_combined_condition_are_shown() -> None:
    calls = [RecordedCall(0, {"messages": []}, {}, "text", None, matched_by="when:prompt_contains:'a+b'+has_tool:'t'")]
    assert 'prompt_contains "a+b" and has_tool "t"' in nb.timeline(calls).text()


def test_a_shorter_history_shows_what_was_dropped() -> None:
    logs = [model_call([USER, USER], 0, 1), model_call([USER, {"role": "user", "content": "x"}, USER], 1, 1)]
    view = nb.timeline(branch(logs))
    assert view.rows[1].diff.fact == "−1 +2 since call 1"


def test_long_differences_are_cut() -> None:
    logs = [model_call([USER] * 500, 0, 1)]
    assert "460 messages more" in "".join(read(nb.timeline(branch(logs)).html()).words)


def test_images_are_named_not_shown() -> None:
    image = {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {}}]}
    words = "".join(read(nb.timeline(branch([model_call([image], 0, 1)])).html()).words)
    assert "look [image_url]" in words


def test_tools_stand_below_the_call_that_asked_for_them() -> None:
    logs = [
        model_call([USER], 0, 1),
        tool_call("f", {}),
        model_call([USER], 2, 1),
        tool_call("g", {}, started_at=START),
    ]
    assert [[t.function for t in row.tools] for row in nb.timeline(branch(logs)).rows] == [["f"], ["g"]]


@pytest.mark.parametrize(
    ("span", "labels"),
    [
        (3.2, ["0", "1 s", "2 s", "3 s", "4 s"]),
        (0.36, ["0", "100 ms", "200 ms", "", "400 ms"]),
        (9.0, ["0", "2.5 s", "5 s", "7.5 s", "10 s"]),
    ],
)
def test_the_last_labels_of_the_time_axis_never_touch(span: float, labels: list[str]) -> None:
    assert [label.replace("\u00a0", " ") for label in axis(span)[1]] == labels


def test_bars_share_oneaxis() -> None:
    html = nb.timeline(triage_timeline()).html()
    assert "margin-left:0%;width:21%" in html
    assert "margin-left:25%;width:36%" in html
    assert [label for label in read(html).words if label.endswith("\u00a0s") and "." not in label] == [
        f"{n}\u00a0s" for n in (1, 2, 3, 4)
    ]


def test_the_served_answers_are_a_script() -> None:
    view = nb.timeline(triage_timeline())
    assert "type: structured" in view.script
    assert "2 min" not in view.text()


def test_a_long_script_says_how_much_of_it_is_shown() -> None:
    answer = {"choices": [{"message": {"content": "word " * 100}}]}
    calls = [RecordedCall(n, {"messages": []}, {}, "text", answer) for n in range(100)]
    view = nb.timeline(calls)
    shown, total = view.answers
    assert 0 < shown < total == 100
    assert f"first {shown} of 100 answers" in view.html()
    assert view.script.count("type: text") == shown


def test_calls_of_an_earlier_script_do_not_count() -> None:
    old = [RecordedCall(n, {"messages": []}, {}, "text", None) for n in range(3)]
    new = [RecordedCall(0, {"messages": []}, {}, "text", None)]
    source = branch([], "b", [*old, *new], ScriptModel.from_responses([{"type": "text", "content": "x"}] * 2))
    view = nb.timeline(source)
    assert [unused.number for unused in view.unused] == [2]


def test_no_calls_say_so() -> None:
    assert nb.timeline(branch([])).text() == "Timeline triage: no calls\nNo model call has been recorded here."


def test_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="a branch or a list of recorded calls"):
        nb.timeline([1])
