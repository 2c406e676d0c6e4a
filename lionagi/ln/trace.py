"""What one call did, stage by stage: a tree of spans, kept only while somebody traces.

    with trace() as seen:
        await branch.operate(...)
    print(seen.outline())

Code under trace writes ``with span("parse", attempt=1) as step: …`` and, where it stops early, ``note("why")``. When
nobody traces, ``span`` hands out one shared object that does nothing. Spans follow awaits, tasks and threads started
through :mod:`lionagi.ln.threads`. A generator that yields within a stage takes :func:`stream_span`: in the block of a
plain span its consumer's spans would nest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

from lionagi import ln
from lionagi.ln.types.records import Record

__all__ = ("Span", "StreamSpan", "Trace", "is_tracing", "note", "set_trace_sink", "span", "stream_span", "trace")

_REASON_LIMIT = 200


@dataclass(slots=True, repr=False, eq=False)
class Span(Record):
    """One stage of a call.

    Attributes:
        name: The stage, e.g. "parse".
        attributes: Plain values that describe it.
        start: Seconds from the start of the trace.
        duration: Seconds, 0.0 while the stage runs.
        status: How it ended; "open" while it runs.
        reason: Why it ended early or failed, in words; None where there is nothing to say.
        children: The stages inside it, in the order in which they started.
        content: What was said: messages, answer, arguments, output. The objects themselves, apart from the attributes,
            so that nothing of it is written anywhere unless somebody asks for it.
    """

    name: str
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    start: float = 0.0
    duration: float = 0.0
    status: Literal["open", "ok", "error", "cancelled"] = "open"
    reason: str | None = None
    children: list[Span] = field(default_factory=list["Span"])
    content: dict[str, Any] | None = None

    def set(self, **attributes: Any) -> None:
        """Add attributes that became known while the stage ran."""
        self.attributes.update(attributes)

    def note(self, reason: str) -> None:
        """Say why the stage ends as it does."""
        self.reason = reason

    def keep(self, **content: Any) -> None:
        """Hold on to what was said."""
        self.content = {**(self.content or {}), **content}

    def walk(self) -> Iterator[Span]:
        """Yield this span and all spans inside it, each before its children."""
        return (each for _, each in _walk([self]))


@dataclass(slots=True, repr=False, eq=False)
class Trace(Record):
    """The spans of one traced block; it pickles when the attributes do.

    Attributes:
        spans: The outermost spans, in the order in which they started.
        started_at: Seconds since the epoch.
    """

    spans: list[Span] = field(default_factory=list[Span])
    started_at: float = 0.0

    def walk(self) -> Iterator[Span]:
        """Yield every span, each before its children."""
        return (each for _, each in _walk(self.spans))

    def find(self, name: str) -> list[Span]:
        """Return every span of that name, in the order of :meth:`walk`."""
        return [each for each in self.walk() if each.name == name]

    def outline(self) -> str:
        """Return the tree as text without times: ``name``, ``[status]`` unless ok, ``: reason`` where given."""
        return "\n".join("  " * depth + _title(each) for depth, each in _walk(self.spans))

    def to_otel(self, tracer_provider: Any = None, *, content: bool = False) -> None:
        """Export the spans to OpenTelemetry, by the GenAI conventions: ``chat {model}``, ``execute_tool {tool}`` …

        Each has the start and end of the real stage. The outermost ones join the span that is current in
        OpenTelemetry, if any.

        Args:
            tracer_provider: Where they go; the global provider when None (without an SDK behind it that drops them).
            content: Whether messages, answers, tool arguments and outputs are exported too.

        Raises:
            MissingExtraError: The OpenTelemetry packages are not installed.
        """
        ln.export_trace(self, tracer_provider, content=content)


def _walk(spans: list[Span]) -> Iterator[tuple[int, Span]]:
    stack = [(0, each) for each in reversed(spans)]
    while stack:
        depth, each = stack.pop()
        yield depth, each
        stack.extend((depth + 1, child) for child in reversed(each.children))


def _title(each: Span) -> str:
    status = "" if each.status == "ok" else f" [{each.status}]"
    return f"{each.name}{status}" + (f": {each.reason}" if each.reason else "")


class _Scope:
    """The place where new spans go: a list of siblings and the zero of time."""

    __slots__ = ("siblings", "span", "zero")

    def __init__(self, siblings: list[Span], span: Span | None, zero: float) -> None:
        self.siblings = siblings
        self.span = span
        self.zero = zero


class _NullSpan(Span):
    """The span nobody looks at: noting and setting do nothing."""

    __slots__ = ()

    def set(self, **attributes: Any) -> None: ...

    def note(self, reason: str) -> None: ...

    def keep(self, **content: Any) -> None: ...


_current: ContextVar[_Scope | None] = ContextVar("lionagi_trace", default=None)
# The library's own context manager: one span that nobody looks at costs one call of ours, not three.
_NULL: nullcontext[Span] = nullcontext(_NullSpan(name="", status="ok"))
_sink: Callable[[Trace], None] | None = None


class _OpenSpan:
    """Puts a span into the tree while its block runs."""

    __slots__ = ("_attributes", "_name", "_owned", "_scope", "_token")

    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        self._name = name
        self._attributes = attributes
        self._owned: Trace | None = None

    def __enter__(self) -> Span:
        opened = self._open(_current.get())
        self._token: Token[_Scope | None] = _current.set(self._scope)
        return opened

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._close(error)
        _restore(self._token)
        if self._owned is not None:
            _deliver(self._owned)

    def _open(self, parent: _Scope | None) -> Span:
        if parent is None:
            self._owned = Trace(started_at=time.time())
            parent = _Scope(self._owned.spans, None, time.perf_counter())
        opened = Span(self._name, self._attributes, time.perf_counter() - parent.zero)
        parent.siblings.append(opened)
        self._scope = _Scope(opened.children, opened, parent.zero)
        return opened

    def _close(self, error: BaseException | None) -> None:
        opened = self._scope.span
        assert opened is not None
        opened.duration = time.perf_counter() - self._scope.zero - opened.start
        opened.status = _status(error)
        if error is not None:
            opened.attributes["error"] = type(error).__name__
            opened.reason = opened.reason or _words(error)


class StreamSpan(_OpenSpan):
    """A stage that yields: it stands in the tree, and its block's consumer does not nest in it.

    Attributes:
        span: The stage itself.
    """

    __slots__ = ("_parent", "span")

    def __init__(self, name: str, attributes: dict[str, Any], parent: StreamSpan | None) -> None:
        super().__init__(name, attributes)
        self._parent = parent

    def __enter__(self) -> StreamSpan:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.span = self._open(self._parent._scope if self._parent is not None else _current.get())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._close(error)
        if self._owned is not None:
            _deliver(self._owned)

    @contextmanager
    def inside(self) -> Generator[None]:
        """Let the spans of the block nest in this stage; the block must not yield."""
        token = _current.set(self._scope)
        try:
            yield
        finally:
            _current.reset(token)


class _NullStreamSpan(StreamSpan):
    """The stage nobody looks at."""

    __slots__ = ()

    def __init__(self) -> None:
        self.span = _NullSpan(name="", status="ok")

    def inside(self) -> nullcontext[None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _NO_BLOCK


_NO_BLOCK: nullcontext[None] = nullcontext()
_NULL_STREAM: nullcontext[StreamSpan] = nullcontext(_NullStreamSpan())


def _words(error: BaseException) -> str:
    if isinstance(error, GeneratorExit):
        return "its reader stopped before the end"
    return f"{type(error).__name__}: {error}".removesuffix(": ")[:_REASON_LIMIT]


def _status(error: BaseException | None) -> Literal["ok", "error", "cancelled"]:
    import asyncio

    if error is None:
        return "ok"
    return "cancelled" if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | GeneratorExit) else "error"


def _restore(token: Token[_Scope | None]) -> None:
    try:
        _current.reset(token)
    except ValueError:
        # A generator that is closed from another task ends its span there; that task's own scope stays untouched.
        return


def _deliver(finished: Trace) -> None:
    sink = _sink
    if sink is not None:
        sink(finished)


def span(name: str, /, **attributes: Any) -> _OpenSpan | nullcontext[Span]:
    """Return a context manager that records one stage; ``as`` gives its :class:`Span`.

    Where nobody traces it is one shared object, and setting or noting on it does nothing.
    """
    if _current.get() is None and _sink is None:
        return _NULL
    return _OpenSpan(name, attributes)


def stream_span(
    name: str, parent: StreamSpan | None = None, /, **attributes: Any
) -> StreamSpan | nullcontext[StreamSpan]:
    """Return a context manager that records a stage of a generator; ``as`` gives the :class:`StreamSpan`.

    Where nobody traces it is one shared object that does nothing.

    Args:
        name: The stage.
        parent: The stage it belongs to; where None, the span that is open at the first step of the generator.
        **attributes: Plain values that describe it.
    """
    if (_current.get() is None and _sink is None) if parent is None else not parent.span.name:
        return _NULL_STREAM
    return StreamSpan(name, attributes, parent)


def note(reason: str) -> None:
    """Say, on the innermost open span, why it ends as it does; nothing happens where nobody traces."""
    scope = _current.get()
    if scope is not None and scope.span is not None:
        scope.span.note(reason)


def is_tracing() -> bool:
    """Return whether a span opened here would be kept; for attributes that are costly to compute."""
    return _current.get() is not None or _sink is not None


@contextmanager
def trace(branch: Any = None) -> Generator[Trace, None, None]:
    """Collect the spans of the block. A trace inside a trace takes its block's spans for itself.

    Args:
        branch: Id of a branch; only what its verbs did is kept. None keeps everything.
    """
    outer = _current.get()
    collected = Trace(started_at=time.time())
    token = _current.set(_Scope(collected.spans, None, time.perf_counter()))
    try:
        yield collected
    finally:
        _restore(token)
        if branch is not None:
            collected.spans[:] = [each for each in collected.spans if each.attributes.get("branch") == branch]
        if outer is None:
            _deliver(collected)


def set_trace_sink(sink: Callable[[Trace], None] | None) -> Callable[[Trace], None] | None:
    """Trace everything in this process and hand each finished outermost trace to ``sink``; None stops it.

    A span outside any :func:`trace` block then makes a trace of its own. Returns the sink that was set before.
    """
    global _sink
    previous, _sink = _sink, sink
    return previous
