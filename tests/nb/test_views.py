"""What holds for every view: a value with two mime types, inert markup, bounds, and a fallback."""

from __future__ import annotations

import ast
import pickle
import re
import time
from collections.abc import Callable
from html import escape
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, create_model
from support.nb_views import branch, model_call, read, said, tool_call, triage_actions, triage_timeline, turn

import lionagi_nb as nb
from lionagi.ln.trace import Span, Trace
from lionagi.testing._script import ScriptModel
from lionagi.testing._types import RecordedCall
from lionagi.work import FieldSpec, Rule, RuleSet, WorkForm, fill_form
from lionagi_nb._actions.view import ActionsView
from lionagi_nb._approval.view import ApprovalView
from lionagi_nb._compare.view import CompareView
from lionagi_nb._forms.view import FormView
from lionagi_nb._json import freeze
from lionagi_nb._markup import MAX_VIEW
from lionagi_nb._schema.view import ResultSchemaView, SchemaView
from lionagi_nb._timeline.view import TimelineView
from lionagi_nb._trace.view import TraceView
from lionagi_nb._transcript.view import TranscriptView

PAYLOADS = [
    "<script>alert(1)</script>",
    "</style><script>x</script>",
    "<img src=x onerror=alert(1)>",
    "\"'><svg/onload=x>",
    "</pre></code></td></table><h1>",
    "{{ 7*7 }}{% raw %}",
    "<!-- <b>",
    "&lt;script&gt;",
    "javascript:alert(1)",
    "pay\u202etxt.exe\u200b\U000e0041",
    "\x1b[31mred\x07\x00",
    "\ud800\udfff",
    "<" * 300,
    "${x}`y`",
]


ENDS = ("approved", "denied", "no answer", "cancelled")
RULES = RuleSet([Rule(rule_id="r", field="value", check="pattern", params={"pattern": "^never$"})])


def form_of(text: str) -> WorkForm:
    """A form with `text` in every place, checked by `RULES` and a rule that says it."""
    rules = RuleSet([*RULES.rules(), Rule(rule_id=text, field="other", check="required", message=text)])
    fields = {name: FieldSpec(name=name, description=text) for name in ("value", "other", "third")}
    return fill_form(WorkForm(title=text, fields=fields), {"value": text, text: text, "third": [text]}, ruleset=rules)


def views(text: str) -> list[Any]:
    """Every view with `text` in every place that a model, a tool or a script can reach."""
    error = {"error": text, "message": text}
    messages = [{"role": text, "content": text}, {"role": "assistant", "tool_calls": [{"function": {"name": text}}]}]
    messages += [{"role": "tool", "content": f'{{"a": "{text}"}}'}, {"role": "user", "content": [{"type": text}]}]
    reasons = [{"status": s, "reason": text, "decided_by": text} for s in ("error", "denied", "timeout", text)]
    logs = [
        tool_call(text, {text: text, "deep": {text: [text]}}, [text, {text: text}], turn=text),
        *(tool_call(text, text, error, turn=text, **facts) for facts in reasons),
        turn(
            text, verb=text, strategy=text, tools=[text], not_run=text, requests=[{"function": text, "arguments": text}]
        ),
        model_call(messages, 0, 1, schema=text, provider=text, model=text, verb=text),
        model_call([], 1, 1, status="error", error={"type": text, "message": text}),
        model_call(messages, 2, 1, status="error", error={"type": "ScriptExhaustedError"}, tools=[text]),
    ]
    safe = text.encode("utf-8", "replace").decode()
    script = ScriptModel.from_responses(
        [
            {"type": "text", "content": safe, "when": {"has_tool": safe}},
            {"type": "tool_call", "name": safe, "arguments": {safe: safe}},
            {"type": "structured", "data": {safe: safe}, "when": {"prompt_contains": safe}},
        ]
    )
    answer = {
        "choices": [{"message": {"content": text, "tool_calls": [{"function": {"name": text, "arguments": text}}]}}]
    }
    call = RecordedCall(0, {"messages": messages}, {}, "tool_call", answer, matched_by=f"when:{text}:{text!r}")
    source = branch(logs, text, [call], script)
    model = create_model(
        safe.replace("\0", "0"),
        value=(str, Field(safe, description=safe, json_schema_extra={"enum": [safe], "pattern": safe})),
    )
    return [
        nb.actions(source),
        nb.actions(branch([turn(tools=[text])], text)),
        nb.timeline(source),
        nb.timeline([call]),
        nb.transcript(said(text)),
        nb.errors(form_of(safe), ruleset=RULES),
        nb.trace(
            Trace([Span(text, {"function": text}, reason=text), Span("tool", {"function": text, "decided_by": text})])
        ),
        nb.compare(said(text), said(text + " more"), names=(text, text)),
        nb.schema(model, actions=True),
        nb.schema(model(value=text)),
        *(ApprovalView(text, freeze({text: text}), verdict, text, text) for verdict in ENDS),
    ]


