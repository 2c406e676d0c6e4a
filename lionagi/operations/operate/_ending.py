"""The end of a turn: the decided return path, the actions, and the turn's record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from lionagi.ln.trace import span
from lionagi.operations._records import log_turn
from lionagi.operations.act.act import act
from lionagi.operations.operate._decide import Verdict, mismatch_error, requests_of
from lionagi.operations.operate._results import enrich, link_result, strip_invented

if TYPE_CHECKING:
    from lionagi.operations._turn import Turn
    from lionagi.operations.fields import ActionResponseModel
    from lionagi.operations.types import ActionParam
    from lionagi.session.branch import Branch

__all__ = ("Ending",)


class Ending:
    """The end of a turn: the decided return path, the actions, and the turn's record."""

    def __init__(
        self,
        branch: Branch,
        turn: Turn,
        action_param: ActionParam | None,
        generated: type[BaseModel] | None,
        model_class: type[BaseModel] | None,
    ) -> None:
        self.branch = branch
        self.turn = turn
        self.param = action_param
        self.generated = generated
        self.model_class = model_class

    async def close(self, result: Any, verdict: Verdict) -> Any:
        """Take the decided path and return what the caller gets."""
        with span("validate") as step:
            if verdict.reason is not None:
                step.note(f"actions not run: {verdict.reason}")
        if verdict.action != "act":
            await self._log(result, verdict.reason)
            return self._returned(result, verdict)
        responses = await self._act(result)
        await self._log(result, None)
        with span("enrich", responses=len(responses)):
            final = strip_invented(result, self.generated)
            if responses:
                final = enrich(final, responses)
        link_result(final, self.turn.id)
        return final

    def _returned(self, result: Any, verdict: Verdict) -> Any:
        if verdict.action == "none":
            return None
        if verdict.action == "raise" and self.model_class is not None:
            raise mismatch_error(result, self.model_class)
        final = strip_invented(result, self.generated)
        link_result(final, self.turn.id)
        return final

    async def _act(self, result: Any) -> list[ActionResponseModel]:
        assert self.param is not None
        requests = requests_of(result)
        found = await act(
            self.branch, requests if isinstance(requests, list) else [requests], self.param, turn=self.turn
        )
        return [response for response in found if response is not None]  # pyright: ignore[reportUnnecessaryComparison]

    async def _log(self, result: Any, not_run: str | None) -> None:
        """Leave the turn's record where actions were in play."""
        requests = requests_of(result)
        if self.param is None and not requests:
            return
        await log_turn(
            self.branch,
            self.turn,
            result=type(result).__name__,
            actions=self.param is not None,
            strategy=self.param.strategy if self.param is not None else None,
            tools=sorted(self.branch.acts.registry),
            not_run=not_run,
            requests=_plain_requests(requests) if not_run is not None else [],
        )


def _plain_requests(requests: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", requests) if isinstance(requests, list) else []
    return [item.model_dump() if isinstance(item, BaseModel) else dict(item) for item in items if item]
