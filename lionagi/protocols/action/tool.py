"""Tool: a function that a model may ask for, with its schema and the check of its arguments."""

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Self, cast
from weakref import WeakKeyDictionary

import pydantic
from pydantic import BaseModel, Field, PrivateAttr, TypeAdapter, model_validator

from lionagi._errors import ExecutionError, ValidationError, short_repr
from lionagi.ln.threads import call_in_thread
from lionagi.protocols.action.schema import adapter_of, function_to_schema
from lionagi.protocols.action.signature import EMPTY, Signature, read_signature, tool_name
from lionagi.protocols.generic.element import Element

__all__ = ("Tool",)


class _Facts:
    """What is known of a function, made once: branches come and go, their tools' functions stay."""

    __slots__ = ("adapters", "extra", "is_async", "name", "needed", "positional", "schema", "signature")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = tool_name(function)
        self.signature: Signature = read_signature(function)
        self.needed = frozenset(p.name for p in self.signature.parameters if p.required)
        self.positional = tuple(p.name for p in self.signature.parameters if p.positional_only)
        self.is_async = inspect.iscoroutinefunction(function)
        self.schema: dict[str, Any] | None = None
        self.adapters: dict[str, TypeAdapter[Any] | None] | None = None
        self.extra: TypeAdapter[Any] | None = None

    def validators(self) -> dict[str, TypeAdapter[Any] | None]:
        """Return the validator of each parameter, None where it takes anything; built at the first call."""
        if self.adapters is None:
            if self.signature.extra not in (None, Any):
                self.extra = adapter_of(self.signature.extra)
            self.adapters = {
                p.name: None if p.annotation in (EMPTY, Any) else adapter_of(p.annotation)
                for p in self.signature.parameters
            }
        return self.adapters


_facts: WeakKeyDictionary[Callable[..., Any], _Facts] = WeakKeyDictionary()


def _facts_of(function: Callable[..., Any]) -> _Facts:
    if not isinstance(function, types.FunctionType):
        return _Facts(function)
    held = _facts.get(function)
    if held is None:
        held = _facts[function] = _Facts(function)
    return held


