"""Reading text as the asked-for format: locally first, then by asking a model to put it into shape.

Local reading covers fenced JSON, small mistakes in the JSON and misspelt keys, so that a model is asked only where
these do not help. The model calls leave no messages on the branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lionagi._errors import ParseError, ScriptExhaustedError
from lionagi.ln.calls import AlcallParams
from lionagi.ln.trace import note, span
from lionagi.operations._defaults import get_default_parse_call, make_parse_param
from lionagi.operations._policy import check_policy
from lionagi.operations._turn import Turn, turn_for
from lionagi.operations.chat.chat import ask
from lionagi.operations.schema.json_structure import structure_for
from lionagi.operations.types import ChatParam, HandleValidation, ParseParam, UnparsedResponse

if TYPE_CHECKING:
    from lionagi.operations.operate.operative import Operative
    from lionagi.operations.schema.structure import Structure
    from lionagi.protocols.messages.assistant_response import AssistantResponse
    from lionagi.service.imodel import iModel
    from lionagi.session.branch import Branch

__all__ = ("parse", "prepare_parse_kws", "reformat")

_REFORMAT = "Put the text from the context into the format that is asked for. Keep its facts; add none."
_FAILED = object()


def prepare_parse_kws(
    branch: Branch,
    text: str,
    handle_validation: HandleValidation = "return_value",
    max_retries: int = 3,
    request_type: Any = None,
    operative: Operative | None = None,
    similarity_algo: str = "jaro_winkler",
    similarity_threshold: float = 0.85,
    fuzzy_match: bool = True,
    handle_unmatched: Literal["ignore", "raise", "remove", "fill", "force"] = "force",
    fill_value: Any = None,
    fill_mapping: dict[str, Any] | None = None,
    strict: bool = False,
    response_format: Any = None,
    request_fields: Any = None,
    structure: Structure | None = None,
    return_res_message: bool = False,
    *,
    num_parse_retries: int | None = None,
    parse_model: iModel | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """Return the arguments of :func:`parse` for the public call; see ``Branch.parse``."""
    form = operative.request_type if operative is not None else response_format or request_type or request_fields
    param = make_parse_param(
        form,
        parse_model or branch.parse_model,
        handle_validation=handle_validation,
        num_retries=max_retries if num_parse_retries is None else num_parse_retries,
        structure=structure,
        fuzzy_kw={
            "similarity_algo": similarity_algo,
            "similarity_threshold": similarity_threshold,
            "fuzzy_match": fuzzy_match,
            "handle_unmatched": handle_unmatched,
            "fill_value": fill_value,
            "fill_mapping": fill_mapping,
            "strict": strict,
        },
    )
    return {
        "text": text,
        "parse_param": param.with_updates(imodel_kw=kwargs),
        "return_res_message": return_res_message,
    }


async def parse(branch: Branch, text: str, parse_param: ParseParam, return_res_message: bool = False) -> Any:
    """Return ``text`` as the asked-for format.

    Args:
        branch: Whose parse model reformats where none is given.
        text: What a model answered.
        parse_param: Format, key matching, retries and what happens on failure.
        return_res_message: Return ``(value, message)``, the message being the reformatting answer or None.

    Returns:
        A model instance or mapping; the text itself (an UnparsedResponse) or None where that is the policy.

    Raises:
        ParseError: Nothing worked and the policy is "raise" (also a ValueError).
        ScriptExhaustedError: A scripted model has no answer to the first call.
    """
    check_policy(parse_param.handle_validation)
    structure: Structure = parse_param.structure or structure_for(parse_param.response_format)
    message = None
    with span("parse", branch=branch.id, branch_name=branch.name):
        try:
            with span("parse attempt", attempt=0):
                value = structure.parse(text, fuzzy_match_params=parse_param.fuzzy_match_params)
        except ParseError as error:
            value, message = await reformat(branch, text, parse_param, turn_for(branch, "parse"), structure, error)
    return (value, message) if return_res_message else value


async def reformat(
    branch: Branch, text: str, param: ParseParam, turn: Turn, structure: Structure, failure: ParseError
) -> tuple[Any, AssistantResponse | None]:
    """Ask a model to put ``text`` into shape, as often as the parameters allow.

    Args:
        branch: Whose parse model is asked where ``param`` names none.
        text: What could not be read locally.
        param: Format, retries, pauses and the policy for failure.
        turn: The turn that the calls belong to.
        structure: Reads the answers.
        failure: Why the text could not be read.

    Returns:
        The value and the answer it came from; what the policy says, and None, where no answer could be read.
    """
    attempts = _Attempts(branch, text, param, turn, structure, failure)
    calls = param.alcall_params or get_default_parse_call()
    if isinstance(calls, dict):
        calls = AlcallParams(**calls)
    clock = (param.imodel or branch.parse_model).clock
    pause, factor = calls.retry_initial_delay or 0, calls.retry_backoff or 1
    for attempt in range(1, (calls.retry_attempts or 0) + 1):
        await clock.sleep(pause)
        pause *= factor
        value = await attempts.one(attempt)
        if value is not _FAILED:
            return value, attempts.message
        if attempts.ended:
            break
    return attempts.give_up(param.handle_validation), None


class _Attempts:
    """The model calls for one text: what the last one failed on, and the answer that helped."""

    def __init__(
        self, branch: Branch, text: str, param: ParseParam, turn: Turn, structure: Structure, failure: ParseError
    ) -> None:
        self.branch = branch
        self.text = text
        self.param = param
        self.turn = turn
        self.structure = structure
        self.failure = failure
        self.message: AssistantResponse | None = None
        self.ended = False

    async def one(self, attempt: int) -> Any:
        """Ask the model once; return the value, or the failure mark."""
        with span("parse attempt", attempt=attempt) as step:
            try:
                _, message = await ask(self.branch, _REFORMAT, self._request(attempt), self.turn, bare=True)
                value = self.structure.parse(message.response, fuzzy_match_params=self.param.fuzzy_match_params)
            except ScriptExhaustedError as error:
                if attempt == 1 and self.turn.verb == "parse":
                    raise  # no other call stands before it: the verb itself found no answer
                self.ended = True
                step.note(f"reformatting ended: {error}")
                return _FAILED
            except ParseError as error:
                self.failure = error
                step.note(str(error))
                return _FAILED
        message.metadata.update(is_parsed=True, original_text=self.text)
        self.message = message
        return value

    def _request(self, attempt: int) -> ChatParam:
        param = self.param
        return ChatParam(
            guidance=f"Attempt {attempt}. The last one failed: {str(self.failure)[:800]}",
            context=[{"text_to_format": self.text}],
            sender=self.branch.user or "user",
            recipient=self.branch.id,
            response_format=param.response_format,
            structure=param.structure,
            progression=[],
            imodel=param.imodel or self.branch.parse_model,
            imodel_kw=param.imodel_kw or {},
        )

    def give_up(self, policy: HandleValidation) -> Any:
        """Return what the policy says, or raise the last failure."""
        if policy == "return_none":
            note("not parsed: handle_validation='return_none' returns None")
            return None
        if policy == "return_value":
            note("not parsed: handle_validation='return_value' returns the text")
            raw = UnparsedResponse(self.text)
            raw.failure_kind = "validation" if self.failure.kind == "validation" else "extraction"
            raw.validation_error = self.failure.validation_error
            return raw
        raise type(self.failure)(
            f"Failed to parse response: {self.failure}", validation_error=self.failure.validation_error
        ) from self.failure
