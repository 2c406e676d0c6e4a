"""FunctionCalling: one call of a tool as an event."""

import builtins
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field

from lionagi._errors import TimeoutError, ValidationError, short_repr
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.generic.event import Event

__all__ = ("FunctionCalling",)


class FunctionCalling(Event):
    """One call of a tool. Its arguments are checked when it is made, so that what is approved is what runs.

    Args:
        func_tool: The tool.
        arguments: By parameter name, or a model, whose set fields count.
        timeout: Seconds that the call may take; the tool's own limit holds as well.
        on_late: Called with (result, error) when a synchronous function ends after its deadline.

    Raises:
        ValidationError: The arguments do not fit; nothing has run.
    """

    func_tool: Tool = Field(exclude=True)
    arguments: dict[str, Any]
    timeout: float | None = Field(default=None, gt=0)
    on_late: Callable[[Any, BaseException | None], object] | None = Field(default=None, exclude=True)

    def __init__(self, *, func_tool: Tool, arguments: Any, **fields: Any) -> None:
        if not isinstance(func_tool, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValidationError(f"func_tool must be a Tool, not {short_repr(func_tool)}")
        if isinstance(arguments, BaseModel):
            arguments = arguments.model_dump(exclude_unset=True)
        fields.update(func_tool=func_tool, arguments=func_tool.validate_arguments(arguments))
        super().__init__(**fields)

    @property
    def function(self) -> str:
        """The tool's name."""
        return self.func_tool.function

    @property
    def request(self) -> dict[str, Any]:
        """``{"function", "arguments"}``."""
        return {"function": self.function, "arguments": self.arguments}

    @property
    def deadline(self) -> float | None:
        """The seconds that the call may take: the smaller of its own and the tool's limit, None for no limit."""
        limits = [limit for limit in (self.timeout, self.func_tool.timeout) if limit is not None]
        return min(limits, default=None)

    async def _invoke(self) -> Any:
        limit = self.deadline
        return await (self.func_tool.call(self.arguments) if limit is None else self._within(limit))

    async def _within(self, seconds: float) -> Any:
        import asyncio

        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                return await self.func_tool.call(self.arguments, on_late=self.on_late)
        except builtins.TimeoutError as error:
            if not scope.expired():
                raise  # the function's own
            raise TimeoutError(f"tool {self.function!r} passed its deadline of {seconds:g} s") from error

    def _dump(self, mode: Any) -> dict[str, Any]:
        data = super()._dump(mode)
        data["function"] = self.function
        return data
