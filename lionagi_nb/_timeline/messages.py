"""What one call sent that the call before it had not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from lionagi_nb._format import clip, count
from lionagi_nb._json import freeze, inline, thaw
from lionagi_nb._pieces import Piece, Pieces, join_names
from lionagi_nb._records import mapping, words

__all__ = ("MessageDiff", "compare", "last_user_text", "text_of")

_LINES = 40  # messages listed in one difference


@dataclass(frozen=True)
class MessageDiff:
    """The difference: `fact` in words, `short` for the text form ("2", "+4"), and lines of (mark, role, what)."""

    fact: str
    short: str
    lines: tuple[tuple[str, str, Pieces], ...] = ()


def compare(sent: Sequence[Any], before: Sequence[Any] | None, previous: int) -> MessageDiff:
    """Return what `sent` adds to and drops from `before`, the messages of call `previous` (None: there is none)."""
    if before is None:
        roles = ", ".join(_roles(sent))
        lines = tuple(("+", _role(m), _what(m)) for m in sent[:_LINES])
        return MessageDiff(
            f"{len(sent):,} sent: {roles}" if sent else "none sent", f"{len(sent):,}", _more(lines, len(sent))
        )
    same = _common(sent, before)
    added, gone = len(sent) - same, len(before) - same
    if not added and not gone:
        return MessageDiff(f"same as call {previous:,}", "+0", (_same_line(before, same, previous),) if same else ())
    parts = [f"−{gone:,}"] if gone else []
    parts += [f"+{added:,}"] if added else []
    lines = [_same_line(before, same, previous)] if same else []
    lines += [("−", _role(m), _what(m)) for m in before[same : same + _LINES]]
    lines += [("+", _role(m), _what(m)) for m in sent[same : same + _LINES]]
    shown = _more(tuple(lines[: _LINES + 1]), len(lines) + max(added - _LINES, 0) + max(gone - _LINES, 0))
    return MessageDiff(f"{' '.join(parts)} since call {previous:,}", " ".join(parts), shown)


def _more(lines: tuple[tuple[str, str, Pieces], ...], total: int) -> tuple[tuple[str, str, Pieces], ...]:
    hidden = total - len(lines)
    return (*lines, ("…", "", (Piece("dim", f"{count(hidden, 'message')} more"),))) if hidden > 0 else lines


def _same_line(before: Sequence[Any], same: int, previous: int) -> tuple[str, str, Pieces]:
    return ("=", ", ".join(_roles(before[:same])), (Piece("dim", f"{count(same, 'message')} as in call {previous:,}"),))


def _common(a: Sequence[Any], b: Sequence[Any]) -> int:
    n = 0
    for x, y in zip(a, b, strict=False):
        if x is not y and x != y:
            break
        n += 1
    return n


def _roles(messages: Iterable[Any], limit: int = 4) -> list[str]:
    roles = [_role(m) for m in messages]
    return roles if len(roles) <= limit else [*roles[: limit - 1], f"… {len(roles) - limit + 1:,} more"]


def _role(message: Any) -> str:
    return words(mapping(message).get("role"), 40) or "message"


def _what(message: Any) -> Pieces:
    record = mapping(message)
    asked = _asked(record.get("tool_calls"))
    if asked:
        return (Piece("t", "asks for "), *join_names(asked))
    text = text_of(record.get("content"))
    stripped = text.strip()
    if stripped[:1] in "{[" and len(stripped) < 100_000:
        held = thaw(stripped)
        if not isinstance(held, str):
            return (Piece("code", inline(held)),)
    if text:
        return (Piece("quote", clip(" ".join(text.split()), 80)),)
    return (Piece("dim", "– no text"),)


def _asked(calls: Any) -> tuple[str, ...]:
    if not isinstance(calls, list):
        return ()
    found = (mapping(mapping(call).get("function", call)).get("name") for call in cast("list[Any]", calls))
    return tuple(words(name) for name in found if name)


def text_of(content: Any) -> str:
    """Return a message's content as text; parts that are no text are named in brackets."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [mapping(part) for part in cast("list[Any]", content)]
        said = (p["text"] if isinstance(p.get("text"), str) else f"[{words(p.get('type')) or 'part'}]" for p in parts)
        return " ".join(said)
    return "" if content is None else inline(thaw(freeze(content)))


def last_user_text(messages: Sequence[Any]) -> str:
    """Return the text of the last user message, "" where there is none."""
    last = next((m for m in reversed(messages) if _role(m) == "user"), None)
    return text_of(mapping(last).get("content"))
