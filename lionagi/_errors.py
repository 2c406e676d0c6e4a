"""The one error tree of lionagi.

    LionError
    ├── ValidationError (ValueError)           a value does not fit what was declared
    ├── NotFoundError / ExistsError            look-ups in piles, progressions and registries
    ├── ObservationError, RelationError, ResourceError
    │   └── RateLimitError
    ├── ConfigurationError (ValueError)        a setting or an argument cannot work
    │   ├── ProviderNotFoundError              no such provider is registered
    │   └── MissingExtraError (ImportError)    an optional dependency is not installed
    ├── OperationError (ValueError)            a verb was called in a way that cannot work
    │   └── ParseError                         text could not be read as the asked-for format
    │       ├── ExtractionError                no structured value was found in the text
    │       └── SchemaRejectedError            a value was found, and the schema refused it
    ├── TimeoutError (builtin TimeoutError)    a deadline passed
    ├── EmptyOutgoingContentError (ValueError) an instruction rendered to nothing
    └── ExecutionError (RuntimeError)          something ran and failed
        ├── ScriptExhaustedError               a script has no answer for this call
        ├── StaleRecordingError                a recording does not hold this prompt
        ├── RealModelCallError                 a guarded test asked a real model
        └── ProviderError                      the model's side failed
            ├── ProviderAuthError, ProviderQuotaError, ProviderContextError, ProviderCapacityError
            ├── ProviderUnsupportedModelError, ProviderSafetyError
            ├── ProviderResponseError          the answer is not what the wire format promises
            ├── ProviderConnectionError        no connection, or it broke before an answer
            ├── ProviderTimeoutError           (TimeoutError too) no answer in time
            └── ProviderStreamError            a stream ended or broke before its terminal signal

Each message says what failed, which value (its repr, at most 200 characters) and what to do. All classes pickle.
"""

from __future__ import annotations

import builtins
from typing import Any, ClassVar

__all__ = (
    "ConfigurationError",
    "EmptyOutgoingContentError",
    "ExecutionError",
    "ExistsError",
    "ExtractionError",
    "ItemExistsError",
    "ItemNotFoundError",
    "LionError",
    "MissingExtraError",
    "NotFoundError",
    "ObservationError",
    "OperationError",
    "ParseError",
    "PrimitiveJSONError",
    "ProviderAuthError",
    "ProviderCapacityError",
    "ProviderConnectionError",
    "ProviderContextError",
    "ProviderError",
    "ProviderNotFoundError",
    "ProviderQuotaError",
    "ProviderResponseError",
    "ProviderSafetyError",
    "ProviderStreamError",
    "ProviderTimeoutError",
    "ProviderUnsupportedModelError",
    "RateLimitError",
    "RealModelCallError",
    "RelationError",
    "ResourceError",
    "SchemaRejectedError",
    "ScriptExhaustedError",
    "StaleRecordingError",
    "TimeoutError",
    "ValidationError",
    "short_repr",
)


def short_repr(value: object, limit: int = 200) -> str:
    """Return ``repr(value)`` cut to ``limit`` characters, for use in an error message; it never raises.

    A value without a repr, such as an int of more digits than Python writes, is named by its type.
    """
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _rebuild(cls: type[LionError], message: str, state: dict[str, Any], cause: BaseException | None) -> LionError:
    # an OSError has a layout of its own, which the first base's __new__ may refuse to fill
    error = OSError.__new__(cls, message) if issubclass(cls, OSError) else cls.__new__(cls, message)
    error.args = (message,)
    error.__dict__.update(state)
    error.__cause__ = cause
    return error


class LionError(Exception):
    """The base of all errors of this package.

    Args:
        message: What failed, which value, what to do; the class's own words when omitted.
        details: Facts for a program, JSON-compatible where possible.
        status_code: An HTTP-like number; the class default when omitted.
        cause: The error behind this one; it becomes ``__cause__``.
    """

    default_message: ClassVar[str] = "lionagi failed"
    default_status_code: ClassVar[int] = 500

    def __init__(
        self,
        message: str | None = None,
        *,
        details: dict[str, Any] | None = None,
        status_code: int | None = None,
        cause: BaseException | None = None,
    ) -> None:
        self.message = message or self.default_message
        super().__init__(self.message)
        self.details: dict[str, Any] = details or {}
        self.status_code = status_code or self.default_status_code
        if cause is not None:
            self.__cause__ = cause

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, dict(self.__dict__), self.__cause__)

    def to_dict(self, include_cause: bool = False) -> dict[str, Any]:
        """Return ``{"error", "message", "status_code", "details"?, "cause"?}``."""
        data: dict[str, Any] = {
            "error": type(self).__name__,
            "message": self.message,
            "status_code": self.status_code,
        }
        if self.details:
            data["details"] = self.details
        if include_cause and self.__cause__ is not None:
            data["cause"] = short_repr(self.__cause__)
        return data


class ValidationError(LionError, ValueError):
    """A value does not fit what was declared (this is not pydantic's class of that name)."""

    default_message = "the value is not valid"
    default_status_code = 422


