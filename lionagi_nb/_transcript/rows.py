"""From the messages of a branch to the turns and rows of the transcript."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from lionagi_nb._format import clip, count, size
from lionagi_nb._json import byte_size, freeze, inline, thaw
from lionagi_nb._records import Record, mapping, records, words

__all__ = ("CallLine", "MessageFold", "MessageRow", "TurnGroup", "collect", "tally", "tokens_of")

_TEXT = 600  # characters of a message that stand in its row; the whole is in a fold


class CallLine(NamedTuple):
    """A tool call under the answer that asked for it: its status, its tool, and what came of it on one line.

    `whole` is the JSON text of the arguments and the outcome, uncut.
    """

    status: str
    function: str
    arguments: str
    outcome: str
    is_reason: bool
    whole: str


class MessageFold(NamedTuple):
    """Something to open: its label, its size in words, and its body as JSON text or as plain text."""

    label: str
    fact: str
    body: str
    is_json: bool


@dataclass(frozen=True)
class MessageRow:
    """One message. `code` says that `text` is JSON on one line; `tokens` is None where no provider reported any."""

    role: str
    text: str
    code: bool = False
    images: tuple[str, ...] = ()
    folds: tuple[MessageFold, ...] = ()
    calls: tuple[CallLine, ...] = ()
    tokens: int | None = None


@dataclass(frozen=True)
class TurnGroup:
    """What one turn added. `number` is 0 for messages before the first instruction."""

    number: int
    facts: tuple[str, ...]
    rows: tuple[MessageRow, ...]
    messages: int
    tokens: int | None = None


def collect(branch: Any) -> tuple[TurnGroup, ...]:
    """Return the conversation in turns: each begins with what was said to the model."""
    asked = _tool_records(branch)
    groups: list[list[Any]] = [[]]
    for message in cast("Iterable[Any]", getattr(branch, "messages", ())):
        if "instruction" in _content(message) or words(getattr(message, "role", None)) == "user":
            groups.append([])
        groups[-1].append(message)
    verbs = _verbs(branch, groups[1:], asked)
    turns = [_turn(n, verbs[n - 1] if n else "", group, asked) for n, group in enumerate(groups)]
    return tuple(turn for turn in turns if turn.rows)


def tokens_of(values: Iterable[int | None]) -> int | None:
    """Return the sum of what is known, None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _content(message: Any) -> Record:
    content = getattr(message, "content", None)
    dump = getattr(content, "to_dict", None)
    return mapping(dump() if callable(dump) else content)


def _tool_records(branch: Any) -> dict[str, Record]:
    found = (record for record in records(branch) if record.get("kind") == "tool_call")
    return {words(record.get("request_id")): record for record in found}


def _verbs(branch: Any, groups: Sequence[Sequence[Any]], asked: dict[str, Record]) -> list[str]:
    """The verb of each turn: by its tool calls, else by order where the log has one ended call for each turn."""
    ended: dict[str, str] = {}
    for record in records(branch):
        if record.get("kind") == "model_call" and record.get("status") == "ok":
            ended.setdefault(words(record.get("turn")), words(record.get("verb")))
    in_order = list(ended.values()) if len(ended) == len(groups) else [""] * len(groups)
    verbs: list[str] = []
    for group, verb in zip(groups, in_order, strict=True):
        turns = (words(mapping(asked.get(words(getattr(m, "id", None)))).get("turn")) for m in group)
        verbs.append(next((ended[turn] for turn in turns if turn in ended), verb))
    return verbs


def _turn(number: int, verb: str, group: Sequence[Any], asked: dict[str, Record]) -> TurnGroup:
    rows: list[MessageRow] = []
    lines: list[CallLine] = []
    responses = {words(_content(m).get("action_request_id")): m for m in group}
    for message in group:
        content = _content(message)
        if "action_request_id" in content:
            continue
        if "function" in content:
            line = _call(message, content, responses, asked)
            lines.append(line)
            last = rows.pop() if rows else MessageRow("assistant", "")
            rows.append(replace(last, calls=(*last.calls, line)))
        else:
            rows.append(_row(message, content))
    facts = [verb] if verb else []
    facts += [f"added {count(len(group), 'message')}"]
    facts += [count(len(lines), "tool call")] if lines else []
    read = tokens_of(_usage(m, "prompt_tokens", "input_tokens") for m in group)
    written = tokens_of(row.tokens for row in rows)
    return TurnGroup(number, tuple(facts), tuple(rows), len(group), tokens_of((read, written)))


