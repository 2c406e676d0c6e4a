"""Signatures of tools: the parameters that a model can give, with their types."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, ForwardRef, Literal, NamedTuple, cast, get_args, get_type_hints

from lionagi._errors import ValidationError, short_repr

__all__ = ("EMPTY", "Signature", "SignatureParameter", "bare_function", "read_signature", "tool_name")

EMPTY = inspect.Parameter.empty
_NAMED_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


class SignatureParameter(NamedTuple):
    """One parameter that a model can give by name.

    Attributes:
        name: Its name.
        annotation: Its type, ``inspect.Parameter.empty`` where there is none.
        default: Its default, ``inspect.Parameter.empty`` where it is required.
        positional_only: Whether it must be passed by position.
    """

    name: str
    annotation: Any
    default: Any
    positional_only: bool

    @property
    def required(self) -> bool:
        """Whether a call needs it."""
        return self.default is EMPTY


class Signature(NamedTuple):
    """What a model can pass to a function.

    Attributes:
        parameters: In order, without ``*args``, ``**kwargs`` and the keywords that a partial has bound.
        extra: The annotation of ``**kwargs`` (``Any`` where it has none), None where unknown names are errors.
    """

    parameters: tuple[SignatureParameter, ...]
    extra: Any = None


def read_signature(function: Callable[..., Any]) -> Signature:
    """Return a function's signature with its annotations as types, postponed ones included.

    Names in postponed annotations are looked up in the function's closure and module and, for functions defined
    inside others, in the frames that are running now.

    Raises:
        ValidationError: A name in an annotation means nothing, or the callable has no signature.
    """
    try:
        signature = inspect.signature(cast("Any", function))
    except (TypeError, ValueError) as error:
        raise ValidationError(
            f"the signature of {short_repr(function)} cannot be read: {error}; wrap it in a function", cause=error
        ) from error
    bound: dict[str, Any] = cast("Any", function).keywords if isinstance(function, functools.partial) else {}
    named = [p for p in signature.parameters.values() if p.kind in _NAMED_KINDS and p.name not in bound]
    extras = [p for p in signature.parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    hints = _hints(cast("Any", function), [*named, *extras])
    return Signature(
        tuple(
            SignatureParameter(p.name, hints.get(p.name, EMPTY), p.default, p.kind is inspect.Parameter.POSITIONAL_ONLY)
            for p in named
        ),
        hints.get(extras[0].name, Any) if extras else None,
    )


def _hints(function: Callable[..., Any], parameters: list[inspect.Parameter]) -> dict[str, Any]:
    written = {p.name: p.annotation for p in parameters if p.annotation is not EMPTY}
    if not any(_is_postponed(annotation) for annotation in written.values()):
        return written
    base: Any = inspect.unwrap(bare_function(function))
    try:
        return get_type_hints(
            types.SimpleNamespace(__annotations__=written),
            globalns=getattr(base, "__globals__", {}),
            localns=_Names(base),
            include_extras=True,
        )
    except NameError as error:
        raise ValidationError(
            f"an annotation of {tool_name(function)}() names {error.name!r}, which is not defined at run time; import "
            "it where the function is defined, outside of TYPE_CHECKING",
            cause=error,
        ) from error


def _is_postponed(annotation: Any) -> bool:
    return isinstance(annotation, (str, ForwardRef)) or any(
        _is_postponed(part) for part in get_args(annotation) if not isinstance(part, str) or not _is_literal(annotation)
    )


def _is_literal(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) is Literal or hasattr(annotation, "__metadata__")


def bare_function(function: Callable[..., Any]) -> Any:
    """Return the function behind partials and bound methods."""
    bare: Any = function
    while isinstance(bare, functools.partial):
        bare = cast("Any", bare).func
    return getattr(bare, "__func__", bare)


class _Names(dict[str, Any]):
    """Names for evaluating annotations: closure, then module (left to the caller), then the running frames."""

    def __init__(self, function: Any) -> None:
        cells: tuple[Any, ...] = getattr(function, "__closure__", None) or ()
        names: tuple[str, ...] = function.__code__.co_freevars if cells else ()
        super().__init__({name: cell.cell_contents for name, cell in zip(names, cells, strict=True) if _filled(cell)})
        self._globals: dict[str, Any] = getattr(function, "__globals__", {})

    def __missing__(self, name: str) -> Any:
        if name in self._globals:
            return self._globals[name]
        for frame in _frames():
            if name in frame.f_locals:
                return frame.f_locals[name]
        raise KeyError(name)


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _frames() -> Iterator[types.FrameType]:
    frame: types.FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_globals.get("__name__") != __name__:
            yield frame
        frame = frame.f_back


def tool_name(function: Callable[..., Any]) -> str:
    """Return the name a callable has as a tool; a partial has its function's."""
    name = getattr(bare_function(function), "__name__", None)
    if not isinstance(name, str):
        raise ValidationError(f"Function must have a name, which {short_repr(function)} has not; wrap it in a function")
    return name
