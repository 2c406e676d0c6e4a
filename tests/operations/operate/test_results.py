"""The whole truth table of what happens to a Middle's value, against an independent statement of the order."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pydantic import BaseModel

from lionagi.operations.operate._results import decide, mismatch_error, requests_of
from lionagi.operations.types import UnparsedResponse


class Wanted(BaseModel):
    action_requests: list[dict[str, Any]] | None = None


class Foreign(BaseModel):
    action_requests: list[dict[str, Any]] | None = None


ASK = [{"function": "f", "arguments": {}}]
VALUES: dict[str, Any] = {
    "text": "please call f()",
    "none": None,
    "number": 3,
    "mapping": {"a": 1},
    "mapping with requests": {"action_requests": ASK},
    "wanted": Wanted(),
    "wanted with requests": Wanted(action_requests=ASK),
    "wanted with an empty list": Wanted(action_requests=[]),
    "foreign with requests": Foreign(action_requests=ASK),
}
HAS_REQUESTS = {"mapping with requests", "wanted with requests", "wanted with an empty list", "foreign with requests"}
TABLE = list(
    itertools.product(
        VALUES, (None, Wanted), ("raise", "return_value", "return_none"), (False, True), (False, True), (False, True)
    )
)


def expected(name: str, cls: Any, policy: str, skip: bool, invoke: bool, param: bool) -> str:
    """The record's order, said once more in other words."""
    if skip:
        return "return"
    if cls is not None and not name.startswith("wanted"):
        return {"raise": "raise", "return_value": "return", "return_none": "none"}[policy]
    return "act" if invoke and param and name in HAS_REQUESTS else "return"


@pytest.mark.parametrize(("name", "cls", "policy", "skip", "invoke", "param"), TABLE)
def test_T6_every_combination_takes_the_path_of_the_record(
    name: str, cls: Any, policy: Any, skip: bool, invoke: bool, param: bool
) -> None:
    verdict = decide(
        VALUES[name],
        model_class=cls,
        handle_validation=policy,
        skip_validation=skip,
        invoke_actions=invoke,
        has_action_param=param,
    )
    assert verdict.action == expected(name, cls, policy, skip, invoke, param)


def test_a_reason_is_given_whenever_requests_do_not_run() -> None:
    for name, cls, policy, skip, invoke, param in TABLE:
        verdict = decide(
            VALUES[name],
            model_class=cls,
            handle_validation=policy,  # pyright: ignore[reportArgumentType]
            skip_validation=skip,
            invoke_actions=invoke,
            has_action_param=param,
        )
        if name in HAS_REQUESTS:
            assert (verdict.reason is None) == (verdict.action == "act"), (name, verdict)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_requests_are_read_from_models_and_mappings_only(name: str) -> None:
    assert (requests_of(VALUES[name]) is not None) == (name in HAS_REQUESTS)


def test_the_mismatch_error_names_the_model_and_cuts_the_value_after_200_characters() -> None:
    error = mismatch_error("x" * 1000, Wanted)
    assert isinstance(error, ValueError)
    assert "Wanted" in str(error)
    assert "x" * 198 in str(error)
    assert "x" * 201 not in str(error)


def test_a_value_that_the_schema_refused_says_so_in_the_class_of_the_error() -> None:
    raw = UnparsedResponse("{}")
    raw.failure_kind = "validation"
    raw.validation_error = ValueError("age is missing")
    error = mismatch_error(raw, Wanted)
    assert error.kind == "validation"
    assert error.validation_error is raw.validation_error