def check_inert(text: str) -> None:
    for view in views(text):
        page = read(view.html())
        assert page.stray == [], (view.name, page.stray)
        assert not re.search("[\u202e\u200b\x1b\x00\x07\ud800]", view.html() + view.text())


@pytest.mark.parametrize("text", PAYLOADS)
def test_N3_a_payload_is_text_in_every_view(text: str) -> None:
    check_inert(text)


@given(
    st.lists(st.sampled_from([*PAYLOADS, "<b>", "&", '"', "\n", " ", "a", "</div>"]), min_size=1, max_size=4).map(
        "".join
    )
)
@settings(max_examples=30)
def test_N3_mixed_payloads_are_text_in_every_view(text: str) -> None:
    check_inert(text)


def test_N3_no_view_is_left_out() -> None:
    kinds = {type(view) for view in views("x")}
    assert kinds == {
        ActionsView,
        TimelineView,
        SchemaView,
        ResultSchemaView,
        TranscriptView,
        CompareView,
        FormView,
        ApprovalView,
        TraceView,
    }


def test_H2_hidden_characters_are_boxed_with_a_caution() -> None:
    html = nb.actions(branch([tool_call("f", {"note": "a\u202eb"}, 1)])).html()
    assert '<span class="l-esc">\\u202e</span>' in html
    assert "hidden characters" in html


def test_no_caution_without_hidden_characters() -> None:
    assert "hidden characters" not in nb.actions(triage_actions()).html()


SAMPLES: dict[str, Callable[[], Any]] = {
    "actions": lambda: nb.actions(triage_actions()),
    "timeline": lambda: nb.timeline(triage_timeline()),
}


@pytest.fixture(params=sorted(SAMPLES))
def view(request: pytest.FixtureRequest) -> Any:
    return SAMPLES[request.param]()


def test_a_view_is_two_mime_types(view: Any) -> None:
    bundle = view._repr_mimebundle_()
    assert bundle == {"text/plain": view.text(), "text/html": view.html()}


def test_its_repr_is_its_text(view: Any) -> None:
    assert repr(view) == view.text()


def test_it_pickles_to_an_equal_value(view: Any) -> None:
    copy = pickle.loads(pickle.dumps(view))
    assert copy == view
    assert copy.html() == view.html()


def test_its_data_is_json(view: Any) -> None:
    import json

    assert json.loads(json.dumps(view.data())) == view.data()


def test_it_cannot_be_changed(view: Any) -> None:
    with pytest.raises(AttributeError):
        view.subject = "other"


def test_lines_are_short_and_end_in_no_space(view: Any) -> None:
    lines = view.text().splitlines()
    assert max(map(len, lines)) <= 100
    assert [line for line in lines if line != line.rstrip()] == []


def test_its_markup_begins_with_its_styles_and_asks_for_nothing(view: Any) -> None:
    assert view.html().startswith("<style>.lnb")
    assert not re.search(r"https?:|url\(|@import|<script|<link|javascript:", view.html())


def test_every_cell_says_its_alignment_inline(view: Any) -> None:
    for cell in read(view.html()).cells:
        assert "text-align" in (cell.get("style") or "")
        assert "vertical-align" in (cell.get("style") or "")


def test_tables_that_are_laid_out_anew_keep_their_roles(view: Any) -> None:
    html = view.html()
    assert html.count('role="table"') == html.count('class="l-t ')
    assert 'role="columnheader"' in html
    assert 'role="cell"' in html


def fail(error: Exception) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        raise error

    return method


