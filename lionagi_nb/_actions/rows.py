"""From records to the groups and rows of the action view."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from lionagi_nb._format import cap_word, count
from lionagi_nb._json import freeze
from lionagi_nb._records import Record, mapping, number, words

__all__ = ("ActionGroup", "ActionRow", "collect", "from_result", "not_run_words")

_BEFORE = ("selection", "arguments", "cap")  # who decides before anything is called
_SCHEMA_LEAD = re.compile(r"^The arguments must match the function schema of '[^']*': ")
_NOT_RUN = {
    "skip_validation": "`skip_validation=True` returns before the actions.",
    "invoke_actions=False": "`invoke_actions=False` leaves the requests to you.",
}
_BARE = {
    "error": "It failed.",
    "timeout": "No answer in time.",
    "denied": "Denied.",
    "refused": "Past the cap.",
    "cancelled": "Cancelled before it finished.",
    "not run": "It never began.",
}


class ActionRow(NamedTuple):
    """One request of the model and its end.

    `arguments` and `output` are JSON text, `output` None where there is none. `duration` is in seconds, None where the
    tool was never called; `started_at` is seconds since 1970; `record` is the place in the branch's logs, from 1.
    """

    number: int
    status: str
    function: str
    arguments: str
    output: str | None = None
    reason: str = ""
    decided_by: str = ""
    duration: float | None = None
    started_at: float | None = None
    attempt: int = 1
    record: int | None = None


@dataclass(frozen=True)
class ActionGroup:
    """The requests of one turn: its title, its facts, its rows, and the seconds from first start to last end."""

    title: str
    facts: tuple[str, ...]
    rows: tuple[ActionRow, ...]
    span: float
    code: str = ""


@dataclass
class _Turn:
    calls: list[tuple[int, Record]]
    turn: Record | None = None
    verb: str = ""


def collect(logs: Sequence[Record], only: str | None = None) -> tuple[tuple[ActionGroup, ...], tuple[str, ...], int]:
    """Return the groups with requests, the tools that were offered, and the number of turns seen.

    `only` is the id of the one turn to look at; None takes them all.
    """
    turns: dict[object, _Turn] = {}
    for place, record in enumerate(logs, 1):
        kind = record.get("kind")
        if kind not in ("tool_call", "turn", "model_call") or (only is not None and record.get("turn") != only):
            continue
        held = turns.setdefault(record.get("turn"), _Turn([]))
        if kind == "turn":
            held.turn = record
        elif kind == "model_call":
            held.verb = words(record.get("verb"))
        else:
            held.calls.append((place, record))
    groups: list[ActionGroup] = []
    offered: dict[str, None] = {}
    taken = 0
    for held in turns.values():
        offered.update((words(name), None) for name in cast("Iterable[object]", (held.turn or {}).get("tools") or ()))
        rows = _rows(held, taken)
        if rows or (held.turn or {}).get("not_run"):
            taken += len(rows)
            groups.append(_group(held, rows, len(groups) + 1))
    return tuple(groups), tuple(offered), len(turns)


def _rows(held: _Turn, taken: int) -> tuple[ActionRow, ...]:
    rows = [_called(record, taken + i, place) for i, (place, record) in enumerate(held.calls, 1)]
    turn = held.turn or {}
    why = not_run_words(turn.get("not_run"))
    requests = cast("Iterable[Record]", turn.get("requests") or ())
    for i, request in enumerate(requests):
        said = "Same reason." if i and why else why or _BARE["not run"]
        rows.append(_never(request, taken + len(rows) + 1, said))
    return tuple(rows)


def _called(record: Record, place: int, log: int | None) -> ActionRow:
    status = words(record.get("status")) or "ok"
    output = record.get("output")
    took = number(record.get("duration"))
    began = number(record.get("started_at"))
    by = words(record.get("decided_by"))
    ran = status not in ("denied", "refused") and by not in _BEFORE and took is not None
    return ActionRow(
        number=place,
        status=status,
        function=words(record.get("function")),
        arguments=freeze(record.get("arguments")),
        output=None if output is None and status != "ok" else freeze(output),
        reason="" if status == "ok" else _reason(status, by, record.get("reason"), output),
        decided_by=by,
        duration=took if ran else None,
        started_at=began,
        attempt=int(number(record.get("attempt")) or 1),
        record=log,
    )


def _never(request: Record, place: int, why: str) -> ActionRow:
    return ActionRow(place, "not run", words(request.get("function")), freeze(request.get("arguments")), reason=why)


def _reason(status: str, by: str, reason: object, output: object) -> str:
    said = words(reason, 600).strip()
    held = mapping(output)
    kind = words(held.get("error"), 100)
    said = said or words(held.get("message"), 600) or kind or _BARE.get(status, "")
    if status == "error" and by == "arguments":
        said = f"Invalid arguments. {_SCHEMA_LEAD.sub('', said)}"
    elif status == "error" and by not in _BEFORE and kind and not said.startswith(kind):
        said = f"{kind}: {said}"
    elif status == "denied" and by not in ("", *_BEFORE) and "gate" not in said.lower():
        said = f"Gate `{by}`: {said}"
    said = cap_word(said) if re.match(r"[a-z]+[ ,.]", said) else said
    said = _stopped(said)
    not_called = status in ("denied", "refused") or (status == "error" and by in _BEFORE)
    return f"{said} Not called." if not_called and "not called" not in said.lower() else said


def not_run_words(why: object) -> str:
    """Return why actions did not run as a sentence; "" where no reason is recorded."""
    said = words(why, 600).strip()
    said = _NOT_RUN.get(said, said)
    said = cap_word(said) if re.match(r"[a-z]+ ", said) else said
    return _stopped(said)


def _stopped(said: str) -> str:
    return f"{said}." if said and said[-1] not in ".!?…" else said


def _group(held: _Turn, rows: tuple[ActionRow, ...], place: int) -> ActionGroup:
    turn = held.turn or {}
    first: Record = held.calls[0][1] if held.calls else {}
    verb = words(turn.get("verb")) or held.verb or "act"
    strategy = words(turn.get("strategy") or first.get("strategy")) if held.calls else ""
    facts = [fact for fact in (verb, strategy, count(len(rows), "request") if rows else "") if fact]
    code = ""
    if turn.get("not_run") and not held.calls:
        why = not_run_words(turn.get("not_run"))
        found = re.match(r"`?([a-z_]+)(?==|`)", why)
        code = found.group(1) if found else ""
        facts.append("actions not run" + (": " if code else "" if rows else f": {why[:1].lower()}{why[1:]}"))
    return ActionGroup(f"Turn {place:,}", tuple(facts), rows, _span(rows), code)


def _span(rows: Iterable[ActionRow]) -> float:
    ends = [
        (r.started_at, r.started_at + r.duration) for r in rows if r.started_at is not None and r.duration is not None
    ]
    return max(end for _, end in ends) - min(start for start, _ in ends) if ends else 0.0


def from_result(result: Any) -> tuple[ActionGroup, ...]:
    """Return the one group that a result itself holds: its requests, and its responses in the same order.

    A request without a response is "not run": the result does not say why.
    """
    requests = [_as_record(item) for item in _held(result, "action_requests")]
    responses = [_as_record(item) for item in _held(result, "action_responses")]
    rows: list[ActionRow] = []
    for response in responses:
        rows.append(_called({**response, "status": _end(response.get("output"))}, len(rows) + 1, None))
        match = next((r for r in requests if r.get("function") == response.get("function")), None)
        if match is not None:
            requests.remove(match)
    for request in requests:
        rows.append(_never(request, len(rows) + 1, "The result holds no response to it."))
    if not rows:
        return ()
    return (ActionGroup("Result", (count(len(rows), "request"),), tuple(rows), 0.0),)


def _held(result: Any, field: str) -> Iterable[Any]:
    held: Any = cast("Record", result).get(field) if isinstance(result, Mapping) else getattr(result, field, None)
    return cast("Iterable[Any]", held) if isinstance(held, list | tuple) else ()


def _as_record(item: Any) -> Record:
    if isinstance(item, Mapping):
        return cast("Record", item)
    return {key: getattr(item, key, None) for key in ("function", "arguments", "output")}


def _end(output: object) -> str:
    error = mapping(output).get("error")
    if not isinstance(error, str):
        return "ok"
    return next(
        (word for word in ("denied", "refused", "timeout", "cancelled") if error.lower().startswith(word)), "error"
    )
