"""One tool request on its way: selection, arguments, authorization, the run, and how it ended."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import uuid4

from pydantic import BaseModel

from lionagi._errors import NotFoundError, ValidationError, short_repr
from lionagi.ln.trace import span
from lionagi.operations._records import error_record
from lionagi.operations.act._gate import last_decision
from lionagi.operations.act._hooks import ask_hooks, tell_hooks
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.control import ToolInvocation
from lionagi.protocols.messages.action_request import ActionRequest

if TYPE_CHECKING:
    from lionagi.ln.trace import Span
    from lionagi.operations.types import ActionParam
    from lionagi.session.branch import Branch

__all__ = ("Outcome", "ToolRequest", "read_request")

Status = Literal["ok", "error", "timeout", "denied", "refused", "cancelled"]


@dataclass(slots=True, eq=False, repr=False)
class Outcome:
    """How one attempt ended.

    ``output`` is the tool's own object when ``status`` is "ok", else ``{"error", "message"}``. ``late`` fills when a
    function that could not be stopped ends after its call had.
    """

    status: Status
    output: Any
    reason: str | None = None
    decided_by: str = "selection"
    error: BaseException | None = None
    started_at: float = 0.0
    duration: float = 0.0
    late: dict[str, Any] | None = None

    @classmethod
    def refusal(cls, status: Status, word: str, reason: str, by: str, error: Exception | None = None) -> Outcome:
        """Return an outcome in which the tool was not entered."""
        return cls(status, {"error": word, "message": reason}, reason, by, error)

    def describe(self, call: ToolRequest, step: Span) -> None:
        """Write down in the trace how the attempt ended and, apart from that, what went in and came out."""
        step.set(status=self.status, decided_by=self.decided_by)
        step.keep(arguments=call.shown, output=self.output)
        if self.error is not None:
            step.set(error=type(self.error).__name__)
        if self.status != "ok":
            step.note(f"tool {call.function!r} {self.status}: {self.reason}")

    @classmethod
    def failure(cls, error: BaseException, by: str) -> Outcome:
        """Return an outcome in which the tool raised or its arguments were refused."""
        message = str(error) or type(error).__name__
        return cls("error", {"error": type(error).__name__, "message": message}, message, by, error)


def read_request(request: Any) -> tuple[str | None, Any]:
    """Return function and arguments of a request; ValueError for anything that is neither a mapping nor a model."""
    if isinstance(request, ActionRequest):
        return request.function, request.arguments
    if isinstance(request, BaseModel):
        return getattr(request, "function", None), getattr(request, "arguments", None)
    if isinstance(request, Mapping):
        return request.get("function"), request.get("arguments")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    raise ValueError(
        "action_request must be a mapping with 'function' and 'arguments', an ActionRequest, or a model with both; "
        f"got {short_repr(request)}."
    )


@dataclass(slots=True, eq=False, repr=False)
class ToolRequest:
    """One accepted request and its attempts."""

    function: str | None
    arguments: Any
    attempts: list[Outcome] = field(default_factory=list[Outcome])
    tool: Tool | None = None
    executed: dict[str, Any] | None = None
    value: Any = None
    late: dict[str, Any] | None = None
    call_id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments as asked for; empty where that is no mapping."""
        arguments: Any = self.arguments
        return cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}

    @property
    def shown(self) -> dict[str, Any]:
        """The arguments as executed, else as asked for."""
        if self.executed is not None:
            return self.executed
        return self.asked

    @property
    def outcome(self) -> Outcome:
        """The last attempt; "cancelled" where there was none."""
        if self.attempts:
            return self.attempts[-1]
        return Outcome.refusal("cancelled", "cancelled", "The turn was cancelled before the tool ran.", "cancellation")

    async def attempt(self, branch: Branch, param: ActionParam, selected: frozenset[str] | None) -> Outcome:
        """Go the whole road once and keep how it ended."""
        import asyncio

        clock = branch.chat_model.clock
        started_at, zero = clock.time(), clock.monotonic()
        with span("tool", function=self.function, call_id=self.call_id) as step:
            try:
                outcome = await self._go(branch, param, selected)
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    self._keep(
                        Outcome.refusal("cancelled", "cancelled", "The turn was cancelled.", "cancellation"),
                        started_at,
                        clock.monotonic() - zero,
                    )
                    raise
                outcome = Outcome.failure(error, "tool")
            if step.name:  # nothing is done where nobody traces
                outcome.describe(self, step)
        return self._keep(outcome, started_at, clock.monotonic() - zero)

    def _keep(self, outcome: Outcome, started_at: float, duration: float) -> Outcome:
        outcome.started_at, outcome.duration = started_at, duration
        if outcome.status in ("timeout", "cancelled"):
            outcome.late = self.late
        self.attempts.append(outcome)
        return outcome

    async def _go(self, branch: Branch, param: ActionParam, selected: frozenset[str] | None) -> Outcome:
        refused = self._select(branch, selected)
        if refused is not None or self.tool is None:
            return refused or Outcome.failure(NotFoundError("no tool"), "selection")
        try:
            arguments = self.tool.validate_arguments(self.arguments)
        except ValidationError as error:
            return Outcome.failure(error, "arguments")
        self.executed = arguments
        denied, by = await self._authorize(branch, arguments)
        hooks = branch.hooks
        if denied is None and hooks is not None:
            denied = await ask_hooks(hooks, self.function or "", self.shown, self.call_id)
        if denied is not None:
            return Outcome.refusal("denied", "denied", *denied)
        outcome = await self._run(self.tool, self.shown, self.tool.timeout or param.tool_timeout, by)
        if hooks is not None:
            await tell_hooks(hooks, self.function or "", self.call_id, outcome.output, outcome.error)
        return outcome

    def _select(self, branch: Branch, selected: frozenset[str] | None) -> Outcome | None:
        """Find the tool, or return why this request has none."""
        name = self.function
        if selected is not None and name not in selected:
            offered = ", ".join(sorted(selected)) or "none"
            return Outcome.refusal(
                "denied", "denied", f"Tool {name!r} is not selected in this call (selected: {offered}).", "selection"
            )
        tool = branch.acts.registry.get(name) if isinstance(name, str) else None
        if tool is None:
            known = ", ".join(sorted(branch.acts.registry)) or "none"
            return Outcome.failure(
                ValidationError(f"Function {short_repr(name)} is not registered (registered: {known})."), "selection"
            )
        self.tool = tool
        return None

    async def _authorize(self, branch: Branch, arguments: dict[str, Any]) -> tuple[tuple[str, str] | None, str]:
        """Ask the branch; the gate sees a copy, and another one is kept, so that what was shown is what runs."""
        last_decision.set(None)
        shown = dict(arguments)
        if branch.is_gated:
            try:
                shown, self.executed = copy.deepcopy(arguments), copy.deepcopy(arguments)
            except Exception as error:
                return (f"the arguments cannot be copied for the gate: {error}", "gate"), "gate"
        with span("authorize", function=self.function) as step:
            allowed = await branch.authorize(ToolInvocation(self.function or "", shown, branch_id=str(branch.id)))
            decision = last_decision.get()
            by = decision.by if decision is not None else "no gate"
            if allowed:
                return None, by
            reason = (decision.reason if decision is not None else None) or "denied by governance gate"
            step.note(f"denied by {by}: {reason}")
        return (reason, by), by

    async def _run(self, tool: Tool, arguments: dict[str, Any], timeout: float | None, by: str) -> Outcome:
        import asyncio

        late = self.late = {}

        def came_late(result: Any, error: BaseException | None) -> None:
            late.update({"output": result} if error is None else {"error": error_record(error)})

        scope = asyncio.timeout(timeout)
        try:
            async with scope:
                output = await tool.call(arguments, on_late=came_late)
        except TimeoutError as error:
            if scope.expired():
                return Outcome.refusal("timeout", "timeout", f"No answer in {timeout:g} s.", by, error)
            return Outcome.failure(error, by)
        except Exception as error:
            return Outcome.failure(error, by)
        return Outcome("ok", output, None, by)
