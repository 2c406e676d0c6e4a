"""Helpers for tests: waiting, checking, making data, and small stand-ins."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast

from pydantic import BaseModel

from lionagi._errors import short_repr
from lionagi.protocols.generic.element import ID, Element
from lionagi.protocols.generic.event import Event, EventStatus

from ._async import AsyncTestHelpers

__all__ = (
    "AsyncTestHelpers",
    "IModelKwargCaptor",
    "MockClaudeCode",
    "MockElement",
    "TestDataHelpers",
    "ValidationHelpers",
)


class ValidationHelpers:
    """Checks whose AssertionError says what is wrong and shows the value."""

    @staticmethod
    def assert_valid_node(
        node: Any, expected_type: type | None = None, check_id: bool = True, check_timestamp: bool = True
    ) -> None:
        """Check an Element or Node: its class, its id, its time of creation (seconds since the epoch).

        Args:
            node: What to check.
            expected_type: The class it has to be an instance of; Element when omitted.
            check_id: Whether ``id`` must be a valid one.
            check_timestamp: Whether ``created_at`` must be a number above zero.
        """
        wanted = expected_type or Element
        _check(isinstance(node, wanted), f"a {wanted.__name__} was expected, not {short_repr(node)}")
        if check_id:
            identity = getattr(node, "id", None)
            _check(ID.is_id(identity), f"{short_repr(identity)} is not a valid id")
        if check_timestamp:
            stamp: Any = getattr(node, "created_at", None)
            number = isinstance(stamp, int | float) and not isinstance(stamp, bool)
            _check(number and stamp > 0, f"created_at is {short_repr(stamp)}, not seconds since the epoch")

    @staticmethod
    def assert_api_response_structure(
        response: Any, required_fields: Iterable[str] | None = None, check_status: bool = True
    ) -> None:
        """Check a finished call, or a response mapping.

        Args:
            response: An APICalling (its response is looked at) or a mapping.
            required_fields: Keys that the response must have.
            check_status: Whether the call must be completed, and the mapping hold no "error".
        """
        found = _response_of(response, check_status)
        _check(found is not None, "there is no response")
        missing = [name for name in required_fields or () if not _has(found, name)]
        _check(not missing, f"the response lacks {missing}: {short_repr(found)}")

    @staticmethod
    def assert_pydantic_model_valid(
        instance: Any, expected_fields: Iterable[str] | Mapping[str, Any] | None = None
    ) -> None:
        """Check that a model instance holds what its class accepts.

        Args:
            instance: A pydantic model instance.
            expected_fields: Names that it must have, or names with the values that they must have.
        """
        if not isinstance(instance, BaseModel):
            raise AssertionError(f"a pydantic model was expected, not {short_repr(instance)}")
        try:
            type(instance).model_validate(instance.model_dump(warnings=False))
        except ValueError as error:
            raise AssertionError(f"{type(instance).__name__} does not accept its own values: {error}") from error
        missing = [name for name in expected_fields or () if not hasattr(instance, name)]
        _check(not missing, f"{type(instance).__name__} has no {missing}")
        if isinstance(expected_fields, Mapping):
            for name, value in cast("Mapping[str, Any]", expected_fields).items():
                found = getattr(instance, name)
                _check(found == value, f"{name} is {short_repr(found)}, not {short_repr(value)}")

    @staticmethod
    def assert_error_handling(
        resp: Any, expected_error_type: type[BaseException] | str | None = None, expected_message_contains: str = ""
    ) -> None:
        """Check that something failed, and how.

        Args:
            resp: An exception, a failed call, or a mapping with "error" (a text, or a mapping with "type", "code" and
                "message").
            expected_error_type: The exception's class or its name; for a mapping its "type" or "code".
            expected_message_contains: A piece of the message, in any letter case.
        """
        kinds, message = _failure_of(resp)
        wanted = expected_error_type
        if isinstance(wanted, type):
            wanted = wanted.__name__
        _check(wanted is None or wanted in kinds, f"the error is one of {kinds}, not {wanted!r}: {message!r}")
        piece = expected_message_contains or ""
        _check(piece.lower() in message.lower(), f"{piece!r} is not in the error's message {message!r}")


def _check(holds: object, message: str) -> None:
    # an assert statement would be gone under python -O
    if not holds:
        raise AssertionError(message)


def _response_of(response: Any, check_status: bool) -> Any:
    if isinstance(response, Event):
        execution = response.execution
        said = f"the call is {execution.status}, not completed: {short_repr(execution.error)}"
        _check(not check_status or execution.status is EventStatus.COMPLETED, said)
        return execution.response
    if check_status and isinstance(response, Mapping):
        error = cast("Mapping[str, Any]", response).get("error")
        _check(error is None, f"the response is an error: {short_repr(error)}")
    return cast("Any", response)


def _has(response: Any, name: str) -> bool:
    return name in cast("Mapping[str, Any]", response) if isinstance(response, Mapping) else hasattr(response, name)


def _failure_of(resp: Any) -> tuple[list[str], str]:
    """Return the names under which a failure may be expected, and its message."""
    error: Any = resp
    if isinstance(resp, Event):
        error = resp.execution.error
        _check(resp.execution.status is EventStatus.FAILED, f"the call is {resp.execution.status}, not failed")
        if error is None:
            error = resp.execution.response
    if isinstance(error, BaseException):
        return [kind.__name__ for kind in type(error).__mro__[:-1]], str(error)
    if isinstance(error, Mapping):
        held = cast("Mapping[str, Any]", error).get("error")
        _check(held is not None, f"there is no error in {short_repr(resp)}")
        if isinstance(held, Mapping):
            facts = cast("Mapping[str, Any]", held)
            return [str(facts[key]) for key in ("type", "code") if key in facts], str(facts.get("message", ""))
        return [str(held)], str(cast("Mapping[str, Any]", error).get("message", held))
    _check(isinstance(error, str), f"neither an exception nor an error: {short_repr(resp)}")
    return [], error


class TestDataHelpers:
    """Makes messages and payloads as a chat API takes them."""

    __test__ = False

    @staticmethod
    def create_test_messages(
        count: int = 3, message_type: str = "user", base_content: str = "Test message"
    ) -> list[dict[str, Any]]:
        """Return ``count`` messages ``{"role", "content", "timestamp"}``, their contents numbered from 1."""
        now = time.time()
        return [
            {"role": message_type, "content": f"{base_content} {number}", "timestamp": now + number}
            for number in range(1, count + 1)
        ]

    @staticmethod
    def create_test_payload(
        model: str = "gpt-4o-mini", messages: Sequence[Mapping[str, Any]] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return ``{"model", "messages", …}``; without messages there is one from the user."""
        given = [dict(each) for each in messages] if messages is not None else [{"role": "user", "content": "Hello"}]
        return {"model": model, "messages": given, **kwargs}


