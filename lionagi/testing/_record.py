"""Recording a block of code once, and replaying it for ever without the model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast, get_args

from lionagi._errors import ConfigurationError, short_repr

from ._env import ENV_RECORD_MODE
from ._player import FilePlayer
from ._recorder import CallRecorder
from ._recording import Match
from ._types import ResponseEntry

__all__ = ("RECORD_MODES", "RecordMode", "ScriptBlock", "record", "replay")

F = TypeVar("F", bound=Callable[..., Any])
RecordMode = Literal["auto", "record", "replay", "live"]
RECORD_MODES: tuple[RecordMode, ...] = get_args(RecordMode)


def record(
    path: str | Path, mode: RecordMode | None = None, *, match: Match = "prompt", mask: Iterable[str] = ()
) -> ScriptBlock:
    """Record every model call of a block into a file, which ``replay(path)`` serves in the place of the models.

    Use it with ``with``, ``async with`` or as a decorator of a function. It sees the calls of any provider, streamed
    or not, also in tasks and ``asyncio.to_thread`` calls that the block starts. The file is written once, atomically,
    at the end of the block: calls in the order of their start, credentials masked. A block without a call leaves the
    file as it was, with a UserWarning.

    Args:
        path: The file.
        mode: "record" always records, also what a failing block had asked; "replay" serves the file; "auto" serves it
            where it exists, and else records it unless the block fails; "live" does neither. When omitted, the
            environment variable LIONAGI_RECORD_MODE decides, and "record" where that is unset.
        match: How a replay finds an answer, see ``replay``.
        mask: Texts that must not be written, beside the credentials of the models and of the environment.

    Raises:
        ValueError: There is no such mode or match.
    """
    return ScriptBlock(path, mode, "record", match, mask)


def replay(path: str | Path, *, match: Match = "prompt") -> ScriptBlock:
    """Answer every model call of a block from a file, under the identity and kind of the recorded models.

    Each block starts at the file's first answer, and no model is asked. A script that was written by hand is served
    in its own order.

    Args:
        path: A file that ``record`` wrote, or a script.
        match: "prompt" serves the answer that was recorded for the same messages, schema and tools, in any order of
            calls, and a changed prompt is a StaleRecordingError that shows the difference; "position" serves each
            model's answers in their order whatever is asked, for prompts that never repeat exactly (a date, an id).

    Raises:
        FileNotFoundError: There is no such file.
        ScriptExhaustedError: More is asked than was recorded.
        StaleRecordingError: Something else is asked than was recorded.
    """
    return ScriptBlock(path, "replay", "replay", match, ())


class ScriptBlock(AbstractContextManager["ScriptBlock"]):
    """What ``record`` and ``replay`` return; as a decorator it starts anew with each call of the function.

    Attributes:
        path: The file.
        mode: What the block does, once it has begun: "record", "replay" or "live".
    """

    def __init__(
        self, path: str | Path, mode: RecordMode | None, default: RecordMode, match: Match, mask: Iterable[str]
    ) -> None:
        if match not in get_args(Match):
            raise ConfigurationError(f"match {short_repr(match)} is none of {', '.join(get_args(Match))}")
        if mode is not None:
            _check_mode(mode, "mode")
        self.path = Path(path).expanduser()
        self.mode: RecordMode = mode or default
        self._given = (mode, default, match, [mask] if isinstance(mask, str) else list(mask))
        self._inner: CallRecorder | FilePlayer | None = None

    def planned(self) -> RecordMode:
        """Return what the block would do if it began now: "record", "replay" or "live"."""
        chosen = self._chosen()
        if chosen == "auto":
            return "replay" if self.path.exists() else "record"
        return chosen

    def _chosen(self) -> RecordMode:
        mode, default, *_ = self._given
        chosen = mode or os.environ.get(ENV_RECORD_MODE) or default
        _check_mode(chosen, ENV_RECORD_MODE)
        return cast("RecordMode", chosen)

    def unused_entries(self) -> list[ResponseEntry]:
        """Return the answers that a replay has not served so far; empty in the other modes."""
        return self._inner.unused_entries() if isinstance(self._inner, FilePlayer) else []

    def __enter__(self) -> Self:
        *_, match, mask = self._given
        self.mode = self.planned()
        if self.mode == "record":
            self._inner = CallRecorder(self.path, mask, only_whole=self._chosen() == "auto")
        elif self.mode == "replay":
            if not self.path.exists():
                raise FileNotFoundError(
                    f"there is no recording {str(self.path)!r}: record it with mode 'auto' or 'record', "
                    f"as an argument or in {ENV_RECORD_MODE}"
                )
            self._inner = FilePlayer(self.path, match)
        if self._inner is not None:
            self._inner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        if self._inner is not None:
            self._inner.__exit__(kind, error, traceback)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def __call__(self, function: F) -> F:
        """Decorate a function or a coroutine function.

        Raises:
            TypeError: It is a generator function, whose code would run after the block.
        """
        if isgeneratorfunction(function) or isasyncgenfunction(function):
            raise TypeError(f"{short_repr(function)} is a generator function; use with record(…) inside it")

        def anew() -> ScriptBlock:
            return type(self)(self.path, *self._given)

        if iscoroutinefunction(function):

            @wraps(function)
            async def waiting(*args: Any, **kwargs: Any) -> Any:
                with anew():
                    return await function(*args, **kwargs)

            return cast("F", waiting)

        @wraps(function)
        def running(*args: Any, **kwargs: Any) -> Any:
            with anew():
                return function(*args, **kwargs)

        return cast("F", running)


def _check_mode(mode: str, where: str) -> None:
    if mode not in RECORD_MODES:
        raise ConfigurationError(f"{where} is {short_repr(mode)}; it must be one of {', '.join(RECORD_MODES)}")
