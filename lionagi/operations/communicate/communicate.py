"""One recorded exchange with an API model: ask once, record both messages, read the answer."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from lionagi import ln
from lionagi._errors import ParseError
from lionagi.ln.trace import span
from lionagi.ln.types import Undefined
from lionagi.operations._answer import read_answer
from lionagi.operations._defaults import STANDARD_REMOVED_KWARGS, make_parse_param
from lionagi.operations._guards import reject_removed_kwargs
from lionagi.operations._turn import turn_for
from lionagi.operations.chat.chat import ask
from lionagi.operations.types import ChatParam, ParseParam, StructuredOutput

if TYPE_CHECKING:
    from lionagi.operations.schema.structure import Structure
    from lionagi.service.imodel import iModel
    from lionagi.session.branch import Branch

__all__ = ("communicate", "prepare_communicate_kw")

_MOST_RETRIES = 5


def prepare_communicate_kw(
    branch: Branch,
    instruction: Any = None,
    *,
    guidance: Any = None,
    context: Any = None,
    plain_content: str | None = None,
    sender: Any = None,
    recipient: Any = None,
    progression: Any = None,
    response_format: Any = None,
    request_fields: Any = None,
    chat_model: iModel | None = None,
    parse_model: iModel | None = None,
    skip_validation: bool = False,
    images: list[Any] | None = None,
    image_detail: Any = "auto",
    num_parse_retries: int = 3,
    fuzzy_match_kwargs: dict[str, Any] | None = None,
    clear_messages: bool = False,
    include_token_usage_to_model: bool = False,
    structure: Structure | None = None,
    structured_output: StructuredOutput = "auto",
    **kwargs: Any,
) -> dict[str, Any]:
    """Return the arguments of :func:`communicate` for the public call; see ``Branch.communicate``."""
    reject_removed_kwargs(kwargs, STANDARD_REMOVED_KWARGS, where="communicate")
    if num_parse_retries > _MOST_RETRIES:
        warnings.warn(
            f"num_parse_retries={num_parse_retries} is more than {_MOST_RETRIES}; {_MOST_RETRIES} are used.",
            UserWarning,
            stacklevel=3,
        )
        num_parse_retries = _MOST_RETRIES
    fuzzy = dict(fuzzy_match_kwargs or {})
    policy = fuzzy.pop("handle_validation", "raise")
    return {
        "instruction": "" if instruction is None else instruction,
        "chat_param": ChatParam(
            guidance=guidance,
            context=context,
            sender=sender or branch.user or "user",
            recipient=recipient or branch.id,
            response_format=response_format,
            structure=structure,
            progression=progression,
            tool_schemas=[],
            images=images or [],
            image_detail=image_detail,
            plain_content=plain_content or "",
            include_token_usage_to_model=include_token_usage_to_model,
            imodel=chat_model or branch.chat_model,
            imodel_kw=kwargs,
            structured_output=structured_output,
        ),
        "parse_param": make_parse_param(
            response_format,
            parse_model or branch.parse_model,
            handle_validation=policy,
            num_retries=num_parse_retries,
            fuzzy_kw=fuzzy,
            structure=structure,
        ),
        "clear_messages": clear_messages,
        "skip_validation": skip_validation,
        "request_fields": request_fields,
    }


async def communicate(
    branch: Branch,
    instruction: Any,
    chat_param: ChatParam,
    parse_param: ParseParam | None = None,
    clear_messages: bool = False,
    skip_validation: bool = False,
    request_fields: Any = None,
) -> Any:
    """Ask the model once, record instruction and answer, and return the answer in the asked-for form.

    A call that fails leaves the history as it was.

    Args:
        branch: Where the exchange is recorded.
        instruction: Text, mapping, list or Instruction.
        chat_param: The call's parameters.
        parse_param: How the answer is read; None returns its text.
        clear_messages: Clear the history (the system message stays) before asking.
        skip_validation: Return the answer's text as it is.
        request_fields: Field names, or a mapping from name to type, to pick from the answer into a dict.

    Raises:
        ExecutionError: The call failed.
        ParseError: The answer could not be read and the policy is "raise"; also a ValueError.
    """
    turn = turn_for(branch, "communicate")
    if clear_messages:
        branch.msgs.clear_messages()
        turn.forget()
    with span("communicate", branch=branch.id, branch_name=branch.name):
        prepared, response = await ask(branch, instruction, chat_param, turn, recorded=True)
        await turn.record([prepared.instruction, response])
        text = response.response
        if request_fields is not None and not skip_validation:
            return _pick_fields(text, request_fields)
        try:
            return await read_answer(prepared, text, [response], parse_param, skip_validation=skip_validation)
        except ParseError as error:
            form = getattr(chat_param.response_format, "__name__", chat_param.response_format)
            raise type(error)(
                f"Failed to parse model response into {form}: {error}", validation_error=error.validation_error
            ) from error


def _pick_fields(text: str, request_fields: Any) -> dict[str, Any]:
    picked = ln.fuzzy_validate_mapping(text, request_fields, handle_unmatched="force", fill_value=Undefined)
    return {key: value for key, value in picked.items() if value is not Undefined}
