"""From model classes and results to the rows of the schema view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lionagi_nb._format import count, size
from lionagi_nb._json import byte_size, freeze, inline, thaw
from lionagi_nb._pieces import Piece, Pieces, join_names, separator

from .words import Schema, constraint_words, default_pieces, listed, resolve, type_words

__all__ = ("FieldRow", "ValueRow", "class_subject", "field_rows", "value_rows")

_REASON = ("reason",)
_ACTIONS = ("action_required", "action_requests")
_RUNTIME = ("action_responses",)
_SIMPLE = (list, dict, set, tuple, frozenset, str)


@dataclass(frozen=True)
class FieldRow:
    """A field before a run. `request` is required, optional or hidden; `response` is model or runtime."""

    field: str
    type: str
    constraints: Pieces
    request: str
    response: str
    added: str


@dataclass(frozen=True)
class ValueRow:
    """A field after a run: its value on one line, its size where it is long, and who produced it."""

    field: str
    value: str
    frozen: str
    amount: str
    produced: str
    note: str


def field_rows(
    response: type[BaseModel], own: Sequence[str], request_schema: Schema, tools: Sequence[str]
) -> tuple[FieldRow, ...]:
    """Return a row for each field of the response class.

    Args:
        response: The class of the result.
        own: Names of the caller's fields.
        request_schema: The JSON schema that the model is asked to fill; it decides what is required and what is hidden.
        tools: Names of the tools on offer.
    """
    full = _json_schema(response)
    defs = cast("Schema", full.get("$defs", {}))
    asked = cast("Schema", request_schema.get("properties", {}))
    required = cast("Sequence[str]", request_schema.get("required", ()))
    rows: list[FieldRow] = []
    for name, info in response.model_fields.items():
        key = info.alias or name
        hidden = name in _RUNTIME and key not in asked and name not in own
        prop = cast("Schema", cast("Schema", full.get("properties", {})).get(key, {}))
        sent = cast("Schema", asked.get(key, {}))
        request = "hidden" if hidden else "required" if key in required else "optional"
        said = _generated(name, sent, tools) if name not in own else ()
        rows.append(
            FieldRow(
                name,
                _type(name, info, own),
                said or _constraints(info, resolve(prop, defs)),
                request,
                "runtime" if hidden else "model",
                _added(name, own),
            )
        )
    return tuple(rows)


def _json_schema(model: type[BaseModel]) -> Schema:
    try:
        return model.model_json_schema()
    except Exception:  # a type that JSON schema cannot say; the rows still show what is known
        return {}


def _type(name: str, info: FieldInfo, own: Sequence[str]) -> str:
    said = type_words(info.annotation)
    generated = name in (*_ACTIONS, *_RUNTIME) and name not in own
    return said.removesuffix(" | None") if generated and said.startswith("list[") else said


def _added(name: str, own: Sequence[str]) -> str:
    if name in own:
        return "you"
    if name in _REASON:
        return "reason=True"
    if name in _ACTIONS:
        return "actions=True"
    return "runtime" if name in _RUNTIME else "field_models"


def _generated(name: str, sent: Schema, tools: Sequence[str]) -> Pieces:
    if name in _RUNTIME:
        return (Piece("t", "filled after the tools ran; a value the model invents is dropped"),)
    if name != "action_requests":
        return ()
    named = (Piece("t", "tools: "), *join_names(tuple(tools), "t")) if tools else (Piece("t", "the tools of the call"),)
    most = sent.get("maxItems") if tools else None
    return (*named, separator("; "), Piece("dim", f"{f'at most {most}, ' if most is not None else ''}may be empty"))


def _constraints(info: FieldInfo, prop: Schema) -> Pieces:
    fragments: list[Pieces] = [(Piece("t", words),) for words in constraint_words(prop)]
    if info.is_required():
        return listed(fragments)
    factory = info.default_factory
    if factory is None:
        fragments.append(default_pieces(_jsonable(info.default)))
    elif factory in _SIMPLE:
        fragments.append(default_pieces(_jsonable(cast("Any", factory)())))
    else:
        name = getattr(factory, "__name__", "a function")
        fragments.append((Piece("dim", "default made by "), Piece("code", str(name))))
    return listed(fragments)


def _jsonable(value: Any) -> Any:
    return thaw(freeze(value))


def class_subject(model: type[BaseModel]) -> str:
    """Return the caller's own class name, also for the classes that are generated from it."""
    for suffix in ("Response", "Request"):
        base = model.__name__.removesuffix(suffix)
        if base != model.__name__ and any(parent.__name__ == base for parent in model.__mro__):
            return base
    return model.__name__


def value_rows(result: BaseModel) -> tuple[tuple[ValueRow, ...], tuple[ValueRow, ...]]:
    """Return the rows of a result, and apart the generated fields that hold their default."""
    shown: list[ValueRow] = []
    apart: list[ValueRow] = []
    present = result.model_fields_set
    for name in type(result).model_fields:
        row = _value(name, getattr(result, name, None), name in present)
        idle = row.produced == "default" and name in (*_REASON, *_ACTIONS, *_RUNTIME)
        (apart if idle else shown).append(row)
    return tuple(shown), tuple(apart)


def _value(name: str, value: Any, given: bool) -> ValueRow:
    frozen = freeze(value)
    produced = (
        "default" if not given or (name in _RUNTIME and not value) else "runtime" if name in _RUNTIME else "model"
    )
    note = "the model left it out" if produced == "default" else ""
    held = thaw(frozen)
    amount = ""
    text = inline(held)
    if name in _RUNTIME and isinstance(held, list) and held:
        items = cast("list[Any]", held)
        text = _responses(items)
        amount = f"{count(len(items), 'item')} · {size(byte_size(frozen))}"
    elif len(frozen) > 400:
        amount = size(byte_size(frozen))
    return ValueRow(name, text, frozen, amount, produced, note)


def _responses(items: Sequence[Any]) -> str:
    names = [str(cast("Mapping[str, Any]", i).get("function") or "?") if isinstance(i, Mapping) else "?" for i in items]
    shown = [f"{name[:60]} → …" for name in names[:3]]
    return "[" + ", ".join([*shown, *([f"… {len(names) - 3:,} more"] if len(names) > 3 else [])]) + "]"
