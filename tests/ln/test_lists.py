from __future__ import annotations

import enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from lionagi.ln.lists import to_list
from lionagi.ln.types import Undefined, Unset


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Model(BaseModel):
    n: int = 1


@pytest.mark.parametrize("nothing", [None, Unset, Undefined])
def test_nothing_gives_an_empty_list(nothing: Any):
    assert to_list(nothing) == []


@pytest.mark.parametrize("atom", ["text", b"bytes", {"a": 1}, Model(), 5, Colour.RED, int])
def test_atoms_are_single_items(atom: Any):
    assert to_list(atom) == [atom]


def test_other_iterables_give_their_items():
    assert to_list((1, 2)) == to_list(x for x in (1, 2)) == to_list({1: "", 2: ""}.keys()) == [1, 2]


def test_the_result_is_a_new_list():
    given = [1]
    assert to_list(given) is not given


def test_values_of_mappings_and_enums_on_request():
    assert to_list({"a": 1, "b": 2}, use_values=True) == [1, 2]
    assert to_list(Colour, use_values=True) == ["r", "b"]
    assert to_list(Colour) == [Colour.RED, Colour.BLUE]


def test_flatten_leaves_tuples_and_sets_unless_asked():
    assert to_list([1, [2, [3, (4,)]]], flatten=True) == [1, 2, 3, (4,)]
    assert to_list([1, [2, (3, {4})]], flatten=True, flatten_tuple_set=True) == [1, 2, 3, 4]


def test_dropna_drops_none_and_sentinels_only():
    assert to_list([0, None, "", Unset, Undefined, False], dropna=True) == [0, "", False]


def test_unique_keeps_the_first_also_of_what_cannot_be_hashed():
    assert to_list([1, {"a": 1}, 1, {"a": 1}], flatten=True, unique=True) == [1, {"a": 1}]


def test_unique_without_flatten_is_refused():
    with pytest.raises(ValueError, match="flatten"):
        to_list([1], unique=True)


_NESTED = st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=4), max_leaves=20)


@given(st.lists(_NESTED))
def test_a_flat_list_holds_no_list_and_flattening_again_changes_nothing(nested: list[Any]):
    flat = to_list(nested, flatten=True)
    assert not any(isinstance(item, list) for item in flat)
    assert to_list(flat, flatten=True) == flat


def test_very_deep_nesting_is_flattened():
    deep: list[Any] = [1]
    for _ in range(50_000):
        deep = [deep]
    assert to_list(deep, flatten=True) == [1]
