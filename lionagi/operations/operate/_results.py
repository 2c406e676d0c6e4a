"""Results of operate(): runtime-only fields set by copying, and a weak link from a result to its turn."""

from __future__ import annotations

import weakref
from typing import Any

from pydantic import BaseModel

__all__ = ("enrich", "link_result", "strip_invented", "turn_of")

_RUNTIME_ONLY = "action_responses"
_turns: dict[int, tuple[weakref.ref[Any], str]] = {}


def enrich(result: Any, responses: list[Any]) -> Any:
    """Return the result with ``action_responses``: a copy of a model, the same mapping; other values as they are.

    Nothing is validated again and no field of the caller's is touched.
    """
    if isinstance(result, BaseModel):
        return result.model_copy(update={_RUNTIME_ONLY: responses})
    if isinstance(result, dict):
        result[_RUNTIME_ONLY] = responses
    return result  # pyright: ignore[reportUnknownVariableType]


def strip_invented(result: Any, generated: type[BaseModel] | None) -> Any:
    """Return a generated result without the ``action_responses`` that the model made up."""
    if generated is None or not isinstance(result, generated) or _RUNTIME_ONLY not in generated.model_fields:
        return result
    if getattr(result, _RUNTIME_ONLY, None) is None:
        return result
    return result.model_copy(update={_RUNTIME_ONLY: None})


def link_result(result: Any, turn_id: str) -> None:
    """Remember which turn a result came from, for as long as the result lives."""
    if not isinstance(result, BaseModel):
        return
    key = id(result)
    try:
        _turns[key] = (weakref.ref(result, lambda _: _turns.pop(key, None)), turn_id)
    except TypeError:
        return


def turn_of(result: Any) -> str | None:
    """Return the id of the turn that a result came from, None where it is not known."""
    entry = _turns.get(id(result))
    return entry[1] if entry is not None and entry[0]() is result else None
