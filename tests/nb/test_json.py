"""Values become JSON text once; one line of it is short, and its layout is bounded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from lionagi_nb._json import byte_size, freeze, inline, pretty, thaw

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


class Point(BaseModel):
    x: int


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"order_id": "A-1093", "include": ["charges", "refunds"]}, '{"order_id": "A-1093", "include": [2 items]}'),
        (
            {"ticket": "T-4182", "body": "We have refunded the " * 15},
            '{"ticket": "T-4182", "body": "We have refunded … (315 chars)"}',
        ),
        (
            [{"id": "kb-17", "title": "Refund a duplicate charge"}, {}, {}],
            '[{"id": "kb-17", "title": "Refund a duplicate charge"}, {}, {}]',
        ),
        (
            [{"id": n, "title": "Refund a duplicate charge of March"} for n in range(3)],
            '[{"id": 0, "title": "Refund a duplicate charge of March"}, … 2 more]',
        ),
        ({"a": {"b": 1}, "c": {}, "d": [], "e": [1]}, '{"a": {…}, "c": {}, "d": [], "e": [1 item]}'),
        ("Customer was charged twice.", '"Customer was charged twice."'),
        (None, "null"),
        ([], "[]"),
        (59.9, "59.9"),
    ],
)
def test_a_value_on_one_line(value: Any, words: str) -> None:
    assert inline(value) == words


@given(VALUES)
@settings(max_examples=200)
def test_one_line_is_short_and_one_line(value: Any) -> None:
    words = inline(thaw(freeze(value)))
    assert "\n" not in words
    assert len(words) <= 180


def test_models_are_dumped() -> None:
    assert freeze({"p": Point(x=1)}) == '{"p": {"x": 1}}'


def test_a_snapshot_does_not_follow_its_value() -> None:
    value = {"a": 1}
    frozen = freeze(value)
    value["a"] = 2
    assert thaw(frozen) == {"a": 1}


def test_what_json_cannot_say_becomes_a_repr() -> None:
    assert thaw(freeze({"f": {1, 2}, ("a", 1): object}))["('a', 1)"].startswith("<class")


def test_a_value_without_a_repr_is_named_by_its_class() -> None:
    assert freeze(Hostile()) == '"<Hostile>"'


def test_a_circle_is_cut() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert "…" in freeze(ring)


def test_depth_is_cut() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    assert len(pretty(thaw(freeze(deep)))) < 20_000


def test_a_layout_reads_back() -> None:
    value = {"order": {"id": "A", "charges": [{"amount": 59.9}, {"amount": 1}]}, "tags": ["a", "b"], "none": {}}
    assert json.loads(pretty(value)) == value


def test_plain_lists_stay_on_one_line() -> None:
    assert pretty({"tags": ["a", "b"], "o": {"p": [1, [2]]}}).splitlines()[1] == '  "tags": ["a", "b"],'


def test_a_layout_ends_at_its_budget() -> None:
    assert len(pretty([{"k": [n]} for n in range(100_000)], budget=1_000)) < 1_100


def test_sizes_are_bytes_of_utf8() -> None:
    assert [byte_size("abc"), byte_size("ü"), byte_size("\ud800")] == [3, 2, 3]