def _usage(message: Any, *names: str) -> int | None:
    response = mapping(mapping(getattr(message, "metadata", None)).get("model_response"))
    usage = mapping(response.get("usage"))
    value = next((usage[name] for name in names if usage.get(name)), None)
    return value if isinstance(value, int) else None


def _row(message: Any, content: Record) -> MessageRow:
    role = f"{words(getattr(message, 'role', None)) or 'message'}"
    said = content.get("system_message", content.get("instruction", content.get("assistant_response")))
    value = thaw(said) if isinstance(said, str) and said.lstrip().startswith(("{", "[")) else said
    folds: list[MessageFold] = []
    code = not isinstance(value, str) and value is not None
    text = inline(thaw(freeze(value))) if code else words(said, 1_000_000)
    if code:
        body = freeze(value)
        folds.append(MessageFold(_kind(value), size(byte_size(body)), body, True))
    elif len(text) > _TEXT:
        folds.append(MessageFold("Whole text", size(byte_size(text)), text, False))
        text = clip(text, _TEXT)
    folds += _parts(content)
    tokens = _usage(message, "completion_tokens", "output_tokens")
    return MessageRow(role, text, code, _images(content), tuple(folds), (), tokens)


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return count(len(cast("dict[str, Any]", value)), "field")
    return count(len(cast("list[Any]", value)), "item") if isinstance(value, list) else "value"


def _parts(content: Record) -> list[MessageFold]:
    """Guidance and context stand beside the instruction; tools and formats are the schema view's."""
    found: list[MessageFold] = []
    for key, label in (("guidance", "Guidance"), ("prompt_context", "Context"), ("context", "Context")):
        value = content.get(key)
        if value:
            body = freeze(value)
            found.append(MessageFold(label, size(byte_size(body)), body, True))
    return found


def _images(content: Record) -> tuple[str, ...]:
    images = content.get("images")
    return tuple(_image(image) for image in cast("list[Any]", images)[:20]) if isinstance(images, list) else ()


def _image(image: Any) -> str:
    source = image if isinstance(image, str) else words(mapping(mapping(image).get("image_url")).get("url"))
    if source.startswith(("http://", "https://")):
        return f"image {clip(source, 80)}"
    kind, _, data = source.rpartition(",")
    try:
        length = len(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return "image"
    name = kind.removeprefix("data:").partition(";")[0] or "image"
    return f"{clip(name, 40)} · {size(length)}"


def _call(message: Any, content: Record, responses: dict[str, Any], asked: dict[str, Record]) -> CallLine:
    key = words(getattr(message, "id", None))
    response, record = responses.get(key), mapping(asked.get(key))
    output = _content(response).get("output") if response is not None else None
    noted = mapping(getattr(response, "metadata", None)).get("status")
    status = words(record.get("status") or noted) or ("ok" if response is not None else "not run")
    reason = words(record.get("reason") or mapping(output).get("message")) if status != "ok" else ""
    outcome = reason or ("" if response is None else inline(thaw(freeze(output))))
    arguments = inline(thaw(freeze(content.get("arguments"))))
    whole = freeze([content.get("arguments"), reason or output])
    return CallLine(status, words(content.get("function")) or "–", arguments, outcome, bool(reason), whole)


def tally(calls: Sequence[CallLine]) -> str:
    """Return ``2 ok``, ``1 ok, 1 denied``: how the calls ended, in the order in which the ends first came."""
    return ", ".join(f"{n:,} {word}" for word, n in Counter(call.status for call in calls).items())
