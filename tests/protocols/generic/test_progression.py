from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionagi._errors import NotFoundError
from lionagi.protocols.generic.progression import Progression
from lionagi.protocols.graph.node import Node

A, B, C = (uuid4() for _ in range(3))


def test_elements_ids_and_text_are_one():
    node = Node()
    progression = Progression([node])
    assert node in progression
    assert node.id in progression
    assert str(node.id) in progression


def test_append_allows_duplicates_and_include_does_not():
    progression = Progression([A])
    progression.append(A)
    assert not progression.include(A)
    assert progression.include([A, B, B])
    assert list(progression) == [A, A, B]


def test_exclude_removes_every_occurrence():
    progression = Progression([A, B, A])
    assert progression.exclude(A)
    assert not progression.exclude(A)
    assert list(progression) == [B]


def test_equality_is_of_order_and_name():
    assert Progression([A, B]) == Progression([A, B])
    assert Progression([A, B]) != Progression([B, A])
    assert Progression([A], name="x") != Progression([A])


def test_absent_ids_and_positions_are_not_found():
    progression = Progression([A])
    for call in (lambda: progression[3], lambda: progression.remove(B), lambda: progression.index(B)):
        with pytest.raises(NotFoundError):
            call()
    with pytest.raises(NotFoundError):
        Progression().popleft()


def test_unreadable_items_are_not_members():
    assert "x" not in Progression([A])
    assert [] in Progression([A])
    with pytest.raises(ValueError, match="not an id"):
        Progression(["x"])


def test_extend_takes_progressions_only():
    progression = Progression([A])
    progression.extend(Progression([B]))
    assert list(progression) == [A, B]
    with pytest.raises(ValueError, match="Progression"):
        progression.extend([C])  # pyright: ignore[reportArgumentType]


def test_arithmetic_makes_new_progressions():
    progression = Progression([A, B])
    assert list(progression + C) == [A, B, C]
    assert list(progression - A) == [B]
    assert list(progression) == [A, B]


def test_positions_can_be_moved_and_swapped():
    progression = Progression([A, B, C])
    progression.move(0, 2)
    assert list(progression) == [B, C, A]
    progression.swap(0, 2)
    assert list(progression) == [A, C, B]


def test_it_is_restored_from_its_dict():
    progression = Progression([A, B], name="x")
    back = Progression.from_dict(progression.to_dict("json"))
    assert (back, back.id) == (progression, progression.id)


IDS = [uuid4() for _ in range(4)]


@given(st.lists(st.tuples(st.sampled_from(["append", "include", "exclude", "pop", "direct"]), st.sampled_from(IDS))))
def test_membership_agrees_with_the_order_whatever_was_done(steps: list[tuple[str, object]]):
    progression = Progression()
    for method, one in steps:
        if method == "pop":
            if progression.order:
                progression.pop()
        elif method == "direct":
            progression.order.append(one)  # pyright: ignore[reportArgumentType]
        else:
            getattr(progression, method)(one)
        assert {i for i in IDS if i in progression} == set(progression.order)
