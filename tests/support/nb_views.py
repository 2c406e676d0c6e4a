"""Records as a branch leaves them, for the views of the notebook; and a reader that checks their markup."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lionagi.service.types import StreamChunk
from lionagi.testing._script import ScriptModel
from lionagi.testing._types import RecordedCall

SNAPSHOTS = Path(__file__).resolve().parents[1] / "nb" / "snapshots"
START = 1_700_000_000.0

ELEMENTS = frozenset(
    [
        "b",
        "br",
        "code",
        "del",
        "details",
        "div",
        "ins",
        "p",
        "pre",
        "small",
        "span",
        "style",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
    ]
)
ATTRIBUTES = frozenset({"class", "style", "role", "colspan", "open"})


def tool_call(function: Any, arguments: Any, output: Any = None, **facts: Any) -> dict[str, Any]:
    """Return the audit record of one tool call; it ran at once and ended well unless `facts` say otherwise."""
    return {
        "kind": "tool_call",
        "turn": "t1",
        "request_id": "r",
        "function": function,
        "arguments": arguments,
        "output": output,
        "status": "ok",
        "reason": None,
        "decided_by": "support_policy",
        "started_at": START,
        "duration": 0.038,
        "attempt": 1,
        "strategy": "concurrent",
        **facts,
    }


def turn(name: str = "t1", **facts: Any) -> dict[str, Any]:
    """Return the record of one turn of operate() that offered three tools."""
    return {
        "kind": "turn",
        "turn": name,
        "verb": "operate",
        "result": "Triage",
        "actions": True,
        "strategy": "concurrent",
        "tools": ["lookup_order", "search_kb", "refund"],
        "not_run": None,
        "requests": [],
        **facts,
    }


def model_call(messages: list[Any], at: float, duration: float, **facts: Any) -> dict[str, Any]:
    """Return the record of one model call that began `at` seconds after the start."""
    return {
        "kind": "model_call",
        "turn": "t1",
        "verb": "operate",
        "provider": "scripted",
        "model": "scripted-model",
        "endpoint": "chat/completions",
        "endpoint_kind": "agentic",
        "streamed": True,
        "status": "ok",
        "error": None,
        "started_at": START + at,
        "duration": duration,
        "usage": None,
        "finish_reason": "stop",
        "chunks": 1,
        "chars": 3,
        "messages": messages,
        "tools": ["lookup_order", "search_kb"],
        "schema": None,
        "output": "tools",
        **facts,
    }


def branch(logs: list[Any], name: str | None = "triage", calls: Any = None, script: Any = None) -> Any:
    """Return what the views read of a branch: its name, its logs, its endpoint's calls and script."""
    endpoint = SimpleNamespace(calls=calls, script=script)
    return SimpleNamespace(name=name, logs=logs, chat_model=SimpleNamespace(endpoint=endpoint))


def said(text: str) -> Any:
    """Return a branch that has messages of every kind with `text` in every place of theirs."""
    asked = {"function": text, "arguments": {text: text}, "action_response_id": "b"}
    contents: list[tuple[str, dict[str, Any]]] = [
        ("system", {"system_message": text}),
        ("user", {"instruction": {text: text}, "guidance": text, "context": [text], "images": [text]}),
        ("assistant", {"assistant_response": text * 3 + "\n" + text}),
        ("action", asked),
        ("action", {**asked, "output": {text: text}, "action_request_id": "a"}),
        (text, {"instruction": text}),
    ]
    held = branch([tool_call(text, text, request_id="a", status=text, reason=text)], text)
    held.messages = [
        SimpleNamespace(role=role, id="a" if "action_response_id" in content else "x", content=content, metadata={})
        for role, content in contents
    ]
    return held


def triage_actions() -> Any:
    """Return a branch with every status of a request: ok, error, timeout, denied, refused, not run."""
    order = {"order_id": "A-1093"}
    charges = [{"amount": 59.9, "ref": "ch_01"}, {"amount": 59.9, "ref": "ch_02"}]
    found = [{"id": "kb-17", "title": "Refund a duplicate charge"}, {"id": "kb-2", "title": "Charges"}, {"id": "kb-3"}]
    invalid = '`amount`: expected a number, got "all".'
    body = "We have refunded the second charge. " + "Thank you. " * 25
    never = {"started_at": 0.0, "duration": 0.0}
    logs = [
        tool_call(
            "lookup_order",
            {**order, "include": ["charges", "refunds"]},
            {**order, "status": "delivered", "total": 59.9, "charges": charges, "refunds": []},
        ),
        tool_call("search_kb", {"query": "duplicate charge", "limit": 3}, found, duration=0.122),
        tool_call(
            "refund",
            {**order, "amount": "all"},
            {"error": "ValidationError", "message": invalid},
            status="error",
            reason=invalid,
            decided_by="arguments",
            **never,
        ),
        tool_call(
            "fetch_invoice",
            {"month": "03"},
            {"error": "timeout", "message": "No answer in 5 s."},
            status="timeout",
            reason="No answer in 5 s. A late result came after 7.4 s and was dropped.",
            duration=5.0,
        ),
        tool_call(
            "send_reply",
            {"ticket": "T-4182", "body": body},
            {"error": "denied", "message": "replies need a person"},
            status="denied",
            reason="replies need a person",
            decided_by="outbound_mail",
            **never,
        ),
        tool_call(
            "search_kb",
            {"query": "chargeback"},
            {"error": "refused", "message": "Past the cap of 5 calls a turn."},
            status="refused",
            reason="Past the cap of 5 calls a turn.",
            decided_by="cap",
            **never,
        ),
        turn("t1"),
        turn(
            "t2",
            not_run="skip_validation=True returns before the actions",
            requests=[
                {"function": "refund", "arguments": {**order, "amount": 59.9}},
                {"function": "close_ticket", "arguments": {"ticket": "T-4182"}},
            ],
        ),
    ]
    return branch(logs)


