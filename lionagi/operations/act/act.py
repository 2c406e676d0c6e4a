"""The only road to a tool: every request of every verb, model and Middle goes through :func:`act`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from lionagi._errors import ConfigurationError
from lionagi.ln.calls import AlcallParams
from lionagi.ln.trace import span
from lionagi.operations._defaults import get_default_action_call
from lionagi.operations._records import action_pair, log_attempt
from lionagi.operations._turn import Turn, turn_for
from lionagi.operations.act._call import Outcome, ToolRequest, read_request
from lionagi.operations.fields import ActionResponseModel
from lionagi.operations.types import ActionParam

if TYPE_CHECKING:
    from lionagi.session.branch import Branch

__all__ = ("act", "prepare_act_kw", "selected_tools")


def prepare_act_kw(
    branch: Branch,
    action_request: Any,
    *,
    strategy: Literal["sequential", "concurrent"] = "concurrent",
    verbose_action: bool = False,
    suppress_errors: bool = True,
    call_params: AlcallParams | None = None,
    tool_timeout: float | None = None,
) -> dict[str, Any]:
    """Return the arguments of :func:`act` for the public call."""
    return {
        "action_request": action_request,
        "action_param": ActionParam(
            action_call_params=call_params or get_default_action_call(),
            strategy=strategy,
            suppress_errors=suppress_errors,
            verbose_action=verbose_action,
            tool_timeout=tool_timeout,
        ),
    }


async def act(
    branch: Branch, action_request: Any, action_param: ActionParam, *, turn: Turn | None = None
) -> list[ActionResponseModel]:
    """Run tool requests under authorization and return one response each, in request order.

    For each request: selection, argument validation, authorization, run. A refusal at any step ends that request
    alone. Every request leaves one audit record in ``branch.logs`` and one request/response pair in the history.

    Args:
        branch: Holds tools, gate, history and logs.
        action_request: One request or a list: mappings, ActionRequests, or models with ``function`` and ``arguments``.
        action_param: Strategy, selection, suppression, deadline and caps.
        turn: The turn that the requests belong to; when None the one whose Middle is running, else a new one.

    Returns:
        ActionResponseModels; the output of a request that did not succeed is ``{"error", "message"}``.

    Raises:
        ValueError: A request is neither a mapping nor a model; nothing ran.
        ConfigurationError: The strategy is unknown; nothing ran.
        Exception: With ``suppress_errors=False``, the first failing request's own error.
    """
    requests = cast("list[Any]", action_request) if isinstance(action_request, list) else [action_request]
    calls = [ToolRequest(*read_request(request)) for request in requests]
    if action_param.strategy not in ("concurrent", "sequential"):
        raise ConfigurationError("Invalid strategy. Choose 'concurrent' or 'sequential'.")
    if not calls:
        return []
    if turn is not None:
        await _Runner(branch, action_param, turn).go(calls)
    else:
        with span("act", branch=branch.id, branch_name=branch.name):
            turn = turn_for(branch, "act", action_param.max_tool_calls)
            await _Runner(branch, action_param, turn).go(calls)
    return [
        ActionResponseModel.model_construct(function=call.function or "", arguments=call.shown, output=call.value)
        for call in calls
    ]


def selected_tools(branch: Branch, selector: Any) -> frozenset[str] | None:
    """Return the names that a ``tools=`` selector allows, None for all."""
    if selector is None or selector is True:
        return None
    return frozenset(tool.function for tool in branch.acts.select(selector))


class _Runner:
    """Runs the requests of one turn under its caps."""

    def __init__(self, branch: Branch, param: ActionParam, turn: Turn) -> None:
        import asyncio

        self.branch = branch
        self.param = param
        self.turn = turn
        self.calls: AlcallParams = param.action_call_params or get_default_action_call()
        attempts = self.calls.retry_attempts
        self.retries = attempts if isinstance(attempts, int) else 0
        self.selected = selected_tools(branch, param.tools)
        self.slots = asyncio.Semaphore(param.max_concurrent_tools)

    async def go(self, calls: list[ToolRequest]) -> None:
        """Run the requests and record them, however that ends."""
        try:
            await self.run(calls)
        finally:
            await self.record(calls)

    async def run(self, calls: list[ToolRequest]) -> None:
        accepted = calls[: self.turn.calls_left]
        self.turn.tool_calls += len(accepted)
        for call in calls[len(accepted) :]:
            cap = self.turn.max_tool_calls
            refused = Outcome.refusal("refused", "refused", f"Past the cap of {cap} calls a turn.", "cap")
            call.attempts.append(refused)
            call.value = refused.output
            with span("tool", function=call.function, call_id=call.call_id) as step:
                refused.describe(call, step)
        if self.param.strategy == "sequential":
            for call in accepted:
                await self.one(call)
        elif len(accepted) == 1 and not self.retries:
            await self.one(accepted[0])
        elif accepted:
            await self.calls(accepted, self.one)

    async def one(self, call: ToolRequest) -> Any:
        """One attempt at one request; it raises where another attempt is due or errors are not suppressed."""
        async with self.slots:
            outcome = await call.attempt(self.branch, self.param, self.selected)
        call.value = outcome.output
        failed = outcome.error is not None
        if failed and (not self.param.suppress_errors or len(call.attempts) <= self.retries):
            raise outcome.error  # pyright: ignore[reportGeneralTypeIssues]
        return True

    async def record(self, calls: list[ToolRequest]) -> None:
        """Put all pairs into the history as one block and leave the audit records."""
        messages: list[Any] = []
        for call in calls:
            request, response = action_pair(self.branch, call)
            messages += (request, response)
            for number, outcome in enumerate(call.attempts or [call.outcome], start=1):
                await log_attempt(self.branch, self.turn, self.param, call, outcome, number, str(request.id))
        await self.turn.record(messages)