class IModelKwargCaptor:
    """Stands where a model class is expected and keeps the keywords that it was made with.

    Attributes:
        captures: One mapping per instance, in order; shared by the class, so take ``fresh()`` for each test.
    """

    captures: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, **kwargs: Any) -> None:
        type(self).captures.append(kwargs)

    @classmethod
    def fresh(cls) -> type[IModelKwargCaptor]:
        """Return a subclass with an empty list of its own."""
        return type(cls.__name__, (cls,), {"captures": []})


class MockElement(Element):
    """The smallest Element that holds something: ``value``."""

    value: Any = None


class MockClaudeCode:
    """A coding agent's callable that answers by the words of the last message.

    "generate tasks" gives three research instructions, "research" two findings, anything else an echo.

    Attributes:
        call_count: How often it was called.
    """

    def __init__(self, name: str = "mock") -> None:
        self.name = name
        self.call_count = 0

    async def __call__(self, messages: Any, **kwargs: Any) -> dict[str, Any]:
        """Answer the last of ``messages``: texts, mappings with "content", or objects with ``content``."""
        self.call_count += 1
        text = _last_text(messages)
        if "generate tasks" in text.lower():
            tasks = [{"instruction": f"Research {each}", "context": f"ctx_{each.lower()}"} for each in "ABC"]
            return {"content": text, "instruct_model": tasks}
        if "research" in text.lower():
            return {"content": f"Research complete for: {text}", "findings": ["finding1", "finding2"]}
        return {"content": f"Processed: {text}"}


def _last_text(messages: Any) -> str:
    last: Any = messages
    if isinstance(messages, Sequence) and not isinstance(messages, str):
        last = cast("Sequence[Any]", messages)[-1] if messages else ""
    if isinstance(last, Mapping):
        last = cast("Mapping[str, Any]", last).get("content", "")
    return last if isinstance(last, str) else str(getattr(last, "content", last))
