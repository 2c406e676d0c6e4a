"""The script beside the calls: which entry answered each call, what is unused and why, why a call found none."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lionagi_nb._format import clip, count, joined
from lionagi_nb._json import freeze, inline, thaw
from lionagi_nb._pieces import Piece, Pieces, join_names, separator
from lionagi_nb._records import Record, mapping, words

__all__ = (
    "ScriptEntry",
    "ScriptUse",
    "UnusedEntry",
    "answers",
    "entry_pieces",
    "explain",
    "matched_pieces",
    "read_script",
)

_PREDICATES = ("prompt_contains", "prompt_regex", "has_tool", "call_index", "after_calls")
_HTTP = {"rate_limit": 429, "server_error": 500, "bad_request": 400}


@dataclass(frozen=True)
class ScriptEntry:
    """One entry of a script: its number from 1, its content, and its conditions (empty: served by position)."""

    number: int
    content: Record
    when: Record


@dataclass(frozen=True)
class UnusedEntry:
    """An entry that no call was served: what it holds, its condition, and why."""

    number: int
    entry: Pieces
    when: Pieces
    why: Pieces


@dataclass
class ScriptUse:
    """A script's entries, and the entry number that answered each recorded call, by the identity of the call."""

    entries: tuple[ScriptEntry, ...] = ()
    served: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def plain(self) -> list[ScriptEntry]:
        """Entries that are served by position."""
        return [entry for entry in self.entries if not entry.when]

    def unused(self) -> list[ScriptEntry]:
        """Entries that answered no call."""
        used = set(self.served.values())
        return [entry for entry in self.entries if entry.number not in used]


def read_script(script: Any, calls: Sequence[Any]) -> ScriptUse:
    """Return the entries of a script object and which of them answered `calls` (those since it was attached)."""
    held = ScriptUse(tuple(_entry(i, e) for i, e in enumerate(getattr(script, "responses", None) or (), 1)))
    order = iter(held.plain)
    for call in calls:
        if call.index == 0:
            held.served.clear()
            order = iter(held.plain)
        place = call.when_index
        found = next(order, None) if place is None else None
        number = place + 1 if place is not None else found.number if found else None
        if number is not None and held.entries:
            held.served[id(call)] = number
    return held


def _entry(number: int, entry: Any) -> ScriptEntry:
    content = dict(mapping(entry) or cast("Record", entry.model_dump(mode="json", exclude_none=True)))
    when = cast("Record", content.pop("when", None) or {})
    content.pop("recording", None)
    return ScriptEntry(number, content, {key: when[key] for key in _PREDICATES if when.get(key) is not None})


def entry_pieces(entry: ScriptEntry) -> Pieces:
    """Return what an entry answers with, in a few words."""
    kind, held = words(entry.content.get("type")), entry.content
    head = Piece("b", kind)
    if kind == "text":
        return (head, Piece("t", " "), Piece("dimquote", clip(" ".join(str(held.get("content")).split()), 60)))
    if kind == "tool_call":
        return (head, Piece("t", " "), Piece("code", words(held.get("name"))))
    if kind == "structured":
        return (head, Piece("t", " "), Piece("code", inline(held.get("data"), 60)))
    if kind == "stream":
        return (head, Piece("t", " "), Piece("dim", count(len(cast("list[Any]", held.get("chunks") or [])), "chunk")))
    return (head, Piece("t", f" {words(held.get('kind'))}"), *_http(held))


def _http(held: Record) -> Pieces:
    code = _HTTP.get(words(held.get("kind")))
    return (separator(), Piece("dim", f"HTTP {code}")) if code else ()


def error_pieces(entry: ScriptEntry | None) -> Pieces:
    """Return the kind of a scripted error and the HTTP status it stands for."""
    if entry is None or not entry.content.get("kind"):
        return ()
    return (Piece("t", f" {words(entry.content['kind'])}"), *_http(entry.content))


def matched_pieces(matched_by: str, number: int | None) -> Pieces:
    """Return which entry answered and by which rule; `matched_by` as the endpoint recorded it."""
    lead = (Piece("t", f"entry {number:,}"), separator()) if number is not None else ()
    if matched_by == "positional":
        return (*lead, Piece("dim", "next in order"))
    out: list[Piece] = list(lead)
    for i, part in enumerate(_split(matched_by.removeprefix("when:"))):
        if i:
            out.append(Piece("t", " and "))
        name, _, value = part.partition(":")
        out += [Piece("code", clip(name, 40)), Piece("t", " "), _value(value)]
    return tuple(out)


def _split(rule: str) -> list[str]:
    return re.split(rf"\+(?=(?:{'|'.join(_PREDICATES)}):)", rule)


def _value(written: str) -> Piece:
    try:
        value: object = ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = written
    return Piece("quote", clip(value, 40)) if isinstance(value, str) else Piece("t", clip(str(value), 40))


def when_pieces(entry: ScriptEntry) -> Pieces:
    """Return an entry's conditions as they stand in the file."""
    if not entry.when:
        return (Piece("dim", "next in order"),)
    said = ", ".join(f"{key}: {clip(str(value), 40)}" for key, value in entry.when.items())
    return (Piece("code", said),)


def unused_rows(script: ScriptUse, limit: int) -> tuple[UnusedEntry, ...]:
    """Return the unused entries as rows, at most `limit`."""
    why = {
        "prompt_contains": "no message contained it",
        "prompt_regex": "no message matched it",
        "has_tool": "no call offered that tool",
        "call_index": "no such call was made",
        "after_calls": "too few calls were made",
    }
    return tuple(
        UnusedEntry(e.number, entry_pieces(e), when_pieces(e), (Piece("t", why.get(_first(e), "no call came for it")),))
        for e in script.unused()[:limit]
    )


