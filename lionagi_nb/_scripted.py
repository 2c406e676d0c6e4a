"""A scripted person: the answers that forms and approvals take instead of asking."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, cast

from lionagi._errors import ConfigurationError, short_repr

__all__ = ("ScriptedInput", "scripted_answer", "scripted_input")

_current: ScriptedInput | None = None


class ScriptedInput:
    """Answers by the name of what is asked: a tool for an approval, a title for a form.

    A list holds one answer for each time that name is asked; any other value is the answer every time. It holds from
    when it is made until another is made, or until the end of its ``with`` block, and it is asked only where no person
    can be: in a notebook with somebody in front of it, that somebody answers.
    """

    def __init__(self, answers: Mapping[str, Any]) -> None:
        global _current
        if not isinstance(answers, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"scripted_input() takes a mapping of names to answers, not {short_repr(answers)}")
        self._queues = {
            str(name): deque(cast("list[Any]", value)) if isinstance(value, list) else value
            for name, value in answers.items()
        }
        self._before, _current = _current, self

    def take(self, name: str) -> Any:
        """Return the next answer for `name`.

        Raises:
            ConfigurationError: There is no answer of that name, or its list is used up.
        """
        if name not in self._queues:
            known = ", ".join(sorted(self._queues)) or "no name at all"
            raise ConfigurationError(f"scripted_input() has no answer for {name!r}, only for {known}")
        held = self._queues[name]
        if not isinstance(held, deque):
            return held
        if not held:
            raise ConfigurationError(f"the answers of scripted_input() for {name!r} are used up; add one more")
        return cast("deque[Any]", held).popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        global _current
        _current = self._before


def scripted_input(answers: Mapping[str, Any]) -> ScriptedInput:
    """Answer where no person can: `{"refund": True, "send_reply": ["Ask first.", True], "Ticket intake": {…}}`.

    An approval takes True, False, or the reason for a no; a form takes the values of its fields.

    Raises:
        TypeError: `answers` is no mapping.
    """
    return ScriptedInput(answers)


def scripted_answer(name: str) -> tuple[bool, Any]:
    """Return (True, the answer) where a script is in force, else (False, None).

    Raises:
        ConfigurationError: A script is in force and has no answer for `name`.
    """
    return (False, None) if _current is None else (True, _current.take(name))