class Tool(Element):
    """A function on offer.

    Functions, methods, partials (what they bind is hidden from the model), asynchronous functions, and functions that
    return an awaitable all work. Synchronous ones run in a thread of their own.

    Attributes:
        func_callable: The function; not part of dumps.
        mcp_config: One MCP server by name, in place of a function; see :class:`~lionagi.protocols.mcp.tool.McpTool`.
        tool_schema: ``{"type": "function", "function": {...}}``; made of the function when omitted.
        request_options: A model class that the arguments must fit, in place of the schema of the signature.
        preprocessor: Called with the arguments (and ``preprocessor_kwargs``) before the function; returns new ones.
        postprocessor: Called with the result (and ``postprocessor_kwargs``); returns what the call returns.
        strict_func_call: Whether a call must give exactly the required arguments.
        timeout: Seconds that one call may take, None for no limit of the tool's own.
    """

    func_callable: Any = Field(default=None, exclude=True)
    mcp_config: dict[str, Any] | None = None
    tool_schema: dict[str, Any] | None = None
    request_options: Any = None
    preprocessor: Any = Field(default=None, exclude=True)
    preprocessor_kwargs: dict[str, Any] = Field(default_factory=dict)
    postprocessor: Any = Field(default=None, exclude=True)
    postprocessor_kwargs: dict[str, Any] = Field(default_factory=dict)
    strict_func_call: bool = False
    timeout: float | None = Field(default=None, gt=0)
    _known: _Facts | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.mcp_config is not None:
            if self.func_callable is not None:
                raise ValueError("func_callable and mcp_config cannot both be set; give one of them")
            if len(self.mcp_config) != 1:
                raise ValueError(f"mcp_config must have exactly one entry, not {short_repr(self.mcp_config)}")
            return self
        if not callable(self.func_callable):
            raise ValueError(f"func_callable {short_repr(self.func_callable)} is not callable; give a function")
        known = self._known = _facts_of(self.func_callable)
        if self.tool_schema is None:
            self.tool_schema = self._own_schema(known)
        return self

    def _own_schema(self, known: _Facts) -> dict[str, Any]:
        if self.request_options is not None:
            return function_to_schema(self.func_callable, request_options=self.request_options)
        if known.schema is None:
            known.schema = function_to_schema(self.func_callable, signature=known.signature)
        return known.schema

    @property
    def function(self) -> str:
        """The name by which a model calls the tool."""
        return self._shown.get("name", "")

    @property
    def _shown(self) -> dict[str, Any]:
        return (self.tool_schema or {}).get("function", {})

    @property
    def required_fields(self) -> set[str]:
        """The arguments that the schema requires."""
        return set(self._shown.get("parameters", {}).get("required", ()))

    @property
    def minimum_acceptable_fields(self) -> set[str]:
        """The arguments without which the function cannot be called."""
        return set(self._known.needed) if self._known is not None else self.required_fields

    def validate_arguments(self, arguments: Any) -> dict[str, Any]:
        """Return the arguments as the function gets them: of the annotated types, models as instances.

        Values are read as pydantic reads them in its lax mode; unknown names are errors, and what is not a mapping is
        never taken for an empty one.

        Raises:
            ValidationError: The message names each argument that does not fit, and its value.
        """
        if not isinstance(arguments, dict):
            raise self._mismatch([f"they must be a mapping by parameter name, not {short_repr(arguments)}"])
        given = cast("dict[str, Any]", arguments)
        if self.request_options is not None:
            given = self._through_options(given)
        if self.strict_func_call and given.keys() != self.required_fields:
            raise self._mismatch([f"they must be exactly {sorted(self.required_fields)}, not {sorted(given)}"])
        known = self._known
        if known is None:
            return dict(given)
        problems = [f"{name!r} is missing" for name in sorted(known.needed - given.keys())]
        checked: dict[str, Any] = {}
        adapters = known.validators()
        for name, value in given.items():
            if name not in adapters and known.signature.extra is None:
                problems.append(f"{short_repr(name)} (={short_repr(value)}) is unknown; known are {sorted(adapters)}")
                continue
            adapter = adapters.get(name, known.extra)
            try:
                checked[name] = value if adapter is None else adapter.validate_python(value)
            except pydantic.ValidationError as error:
                problems.extend(_problems(name, error))
        if problems:
            raise self._mismatch(problems)
        return checked

    def _through_options(self, given: dict[str, Any]) -> dict[str, Any]:
        options: type[BaseModel] = self.request_options
        try:
            return options.model_validate(given).model_dump(exclude_unset=True)
        except pydantic.ValidationError as error:
            raise self._mismatch(_problems("", error)) from error

    def _mismatch(self, problems: list[str]) -> ValidationError:
        return ValidationError(
            f"The arguments must match the function schema of {self.function!r}: {'; '.join(problems)}"
        )

    async def call(
        self, arguments: dict[str, Any], *, on_late: Callable[[Any, BaseException | None], object] | None = None
    ) -> Any:
        """Return what the tool returns for arguments that ``validate_arguments`` returned; they are not checked again.

        The preprocessor's arguments, where there is one, are checked; it and the postprocessor are part of the tool.

        Args:
            arguments: By parameter name.
            on_late: Called with (result, error) when a synchronous function ends after this call was cancelled.

        Raises:
            ExecutionError: The function itself raised CancelledError, or the tool has no function.
        """
        import asyncio

        if self.preprocessor is not None:
            changed = self.preprocessor(arguments, **self.preprocessor_kwargs)
            arguments = self.validate_arguments(await changed if inspect.isawaitable(changed) else changed)
        try:
            result = await self._run(arguments, on_late)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise ExecutionError(f"tool {self.function!r} raised CancelledError, though nobody cancelled it") from error
        if self.postprocessor is None:
            return result
        shown = self.postprocessor(result, **self.postprocessor_kwargs)
        return await shown if inspect.isawaitable(shown) else shown

    async def _run(self, arguments: dict[str, Any], on_late: Any) -> Any:
        known = self._known
        if known is None:
            raise ExecutionError(f"tool {self.function!r} has no function to run; make it with load_mcp_tools()")
        function = self.func_callable
        if known.positional:
            arguments = dict(arguments)
            given = [name for name in known.positional if name in arguments]
            function = functools.partial(function, *[arguments.pop(name) for name in given])
        if known.is_async:
            return await function(**arguments)
        result = await call_in_thread(functools.partial(function, **arguments), on_late=on_late)
        return await result if inspect.isawaitable(result) else result

    def _dump(self, mode: Any) -> dict[str, Any]:
        data = self._dumped_fields(mode, {"request_options"})
        data["function"] = self.function
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Not possible: a function cannot be restored from its description."""
        raise NotImplementedError("a Tool cannot be restored from a dict; make it of the function again")


def _problems(name: str, error: pydantic.ValidationError) -> list[str]:
    found: list[str] = []
    for detail in error.errors(include_url=False, include_context=False):
        path = ".".join(str(part) for part in ((name,) if name else ()) + detail["loc"])
        found.append(f"{path!r}: {detail['msg']} (got {short_repr(detail['input'])})")
    return found
