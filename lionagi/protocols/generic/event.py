"""Event: an element that runs once and remembers how it went."""

import time
from collections.abc import AsyncGenerator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self, cast

from pydantic import Field, PrivateAttr
from pydantic_core import to_jsonable_python

from lionagi._errors import ExecutionError
from lionagi.ln.types import Unset, UnsetType
from lionagi.protocols.generic.element import Element

if TYPE_CHECKING:
    import asyncio

__all__ = ("Event", "EventStatus", "Execution")

_MOST_ERRORS = 100


class EventStatus(StrEnum):
    """Where an event is in its life; everything but pending and processing is terminal."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    ABORTED = "aborted"


_OPEN = (EventStatus.PENDING, EventStatus.PROCESSING)


class Execution:
    """How one run went.

    Attributes:
        status: The event's status.
        duration: Seconds from start to end, Unset before.
        response: What the run returned.
        error: The exception, None where there was none.
        retryable: Whether the same run may succeed later, Unset where nobody knows.
    """

    __slots__ = ("duration", "error", "response", "retryable", "status")

    def __init__(
        self,
        status: EventStatus = EventStatus.PENDING,
        duration: float | UnsetType = Unset,
        response: Any = None,
        error: BaseException | str | None = None,
        retryable: bool | UnsetType = Unset,
    ) -> None:
        self.status = status
        self.duration = duration
        self.response = response
        self.error: BaseException | str | None = error
        self.retryable = retryable

    def __repr__(self) -> str:
        return f"Execution(status={self.status.value!r}, duration={self.duration!r}, error={self.error!r})"

    def add_error(self, error: BaseException) -> None:
        """Record one more error: the first stands alone, later ones join it in an exception group (100 at most)."""
        held = self.error
        if not isinstance(held, BaseException):
            self.error = error
            return
        group = cast("BaseExceptionGroup[BaseException]", held) if isinstance(held, BaseExceptionGroup) else None
        errors: list[BaseException] = [held] if group is None else list(group.exceptions)
        if len(errors) < _MOST_ERRORS:
            self.error = BaseExceptionGroup("several errors", [*errors, error])

    def to_dict(self) -> dict[str, Any]:
        """Return status, duration, response, error and retryable as JSON types."""
        try:
            response = to_jsonable_python(self.response)
        except Exception:  # whatever a foreign object raises, the record of the run must be writable
            response = "<unserializable>"
        error: Any = self.error
        if isinstance(error, BaseException):
            error = {"error": type(error).__name__, "message": str(error)}
        return {
            "status": self.status.value,
            "duration": None if self.duration is Unset else self.duration,
            "response": response,
            "error": error,
            "retryable": None if self.retryable is Unset else self.retryable,
        }


class Event(Element):
    """Something that runs at most once; subclasses write ``_invoke`` and, where they stream, ``_stream``.

    ``invoke`` keeps an ordinary exception in ``execution`` instead of raising it; cancellation and exits pass through.

    Attributes:
        execution: Status, duration, response and error of the run.
        streaming: Whether the event is meant to be streamed; not part of dumps.
    """

    execution: Execution = Field(default_factory=Execution)
    streaming: bool = Field(default=False, exclude=True)
    _done: Any = PrivateAttr(default=None)

    @property
    def status(self) -> EventStatus:
        """The status of ``execution``; setting a terminal one wakes whoever waits on ``completion_event``."""
        return self.execution.status

    @status.setter
    def status(self, value: EventStatus | str) -> None:
        self.execution.status = EventStatus(value)
        if self._done is not None and self.execution.status not in _OPEN:
            self._done.set()

    @property
    def response(self) -> Any:
        """What the run returned, None before."""
        return self.execution.response

    @response.setter
    def response(self, value: Any) -> None:
        self.execution.response = value

    @property
    def request(self) -> dict[str, Any]:
        """What was asked, as facts; subclasses fill it."""
        return {}

    @property
    def completion_event(self) -> "asyncio.Event":
        """An asyncio event that is set once the status is terminal."""
        import asyncio

        if self._done is None:
            self._done = asyncio.Event()
        if self.execution.status not in _OPEN:
            self._done.set()
        return self._done

    async def invoke(self) -> None:
        """Run once; a second call does nothing. Ordinary exceptions end as status "failed", see ``execution.error``."""
        execution = self.execution
        if execution.status is not EventStatus.PENDING:
            return
        execution.status = EventStatus.PROCESSING
        start = time.perf_counter()
        try:
            execution.response = await self._invoke()
            execution.status = EventStatus.COMPLETED
        except Exception as error:
            self._fail(error)
        except BaseException as error:
            self._fail(error, EventStatus.CANCELLED)
            raise
        finally:
            execution.duration = time.perf_counter() - start
            if self._done is not None:
                self._done.set()

    async def stream(self) -> AsyncGenerator[Any, None]:
        """Run once and yield what ``_stream`` yields; a failure ends the stream and stays in ``execution``."""
        execution = self.execution
        if execution.status is not EventStatus.PENDING:
            return
        execution.status = EventStatus.PROCESSING
        start = time.perf_counter()
        try:
            async for item in self._stream():
                yield item
            execution.status = EventStatus.COMPLETED
        except Exception as error:
            self._fail(error)
        except BaseException as error:
            self._fail(error, EventStatus.CANCELLED)
            raise
        finally:
            execution.duration = time.perf_counter() - start
            if self._done is not None:
                self._done.set()

    def _fail(self, error: BaseException, status: EventStatus = EventStatus.FAILED) -> None:
        self.execution.status = status
        self.execution.error = error

    async def _invoke(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be invoked; write its _invoke()")

    def _stream(self) -> AsyncGenerator[Any, None]:
        raise NotImplementedError(f"{type(self).__name__} cannot be streamed; write its _stream()")

    def assert_completed(self) -> None:
        """Raise an ExecutionError unless the run is over and succeeded."""
        if self.execution.status is not EventStatus.COMPLETED:
            error = self.execution.error
            raise ExecutionError(
                f"{type(self).__name__} is {self.execution.status.value}, not completed: {error!r}",
                cause=error if isinstance(error, BaseException) else None,
            )

    def _dump(self, mode: Any) -> dict[str, Any]:
        data = self._dumped_fields(mode, {"execution"})
        data["execution"] = self.execution.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Not possible: what an event did cannot be restored, only read."""
        raise NotImplementedError(f"{cls.__name__} cannot be restored from a dict; read the dict or its log instead")

    def as_fresh_event(self, copy_meta: bool = False) -> Self:
        """Return the same request as a new pending event; ``metadata["original"]`` names this one."""
        fields = {name: getattr(self, name) for name in type(self).model_fields if name not in _OWN_FIELDS}
        metadata = dict(self.metadata) if copy_meta else {}
        metadata["original"] = {"id": str(self.id), "created_at": self.created_at}
        return type(self)(**fields, metadata=metadata)


_OWN_FIELDS = frozenset({"id", "created_at", "metadata", "execution"})
