"""The question as a widget; needs a front end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from lionagi.ln.hidden import split_hidden
from lionagi_nb._format import clip
from lionagi_nb._json import pretty
from lionagi_nb._markup import styles
from lionagi_nb._records import mapping, words

__all__ = ("ApprovalWidget", "question")

_SCRIPT = Path(__file__).resolve().parents[1] / "static" / "approval.js"
_VALUE = 10_000  # characters of one value; what is longer says how much is missing


class ApprovalWidget(anywidget.AnyWidget):
    """Shows the tool and its arguments, and sends ``{"kind": "answer", "allowed", "reason"}`` once."""

    _esm = _SCRIPT
    state = traitlets.Dict().tag(sync=True)

    def __repr__(self) -> str:
        return "ApprovalWidget()"


def question(function: str, arguments: dict[str, Any], seconds: float, on_answer: Callable[[bool, str], None]) -> Any:
    """Return the widget that asks; `on_answer` gets whether it was allowed and the reason that was typed."""
    rows = [_row(name, value) for name, value in arguments.items()]
    state = {"function": split_hidden(function), "rows": rows, "seconds": seconds, "css": styles("approval.css")}
    widget = ApprovalWidget(state=state)

    def receive(_: Any, content: Any, buffers: Any) -> None:
        said = mapping(content)
        if said.get("kind") == "answer":
            on_answer(said.get("allowed") is True, words(said.get("reason"), 1_000))

    widget.on_msg(receive)  # pyright: ignore[reportUnknownMemberType]
    return widget


def _row(name: str, value: Any) -> dict[str, Any]:
    text = pretty(value, _VALUE + 1)
    shown = split_hidden(text if len(text) <= _VALUE else f"{text[:_VALUE]}\n… more than {_VALUE:,} characters")
    return {"name": split_hidden(clip(name, 200)), "value": shown, "hidden": any(boxed for _, boxed in shown)}