def _first(entry: ScriptEntry) -> str:
    return next(iter(entry.when), "")


def explain(script: ScriptUse, asked: str, offered: Sequence[str], index: int) -> tuple[tuple[str, Pieces], ...]:
    """Return label and words: what was served, the last message, the closest entry and why it failed, how to fix it."""
    served = sorted(set(script.served.values()))
    plain = len(script.plain)
    used = f"the {count(plain, 'positional entry', 'positional entries')} {'is' if plain == 1 else 'are'} used up"
    said = f"{'entry' if len(served) == 1 else 'entries'} {_numbers(served)}" if served else "no entry"
    rows: list[tuple[str, Pieces]] = [
        (
            "Served",
            (Piece("t", said), separator("; "), Piece("dim", used if plain else "there is no positional entry")),
        ),
        ("Last message", (Piece("quote", clip(" ".join(asked.split()), 80)),) if asked else (Piece("dim", "– none"),)),
    ]
    add = f"add an entry after {served[-1]:,}" if served else "add an entry to the script"
    closest = next((e for e in script.unused() if e.when), None)
    if closest is None:
        return (*rows, ("To fix", (Piece("t", add),)))
    lead = (Piece("t", f"entry {closest.number:,}, "), *when_pieces(closest), separator("\n"), Piece("dim", "failed: "))
    why, fix = _failure(closest, asked, offered, index)
    return (*rows, ("Closest", (*lead, *why)), ("To fix", (*fix, Piece("t", f", or {add}"))))


def _failure(entry: ScriptEntry, asked: str, offered: Sequence[str], index: int) -> tuple[Pieces, Pieces]:
    when = entry.when
    gates = (("call_index", "equal"), ("after_calls", "at least"))
    for key, rule in gates:
        if key in when and (index != when[key] if key == "call_index" else index < int(when[key])):
            return (Piece("dim", f"this was call_index {index}"),), (Piece("t", f"make call_index {rule} {when[key]}"),)
    key = _first(entry)
    value = clip(str(when.get(key)), 60)
    if key == "has_tool" and value in offered:
        return (Piece("dim", "the tool stood in the prompt, it was not sent natively"),), (
            Piece("t", "match the prompt instead"),
        )
    if key == "has_tool":
        names = tuple(offered)
        had: Pieces = (
            (Piece("dim", "the call offered "), *join_names(names))
            if names
            else (Piece("dim", "the call offered no tool"),)
        )
        return had, (Piece("t", "offer the tool "), Piece("code", value), Piece("t", " in this call"))
    if key == "prompt_regex":
        return (Piece("dim", "the last message does not match"),), (
            Piece("t", "match "),
            Piece("code", value),
            Piece("t", " in the prompt"),
        )
    return (Piece("dim", "the last message does not contain it"),), (
        Piece("t", "say "),
        Piece("quote", value),
        Piece("t", " in the prompt"),
    )


def _numbers(served: Sequence[int]) -> str:
    if len(served) > 8 and served == list(range(served[0], served[-1] + 1)):
        return f"{served[0]:,} to {served[-1]:,}"
    return joined(tuple(f"{n:,}" for n in served[:30])) + (f" … {len(served) - 30:,} more" if len(served) > 30 else "")


def answers(calls: Sequence[Any], script: ScriptUse, room: int = 12_000) -> tuple[Record, ...]:
    """Return script entries that would answer `calls` again, in order, until about `room` characters are filled."""
    out: list[Record] = []
    for call in calls:
        number = script.served.get(id(call))
        if number is not None:
            entry = script.entries[number - 1]
            made: dict[str, Any] = {**entry.content, **({"when": dict(entry.when)} if entry.when else {})}
        else:
            made = _from_response(call)
        out.append(_tidy(made))
        room -= len(freeze(made)) + 40
        if room < 0:
            break
    return tuple(out)


def _tidy(entry: dict[str, Any]) -> Record:
    if entry.get("type") == "stream":
        chunks = cast("list[Record]", entry.get("chunks") or [])
        return {**entry, "chunks": [{k: v for k, v in c.items() if v not in (None, False, {})} for c in chunks]}
    return {k: v for k, v in entry.items() if not (k == "delay_ms" and v == 0)}


def _from_response(call: Any) -> dict[str, Any]:
    response: Any = call.response
    if call.response_type == "error":
        return {"type": "error", "kind": "value_error", "message": "scripted error"}
    if isinstance(response, list):
        chunks = cast("list[Any]", response)
        return {
            "type": "stream",
            "chunks": [{"type": "text", "content": words(getattr(c, "content", ""), 10_000)} for c in chunks],
        }
    message = response_message(response)
    calls = message.get("tool_calls")
    if calls:
        function = cast("Record", cast("list[Any]", calls)[0]["function"])
        return {
            "type": "tool_call",
            "name": function.get("name"),
            "arguments": thaw(str(function.get("arguments") or "{}")),
        }
    content = str(message.get("content") or "")
    held = thaw(content) if call.response_type == "structured" else None
    return {"type": "structured", "data": held} if isinstance(held, dict) else {"type": "text", "content": content}


def response_message(response: Any) -> Record:
    """Return the message of a normal (unstreamed) response in the OpenAI shape, {} where it has none."""
    try:
        return mapping(response["choices"][0]["message"])
    except (KeyError, IndexError, TypeError):
        return {}
