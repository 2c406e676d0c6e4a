"""How a turn of operate() ends: one pure decision, the actions, the enriched result and the turn's record."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel

from lionagi._errors import ExtractionError, SchemaRejectedError
from lionagi.ln.trace import span
from lionagi.operations._records import log_turn
from lionagi.operations.act.act import act
from lionagi.operations.types import HandleValidation, UnparsedResponse

if TYPE_CHECKING:
    from lionagi.operations._turn import Turn
    from lionagi.operations.fields import ActionResponseModel
    from lionagi.operations.types import ActionParam
    from lionagi.session.branch import Branch

__all__ = (
    "Ending",
    "Verdict",
    "decide",
    "enrich",
    "link_result",
    "mismatch_error",
    "requests_of",
    "strip_invented",
    "turn_of",
)

_RUNTIME_ONLY = "action_responses"
_turns: dict[int, _Link] = {}


class Verdict:
    """What to do with a value.

    Attributes:
        action: "return" the value, return "none", "raise" the mismatch, or "act" on the value's requests.
        reason: Why its requests do not run, in words; None where there is nothing to explain.
    """

    __slots__ = ("action", "reason")

    def __init__(
        self,
        action: Literal["return", "none", "raise", "act"],
        reason: str | None = None,
    ) -> None:
        self.action = action
        self.reason = reason


def decide(
    value: Any,
    *,
    model_class: type[BaseModel] | None,
    handle_validation: HandleValidation,
    skip_validation: bool,
    invoke_actions: bool,
    has_action_param: bool,
) -> Verdict:
    """Return what happens to ``value``. The order is: raw shortcut, mismatch policy, action switch, requests."""
    if skip_validation:
        return Verdict("return", "skip_validation=True returns before the actions")
    if model_class is not None and not isinstance(value, model_class):
        why = f"the answer is no {model_class.__name__}, and handle_validation={handle_validation!r} decides"
        if handle_validation == "raise":
            return Verdict("raise", why)
        return Verdict("none" if handle_validation == "return_none" else "return", why)
    if not invoke_actions:
        return Verdict("return", "invoke_actions=False")
    requests = requests_of(value)
    if requests is None:
        return Verdict("return")
    if not has_action_param:
        return Verdict("return", "actions were not enabled in this call")
    return Verdict("act")


def requests_of(value: Any) -> Any:
    """Return the ``action_requests`` of a model or a mapping, None where there are none."""
    if isinstance(value, BaseModel):
        return getattr(value, "action_requests", None)
    if isinstance(value, dict):
        return value.get("action_requests")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return None


def mismatch_error(value: Any, model_class: type[BaseModel]) -> ExtractionError | SchemaRejectedError:
    """Return the error for a value that is no instance of the caller's model."""
    text = (
        f"The answer is not a {model_class.__name__}: {repr(value)[:200]}. Ask for simpler or bounded fields, "
        "or use handle_validation='return_value' to see the answer as it is."
    )
    if isinstance(value, UnparsedResponse) and value.failure_kind == "validation":
        return SchemaRejectedError(text, validation_error=value.validation_error)
    return ExtractionError(text)


def enrich(result: Any, responses: list[Any]) -> Any:
    """Return the result with ``action_responses``: a copy of a model, the same mapping; other values as they are.

    Nothing is validated again and no field of the caller's is touched.
    """
    if isinstance(result, BaseModel):
        return result.model_copy(update={_RUNTIME_ONLY: responses})
    if isinstance(result, dict):
        result[_RUNTIME_ONLY] = responses
    return result  # pyright: ignore[reportUnknownVariableType]


def strip_invented(result: Any, generated: type[BaseModel] | None) -> Any:
    """Return a generated result without the ``action_responses`` that the model made up."""
    if generated is None or not isinstance(result, generated) or _RUNTIME_ONLY not in generated.model_fields:
        return result
    if getattr(result, _RUNTIME_ONLY, None) is None:
        return result
    return result.model_copy(update={_RUNTIME_ONLY: None})


def link_result(result: Any, turn_id: str) -> None:
    """Remember which turn a result came from, for as long as the result lives."""
    if not isinstance(result, BaseModel):
        return
    try:
        link = _Link(result, _unlink)
    except TypeError:
        return
    link.key, link.turn = id(result), turn_id
    _turns[link.key] = link


class _Link(weakref.ref[Any]):
    """A result and the turn it came from."""

    __slots__ = ("key", "turn")

    key: int
    turn: str


def _unlink(link: Any) -> None:
    if _turns.get(link.key) is link:
        del _turns[link.key]


def turn_of(result: Any) -> str | None:
    """Return the id of the turn that a result came from, None where it is not known."""
    entry = _turns.get(id(result))
    return entry.turn if entry is not None and entry() is result else None


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
        responses = [response for response in found if response is not None]  # pyright: ignore[reportUnnecessaryComparison]
        if responses and self.branch.context_providers:
            await self.branch.providers.gather_writeback(self.branch, responses)
        return responses

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
    """Return the requests for the record; what is neither a model nor a mapping never was one."""
    items = cast("list[Any]", requests) if isinstance(requests, list) else []
    models = [item.model_dump() if isinstance(item, BaseModel) else item for item in items]
    return [dict(cast("dict[str, Any]", item)) for item in models if item and isinstance(item, dict)]
