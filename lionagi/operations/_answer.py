"""From an answer to the value that a Middle returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from lionagi._errors import ParseError
from lionagi.ln.trace import note, span
from lionagi.operations.fields import ActionRequestModel
from lionagi.operations.parse.parse import reformat
from lionagi.operations.schema.json_structure import structure_for
from lionagi.operations.types import ParseParam, UnparsedResponse

if TYPE_CHECKING:
    from lionagi.operations.chat._prepare import Prepared
    from lionagi.operations.schema.structure import Structure
    from lionagi.protocols.messages.assistant_response import AssistantResponse

__all__ = ("read_answer",)


async def read_answer(
    prepared: Prepared,
    text: str,
    answers: list[AssistantResponse],
    parse_param: ParseParam | None,
    *,
    skip_validation: bool,
) -> Any:
    """Return text, mapping or model for one exchange's answer.

    Native tool calls are merged into ``action_requests``. A refusal is never reformatted. An answer that is plain text
    where tools were on offer natively is a legal answer and comes back as that text.

    Args:
        prepared: What was asked.
        text: The answer's text.
        answers: The messages that the text came from.
        parse_param: How to read it; None leaves it as it is.
        skip_validation: Return the text, or the tool calls where there is none, and do nothing else.
    """
    calls = [
        {"function": call["function"], "arguments": call["arguments"]}
        for answer in answers
        for call in answer.metadata.get("tool_calls", ())
    ]
    raw: Any = text if text or not calls else {"action_requests": calls}
    wants_format = parse_param is not None and (
        parse_param.response_format is not None or parse_param.structure is not None
    )
    if skip_validation or not wants_format or parse_param is None:
        return raw
    if refusal := next((answer.metadata["refusal"] for answer in answers if answer.metadata.get("refusal")), None):
        note(f"not parsed: the model refused: {refusal}")
        return _without_reformatting(UnparsedResponse(text), parse_param, f"the model refused: {refusal}")
    if not text and calls:
        note("not parsed: the answer holds tool calls and no text")
        return _from_calls(calls, parse_param, raw)
    structure = parse_param.structure or prepared.plan.structure or structure_for(parse_param.response_format)
    if prepared.plan.free_text:
        return _free_text(text, calls, parse_param, structure)
    try:
        with span("parse attempt", attempt=0):
            value = structure.parse(text, fuzzy_match_params=parse_param.fuzzy_match_params)
    except ParseError as error:
        value, message = await reformat(prepared.branch, text, parse_param, prepared.turn, structure, error)
        if message is not None and answers:
            metadata = answers[-1].metadata
            metadata["original_model_response"] = metadata.get("model_response")
            metadata["model_response"] = message.metadata.get("model_response")
    return _merge(value, calls)


def _without_reformatting(raw: Any, param: ParseParam, why: str) -> Any:
    if param.handle_validation == "raise":
        raise ParseError(f"Failed to parse response: {why}")
    return None if param.handle_validation == "return_none" else raw


def _from_calls(calls: list[dict[str, Any]], param: ParseParam, raw: Any) -> Any:
    """Return the format filled with nothing but tool calls, or the mapping itself where it needs more than that."""
    form = param.response_format
    if not (isinstance(form, type) and issubclass(form, BaseModel) and "action_requests" in form.model_fields):
        return raw
    if any(field.is_required() for field in form.model_fields.values()):
        return _without_reformatting(raw, param, "the answer holds tool calls and no value for the required fields")
    return _merge(form(), calls)


def _free_text(text: str, calls: list[dict[str, Any]], param: ParseParam, structure: Structure) -> Any:
    try:
        value = structure.parse(text, fuzzy_match_params=None)
    except ParseError:
        note("not parsed: text is a legal answer where tools are offered natively")
        value = text
    return _from_calls(calls, param, text) if calls and value is text else _merge(value, calls)


def _merge(value: Any, calls: list[dict[str, Any]]) -> Any:
    """Return the value with ``calls`` behind the requests it already holds."""
    if not calls:
        return value
    if isinstance(value, BaseModel) and "action_requests" in type(value).model_fields:
        present: list[Any] = list(getattr(value, "action_requests", None) or [])
        return value.model_copy(update={"action_requests": [*present, *_requests(calls)]})
    if isinstance(value, dict):
        data = cast("dict[str, Any]", value)
        asked: list[Any] = data.get("action_requests") or []
        return {**data, "action_requests": [*asked, *calls]}
    return value


def _requests(calls: list[dict[str, Any]]) -> list[Any]:
    return [ActionRequestModel.model_construct(**call) for call in calls]