class NotFoundError(LionError):
    """No item with that id, name or position."""

    default_message = "item not found"
    default_status_code = 404


class ExistsError(LionError):
    """An item with that id or name is there already."""

    default_message = "item exists already"
    default_status_code = 409


ItemNotFoundError = NotFoundError
ItemExistsError = ExistsError


class ObservationError(LionError):
    """An observer could not be attached or reached."""


class RelationError(LionError):
    """Two items do not stand in the relation that was asked for."""


class ResourceError(LionError):
    """A resource is used up or unavailable."""

    default_status_code = 429


class RateLimitError(ResourceError):
    """A rate limit was reached; ``retry_after`` is in seconds, None where unknown."""

    def __init__(self, message: str | None = None, *, retry_after: float | None = None, **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.retry_after = retry_after


class ConfigurationError(LionError, ValueError):
    """A setting or an argument cannot work."""

    default_status_code = 400


class ProviderNotFoundError(ConfigurationError):
    """No provider of that name is registered."""

    default_status_code = 404


class MissingExtraError(ConfigurationError, ImportError):
    """An optional dependency is not installed; the message names the packages or the make target."""


class OperationError(LionError, ValueError):
    """A verb was called in a way that cannot work."""

    default_status_code = 400


class ParseError(OperationError):
    """Text could not be read as the asked-for format.

    ``kind`` is "extraction" or "validation"; ``validation_error`` is the schema's own error where there is one.
    """

    kind: ClassVar[str] = "extraction"
    default_status_code = 422

    def __init__(self, message: str | None = None, *, validation_error: Exception | None = None, **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.validation_error = validation_error


class PrimitiveJSONError(ParseError, TypeError):
    """The text is a JSON number, string, bool or null where an object or array was asked for."""


class ExtractionError(ParseError):
    """No structured value was found in the text."""


class SchemaRejectedError(ParseError):
    """A structured value was found, and the schema refused it."""

    kind = "validation"


class TimeoutError(LionError, builtins.TimeoutError):
    """A deadline passed."""

    default_message = "the deadline passed"
    default_status_code = 408


class EmptyOutgoingContentError(LionError, ValueError):
    """An instruction that was not empty rendered to nothing, so nothing was sent."""

    default_status_code = 400


class ExecutionError(LionError, RuntimeError):
    """Something ran and failed."""


class ScriptExhaustedError(ExecutionError):
    """A script has no answer for this call; the message says which call and what it asked.

    Attributes:
        closest: Index of the entry that came closest to being served, None where the script is empty.
        reason: Why that entry was not served.
    """

    def __init__(
        self, message: str | None = None, *, closest: int | None = None, reason: str = "", **facts: Any
    ) -> None:
        super().__init__(message, **facts)
        self.closest = closest
        self.reason = reason


class StaleRecordingError(ExecutionError):
    """A recording holds no answer for this prompt; the message shows how the prompt changed."""


class RealModelCallError(ExecutionError):
    """A test under guard asked a real model; the message names the test. Nothing was sent."""


class ProviderError(ExecutionError):
    """The model's side failed.

    Attributes:
        provider: The provider's registered name, "" where unknown.
        retry_after: Seconds that the provider asked to wait, None where it did not say.
        partial_text: The answer's text that had arrived, "" if none.
        raw: What the provider sent, scrubbed of credentials, None where nothing usable came.
        stderr_tail: The last lines that a CLI agent wrote to standard error.
        retryable: True where the same call may succeed later.
    """

    default_status_code = 502
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str | None = None,
        *,
        provider: str = "",
        retry_after: float | None = None,
        partial_text: str = "",
        raw: Any = None,
        stderr_tail: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(message, **kwargs)
        self.provider = provider
        self.retry_after = retry_after
        self.partial_text = partial_text
        self.raw = raw
        self.stderr_tail = stderr_tail


class ProviderAuthError(ProviderError):
    """The provider refused the credentials."""

    default_status_code = 401


class ProviderQuotaError(ProviderError):
    """The provider's limit or quota is used up."""

    default_status_code = 429
    retryable = True


class ProviderContextError(ProviderError):
    """The request does not fit the model's context window."""

    default_status_code = 400


class ProviderCapacityError(ProviderError):
    """The provider is overloaded or failed on its own side."""

    default_status_code = 503
    retryable = True


class ProviderUnsupportedModelError(ProviderError):
    """The provider does not serve that model."""

    default_status_code = 404


class ProviderSafetyError(ProviderError):
    """The provider or the model refused the request."""

    default_status_code = 400


class ProviderResponseError(ProviderError):
    """The answer is not what the wire format promises: not JSON, no choices, too large."""


class ProviderConnectionError(ProviderError):
    """No connection to the provider, or it broke before an answer."""

    default_status_code = 503
    retryable = True


class ProviderTimeoutError(ProviderError, builtins.TimeoutError):
    """The provider gave no answer in time."""

    default_status_code = 408


class ProviderStreamError(ProviderError):
    """A stream ended or broke before its terminal signal; ``partial_text`` holds what had arrived."""