EVERY: dict[str, Callable[[], Any]] = {
    **SAMPLES,
    "schema": lambda: nb.schema(create_model("Model", value=(int, 3))),
    "result": lambda: nb.schema(create_model("Model", value=(int, 3))()),
}


@pytest.mark.parametrize("kind", sorted(EVERY))
def test_N7_a_broken_view_shows_its_text_and_warns(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    view = EVERY[kind]()
    monkeypatch.setattr(type(view), "_html", fail(ZeroDivisionError("<b>division</b>")))
    with pytest.warns(UserWarning, match="view failed to build"):
        page = read(view.html())
    words = "".join(page.words)
    assert "✗\u00a0view failed" in words
    assert view.text() in words
    assert "ZeroDivisionError: <b>division</b>" in words
    assert page.stray == []


@pytest.mark.parametrize("kind", sorted(EVERY))
def test_N7_a_view_without_words_says_that_it_failed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    view = EVERY[kind]()
    monkeypatch.setattr(type(view), "_html", fail(LookupError("no markup")))
    monkeypatch.setattr(type(view), "_lines", fail(LookupError("no words")))
    with pytest.warns(UserWarning, match="view failed to build"):
        bundle = view._repr_mimebundle_()
    assert "✗ view failed" in bundle["text/plain"]
    assert "LookupError: no words" in "".join(read(bundle["text/html"]).words)


def test_L7_ten_thousand_responses_take_300_ms() -> None:
    logs = [tool_call("search_kb", {"query": f"q{n}"}, [{"id": n, "title": "x" * 40}]) for n in range(10_000)]
    source = branch([*logs, turn()])
    nb.actions(branch(logs[:1])).html()

    def once() -> float:
        start = time.process_time()
        view = nb.actions(source)
        view.html()
        view.text()
        return time.process_time() - start

    assert min(once() for _ in range(5)) <= 0.3
    view = nb.actions(source)
    assert "9,800 more rows" in view.text()
    assert view.html().count('class="a-t"') == 201
    assert len(view.data()["turns"][0]["rows"]) == 10_000


def test_L7_ten_thousand_calls_take_300_ms() -> None:
    history = [{"role": "user", "content": "hello"}]
    logs = [model_call(history, n, 0.5) for n in range(10_000)]
    nb.timeline(branch(logs[:1])).html()

    def once() -> float:
        start = time.process_time()
        view = nb.timeline(branch(logs))
        view.html()
        view.text()
        return time.process_time() - start

    assert min(once() for _ in range(5)) <= 0.3
    assert "9,800 more calls" in nb.timeline(branch(logs)).text()


def test_L7_a_format_of_2000_fields_takes_300_ms() -> None:
    fields: dict[str, Any] = {f"field_{n}": (int, Field(ge=0)) for n in range(2_000)}
    made = create_model("Wide", **fields)(**dict.fromkeys(fields, 1))
    nb.schema(create_model("Narrow", a=(int, 1))()).html()

    def once() -> float:
        start = time.process_time()
        view = nb.schema(made)
        view.html()
        view.text()
        return time.process_time() - start

    assert min(once() for _ in range(3)) <= 0.3
    assert "1,800 more rows" in nb.schema(made).text()
    assert "1,800 more rows" in nb.schema(type(made)).text()


def test_a_view_stays_below_a_megabyte() -> None:
    logs = [tool_call("f", {"a": ["<&\"'>" * 4_000]}, {"b": ['"' * 20_000]}) for _ in range(300)]
    html = nb.actions(branch(logs)).html()
    assert len(html) <= MAX_VIEW + 20_000
    assert "kB more" in html


def test_a_fold_holds_ten_kilobytes() -> None:
    html = nb.actions(branch([tool_call("f", {}, ["x" * 94_000])])).html()
    assert "… 84\u00a0kB more" in html
    assert len(html) < 40_000


def test_the_package_exports_sorted_names_lazily() -> None:
    assert list(nb.__all__) == sorted(nb.__all__)
    assert set(nb.__all__) <= set(dir(nb))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        nb.nothing  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018


def test_escaping_is_the_standard_one() -> None:
    text = '<a href="x">\'&</a>'
    assert (
        escape(text, quote=False).replace("'", "&#39;").replace('"', "&#34;")
        in nb.actions(branch([tool_call(text, {}, 1)])).html()
    )
    assert ast.literal_eval(repr(text)) == text
