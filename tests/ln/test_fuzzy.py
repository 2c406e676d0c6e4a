from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from lionagi._errors import ValidationError
from lionagi.ln.fuzzy import (
    FuzzyMatchKeysParams,
    fuzzy_match_keys,
    fuzzy_validate_mapping,
    fuzzy_validate_pydantic,
)
from lionagi.ln.types import Undefined

ALGORITHMS = ["jaro_winkler", "levenshtein", "sequence_matcher", "hamming", "cosine"]


class Person(BaseModel):
    full_name: str
    age: int = 0
    kind: str = Field(default="", alias="personKind")


def test_exact_keys_win_over_similar_ones():
    assert fuzzy_match_keys({"names": 1, "name": 2}, ["name"]) == {"name": 2, "names": 1}


def test_the_most_similar_pair_goes_first_and_each_key_is_used_once():
    found = fuzzy_match_keys({"user_nam": 1, "user_name1": 2}, ["user_name", "user_names"], similarity_threshold=0.8)
    assert sorted(found) == ["user_name", "user_names"]
    assert sorted(found.values()) == [1, 2]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_knows_like_from_unlike(algorithm: Any):
    found = fuzzy_match_keys({"descriptiom": 1, "zzz": 2}, ["description"], similarity_algo=algorithm)
    assert found == {"description": 1, "zzz": 2}


def test_a_function_can_compare():
    found = fuzzy_match_keys({"NAME": 1}, ["name"], similarity_algo=lambda one, other: float(one == other.lower()))
    assert found == {"name": 1}


def test_without_fuzzy_matching_only_exact_keys_count():
    assert fuzzy_match_keys({"nam": 1}, ["name"], fuzzy_match=False) == {"nam": 1}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("ignore", {"a": 1, "extra": 2}),
        ("remove", {"a": 1}),
        ("fill", {"a": 1, "b": 7, "c": 0, "extra": 2}),
        ("force", {"a": 1, "b": 7, "c": 0}),
    ],
)
def test_unmatched_keys_are_handled_as_told(how: Any, expected: dict[str, int]):
    data = {"extra": 2, "a": 1}
    found = fuzzy_match_keys(data, ["a", "b", "c"], handle_unmatched=how, fill_value=0, fill_mapping={"b": 7})
    assert list(found.items()) == list(expected.items())
    assert data == {"extra": 2, "a": 1}


def test_unmatched_keys_can_be_refused():
    with pytest.raises(ValueError, match="Unmatched keys found"):
        fuzzy_match_keys({"a": 1, "zzz": 2}, ["a"], handle_unmatched="raise")
    assert fuzzy_match_keys({"a": 1}, ["a", "b"], handle_unmatched="raise") == {"a": 1}


def test_strict_refuses_what_is_missing_unless_it_is_filled():
    with pytest.raises(ValueError, match="Missing required keys"):
        fuzzy_match_keys({"a": 1}, ["a", "b"], strict=True)
    assert fuzzy_match_keys({"a": 1}, ["a", "b"], strict=True, handle_unmatched="force") == {"a": 1, "b": None}


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        (([], ["a"]), {}, TypeError),
        (({}, None), {}, TypeError),
        (({}, ["a"]), {"similarity_threshold": 1.5}, ValidationError),
        (({"b": 1}, ["a"]), {"similarity_algo": "soundex"}, ValidationError),
        (({}, ["a"]), {"handle_unmatched": "drop"}, ValidationError),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: Any, options: Any, error: type[Exception]):
    with pytest.raises(error):
        fuzzy_match_keys(*arguments, **options)


@given(st.dictionaries(st.text(max_size=8), st.integers()), st.lists(st.text(max_size=8)), st.sampled_from(ALGORITHMS))
def test_force_gives_exactly_the_expected_keys_and_loses_no_exact_one(data: dict[str, int], keys: list[str], algo: Any):
    found = fuzzy_match_keys(data, keys, handle_unmatched="force", similarity_algo=algo)
    assert list(found) == list(dict.fromkeys(keys))
    assert all(found[key] == data[key] for key in keys if key in data)


@given(st.dictionaries(st.text(max_size=8), st.integers()), st.lists(st.text(max_size=8)))
def test_ignore_keeps_every_value(data: dict[str, int], keys: list[str]):
    assert sorted(fuzzy_match_keys(data, keys).values()) == sorted(data.values())


def test_a_hostile_number_of_keys_costs_little():
    start = time.perf_counter()
    fuzzy_match_keys(
        {f"key_{i}": i for i in range(100_000)}, [f"want_{i}" for i in range(50)], handle_unmatched="force"
    )
    assert time.perf_counter() - start < 3


def test_params_are_the_options_as_a_value():
    params = FuzzyMatchKeysParams(handle_unmatched="force")
    assert params({"nam": 1, "zzz": 2}, ["name", "age"]) == {"name": 1, "age": None}
    assert FuzzyMatchKeysParams(handle_unmatched="fill", fill_value=Undefined)({}, ["a"]) == {"a": Undefined}


@pytest.mark.parametrize(
    "given",
    [{"nam": 1}, '{"nam": 1}', "Sure: {'nam': 1,}", '```json\n{"nam": 1}\n```', '[{"nam": 1}, {"nam": 2}]'],
)
def test_a_mapping_is_found_in_what_was_given(given: Any):
    assert fuzzy_validate_mapping(given, ["name"]) == {"name": 1}


def test_a_model_is_a_mapping():
    assert fuzzy_validate_mapping(Person(full_name="x"), ["full_name"], handle_unmatched="remove") == {"full_name": "x"}


def test_what_holds_no_mapping_is_refused_or_empty():
    with pytest.raises(TypeError):
        fuzzy_validate_mapping(None, ["a"])
    with pytest.raises(ValueError, match="Failed to convert input to dictionary"):
        fuzzy_validate_mapping("nothing here", ["a"])
    assert fuzzy_validate_mapping("nothing", ["a"], suppress_conversion_errors=True, handle_unmatched="fill") == {
        "a": None
    }


def test_a_model_is_read_from_text():
    assert fuzzy_validate_pydantic('so: {"full_name": "A", "age": "3"}', Person) == Person(full_name="A", age=3)
    text = '{"fullname": "A", "personkind": "k"}'
    assert fuzzy_validate_pydantic(text, Person, fuzzy_match=True).model_dump() == {
        "full_name": "A", "age": 0, "kind": "k",
    }  # fmt: skip


def test_a_model_that_refuses_the_object_is_our_error_with_pydantics_as_its_cause():
    with pytest.raises(ValidationError, match="does not fit Person") as caught:
        fuzzy_validate_pydantic(
            '{"age": 1}', Person, fuzzy_match=True, fuzzy_match_params={"handle_unmatched": "remove"}
        )
    assert type(caught.value.__cause__).__module__.startswith("pydantic")


def test_broken_json_is_read_only_on_request():
    with pytest.raises(ValidationError, match="no JSON object"):
        fuzzy_validate_pydantic("{'full_name': 'A'}", Person, fuzzy_parse=False)
    assert fuzzy_validate_pydantic("{'full_name': 'A'}", Person).full_name == "A"