def triage_script() -> ScriptModel:
    """Return a script of four entries, of which the last waits for a tool."""
    chunks = [{"type": "text", "content": "x" * 29} for _ in range(13)] + [{"type": "text", "content": "y" * 35}]
    return ScriptModel.from_responses(
        [
            {"type": "stream", "chunks": chunks},
            {"type": "structured", "data": {"category": "billing"}, "when": {"prompt_contains": "charged twice"}},
            {"type": "error", "kind": "rate_limit", "message": "slow down"},
            {"type": "text", "content": "The second charge is refunded.", "when": {"has_tool": "refund"}},
        ]
    )


def triage_timeline() -> Any:
    """Return a branch whose fourth call found no entry: a structured answer, two tools, a stream, an error."""
    script = triage_script()
    asked = [{"function": {"name": name, "arguments": "{}"}} for name in ("lookup_order", "search_kb")]
    first = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "I was charged twice"}]
    second = [
        *first,
        {"role": "assistant", "content": None, "tool_calls": asked},
        {"role": "tool", "content": '{"status": "delivered", "total": 59.9, "charges": [1, 2]}'},
        {"role": "tool", "content": '[{"id": "kb-17", "title": "Refund a duplicate charge", "score": 1}, {}, {}]'},
        {"role": "user", "content": "Draft the reply to the customer."},
    ]
    third = [
        *second,
        {"role": "assistant", "content": "Dear"},
        {"role": "user", "content": "Now refund the second charge."},
    ]
    answer = {"choices": [{"message": {"role": "assistant", "content": '{"category": "billing"}'}}]}
    chunks = [StreamChunk(type="text", content=chunk.content) for chunk in script.responses[0].chunks]  # pyright: ignore[reportAttributeAccessIssue]
    calls = [
        RecordedCall(
            0, {"messages": first}, {}, "structured", answer, True, "when:prompt_contains:'charged twice'", 1,
            started_at=START, duration=0.84,
        ),
        RecordedCall(1, {"messages": second}, {}, "stream", chunks, True, started_at=START + 1, duration=1.44),
        RecordedCall(2, {"messages": third}, {}, "error", None, True, started_at=START + 2.48, duration=0.48),
    ]  # fmt: skip
    failed = {"type": "ClientResponseError", "message": "429"}
    nothing = {"type": "ScriptExhaustedError", "message": "script exhausted at call_index=3"}
    logs = [
        model_call(first, 0, 0.84, schema="Triage"),
        tool_call("lookup_order", {}, 1, started_at=START + 0.86),
        tool_call("search_kb", {}, 1, started_at=START + 0.86, duration=0.122),
        model_call(second, 1, 1.44),
        model_call(third, 2.48, 0.48, status="error", error=failed),
        model_call(list(third), 2.9597, 0.0003, status="error", error=nothing),
    ]
    return branch(logs, calls=calls, script=script)


@dataclass
class Page(HTMLParser):
    """What a browser would see of a view: the elements, the attributes that matter, and the text outside styles."""

    elements: list[str] = field(default_factory=list)
    stray: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    cells: list[dict[str, str | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element; one that no view writes is stray, and so is an attribute that none writes."""
        self.elements.append(tag)
        if tag not in ELEMENTS:
            self.stray.append(tag)
        self.stray += [f"{tag}[{name}]" for name, _ in attrs if name not in ATTRIBUTES]
        if tag in ("td", "th"):
            self.cells.append(dict(attrs))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close an element; one that closes out of turn is stray."""
        if not self.open or self.open.pop() != tag:
            self.stray.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        """Note a comment: no view writes one."""
        self.stray.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        """Note a declaration: no view writes one."""
        self.stray.append(f"declaration {decl}")

    def handle_data(self, data: str) -> None:
        """Keep the text that a person reads."""
        if "style" not in self.open:
            self.words.append(data)


def read(html: str) -> Page:
    """Return a view's markup as it is parsed, to its end."""
    page = Page()
    page.feed(html)
    page.close()
    page.stray += [f"unclosed {tag}" for tag in page.open]
    return page


def body(html: str) -> str:
    """Return a view's markup without its styles, one element to a line where that keeps text untouched."""
    return html.split("</style>", 1)[1].strip().replace("</tr>", "</tr>\n") + "\n"


def snapshot(name: str, made: str) -> None:
    """Compare a text with the one kept under this name; with UPDATE_SNAPSHOTS in the environment keep the new one."""
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(made, encoding="utf-8")
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    assert made == kept, f"{name} changed; if that is right, run the test with UPDATE_SNAPSHOTS=1"
