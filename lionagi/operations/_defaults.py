"""The default call parameters of parsing and of actions, defined once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from lionagi import ln
from lionagi.ln.calls import AlcallParams
from lionagi.operations.types import HandleValidation, ParseParam

if TYPE_CHECKING:
    from lionagi.service.imodel import iModel

__all__ = ("STANDARD_REMOVED_KWARGS", "get_default_action_call", "get_default_parse_call", "make_parse_param")

STANDARD_REMOVED_KWARGS: Final = {
    "request_model": "response_format=",
    "operative_model": "response_format=",
    "imodel": "chat_model=",
}


@cache
def get_default_parse_call() -> AlcallParams:
    """Return the one AlcallParams of parsing: a local attempt, then three model calls 1 s, 1.85 s and 3.42 s apart."""
    return AlcallParams(
        retry_initial_delay=1,
        retry_backoff=1.85,
        retry_attempts=3,
        max_concurrent=1,
        throttle_period=1,
    )


@cache
def get_default_action_call() -> AlcallParams:
    """Return the one AlcallParams of actions: all at once, in order, None results dropped."""
    return AlcallParams(output_dropna=True)


@cache
def _parse_call_with(retries: int) -> AlcallParams:
    return get_default_parse_call().with_updates(retry_attempts=retries)


@cache
def _default_fuzzy() -> ln.FuzzyMatchKeysParams:
    return ln.FuzzyMatchKeysParams()


def make_parse_param(
    response_format: Any,
    imodel: iModel | None,
    *,
    handle_validation: HandleValidation = "return_value",
    num_retries: int | None = None,
    fuzzy_kw: dict[str, Any] | None = None,
    structure: Any = None,
) -> ParseParam:
    """Return a ParseParam on the default parse call.

    Args:
        response_format: Model class, model instance or dict to read the text as.
        imodel: The model that reformats text which cannot be read locally.
        handle_validation: What happens where neither worked.
        num_retries: Reformatting calls, 0 for none; the default of three when None.
        fuzzy_kw: Overrides for key matching (fields of FuzzyMatchKeysParams).
        structure: A Structure of the caller's own, which then renders and parses.
    """
    return ParseParam(
        response_format=response_format,
        structure=structure,
        fuzzy_match_params=ln.FuzzyMatchKeysParams(**fuzzy_kw) if fuzzy_kw else _default_fuzzy(),
        handle_validation=handle_validation,
        alcall_params=get_default_parse_call() if num_retries is None else _parse_call_with(num_retries),
        imodel=imodel,
        imodel_kw={},
    )
