"""From records and recorded calls to the rows of the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from lionagi_nb._format import clip, count
from lionagi_nb._pieces import Piece, Pieces, join_names, separator
from lionagi_nb._records import Record, mapping, number, words

from .messages import MessageDiff, compare
from .script import ScriptUse, error_pieces, matched_pieces, response_message

__all__ = ("CallRow", "ToolRow", "branch_rows", "call_rows", "recorded_calls")


_NO_DIFF = MessageDiff("", "")


class ToolRow(NamedTuple):
    """A tool that ran after a call: seconds since 1970 and seconds, None where it was never called."""

    status: str
    function: str
    started_at: float | None
    duration: float | None


class CallRow(NamedTuple):
    """One model call and the tools that ran before the next one."""

    number: int
    status: str
    call: Pieces
    matched: Pieces
    started_at: float | None
    duration: float | None
    diff: MessageDiff
    tools: tuple[ToolRow, ...] = ()


def recorded_calls(branch: Any) -> tuple[list[Any], Any]:
    """Return what the branch's scripted endpoint recorded, and its script; ([], None) where it is not scripted."""
    endpoint: Any = getattr(getattr(branch, "chat_model", None), "endpoint", None)
    calls: Any = getattr(endpoint, "calls", None)
    return (list(cast("Iterable[Any]", calls)) if isinstance(calls, list) else [], getattr(endpoint, "script", None))


def branch_rows(logs: Sequence[Record], calls: Sequence[Any], script: ScriptUse, limit: int) -> tuple[CallRow, ...]:
    """Return a row for each model call in `logs`; a recorded call belongs to the record with its message list."""
    by_messages = {id(call.payload.get("messages")): call for call in calls}
    rows: list[CallRow] = []
    before: Sequence[Any] | None = None
    tools: list[ToolRow] = []
    for record in logs:
        if record.get("kind") == "tool_call":
            tools.append(_tool(record))
        elif record.get("kind") == "model_call":
            _give(rows, tools)
            sent = cast("Sequence[Any]", record.get("messages") or ())
            call = by_messages.get(id(record.get("messages")))
            diff = compare(sent, before, len(rows)) if len(rows) < limit else _NO_DIFF
            rows.append(_of_record(record, call, script, len(rows) + 1, diff))
            before = sent
    _give(rows, tools)
    return tuple(rows)


def _give(rows: list[CallRow], tools: list[ToolRow]) -> None:
    if rows and tools:
        rows[-1] = rows[-1]._replace(tools=tuple(tools))
    tools.clear()


def _tool(record: Record) -> ToolRow:
    began, took = number(record.get("started_at")), number(record.get("duration"))
    return ToolRow(words(record.get("status")) or "ok", words(record.get("function")), began, took)


def _of_record(record: Record, call: Any, script: ScriptUse, place: int, diff: MessageDiff) -> CallRow:
    error = cast("Record", record.get("error") or {})
    status = words(record.get("status")) or "ok"
    timing = (number(record.get("started_at")), number(record.get("duration")))
    if error.get("type") == "ScriptExhaustedError":
        nothing: Pieces = (Piece("dim", "– nothing matched"),)
        return CallRow(place, "exhausted", (Piece("b", "no entry left"),), nothing, *timing, diff)
    if call is not None:
        answered = script.served.get(id(call))
        return CallRow(
            place, status, _scripted(call, script, record), matched_pieces(call.matched_by, answered), *timing, diff
        )
    model = _model(words(record.get("provider")), words(record.get("model")))
    return CallRow(place, status, _live(record, error), model, *timing, diff)


def _scripted(call: Any, script: ScriptUse, record: Record) -> Pieces:
    kind = words(call.response_type)
    head = Piece("b", kind)
    entry = script.entries[script.served[id(call)] - 1] if id(call) in script.served else None
    early: Pieces = (separator(), Piece("dim", "closed early")) if call.closed_early else ()
    if kind == "error":
        failed = error_pieces(entry)
        return (head, *(failed or _error_type(record))) if failed or record else (head,)
    if kind == "structured":
        schema = words(record.get("schema"))
        return (head, Piece("t", " "), Piece("code", schema), *early) if schema else (head, *early)
    if kind == "tool_call":
        asked = cast("Iterable[Any]", response_message(call.response).get("tool_calls") or ())
        names = tuple(words(mapping(mapping(a).get("function")).get("name")) for a in asked)
        return (head, Piece("t", " "), *join_names(names), *early) if names else (head, *early)
    return (head, Piece("t", " "), Piece("dim", _amount(call)), *early)


def _error_type(record: Record) -> Pieces:
    error = cast("Record", record.get("error") or {})
    return (Piece("t", f" {words(error.get('type'))}"),) if error.get("type") else ()


def _amount(call: Any) -> str:
    response: object = call.response
    if isinstance(response, list):
        chunks = cast("list[Any]", response)
        chars = sum(len(c.content or "") for c in chunks if c.type == "text")
        return f"{count(len(chunks), 'chunk')}, {count(chars, 'char')}"
    return count(len(str(response_message(call.response).get("content") or "")), "char")


def _live(record: Record, error: Record) -> Pieces:
    if error:
        return (Piece("b", "error"), Piece("t", f" {words(error.get('type'))}"))
    out: list[Piece] = [Piece("b", words(record.get("verb")) or "call")]
    if record.get("schema"):
        out += [Piece("t", " "), Piece("code", words(record.get("schema")))]
    chars, chunks = number(record.get("chars")), number(record.get("chunks"))
    if record.get("streamed") and chunks:
        out += [Piece("t", " "), Piece("dim", f"{count(int(chunks), 'chunk')}, {count(int(chars or 0), 'char')}")]
    elif chars:
        out += [Piece("t", " "), Piece("dim", count(int(chars), "char"))]
    return tuple(out)


@lru_cache(64)
def _model(provider: str, model: str) -> Pieces:
    name = clip("/".join(part for part in (provider, model) if part), 60)
    return (Piece("dim", "model"), Piece("t", " "), Piece("code", name))


def call_rows(calls: Sequence[Any], script: ScriptUse, limit: int) -> tuple[CallRow, ...]:
    """Return a row for each recorded call of a scripted endpoint; they know nothing of tools and unanswered calls."""
    rows: list[CallRow] = []
    before: Sequence[Any] | None = None
    for place, call in enumerate(calls, 1):
        sent = cast("Sequence[Any]", call.payload.get("messages") or ())
        diff = compare(sent, before, place - 1) if place <= limit else _NO_DIFF
        status = "error" if call.response_type == "error" else "ok"
        matched = matched_pieces(call.matched_by, script.served.get(id(call)))
        began, took = number(call.started_at), number(call.duration)
        rows.append(CallRow(place, status, _scripted(call, script, {}), matched, began or None, took, diff))
        before = sent
    return tuple(rows)
