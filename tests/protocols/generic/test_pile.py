from __future__ import annotations

import asyncio
import copy
import json
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lionagi._errors import ExistsError, NotFoundError, ValidationError
from lionagi.protocols.generic.element import Element
from lionagi.protocols.generic.pile import Pile
from lionagi.protocols.generic.progression import Progression
from lionagi.protocols.graph.node import Node


class Leaf(Node):
    pass


def nodes(count: int) -> list[Node]:
    return [Node(content=number) for number in range(count)]


def test_items_are_held_not_copied():
    items = nodes(2)
    pile = Pile(items)
    assert [item is held for item, held in zip(items, pile, strict=True)] == [True, True]


def test_every_kind_of_key_finds_its_item():
    a, b, c = items = nodes(3)
    pile = Pile(items)
    assert pile[0] is pile[a] is pile[a.id] is pile[str(a.id)] is a
    assert pile[-1] is c
    assert pile[0:2] == [a, b]
    assert pile[0:1] is a
    assert pile[[a, c]] == [a, c]
    assert pile[lambda item: item.content > 0].values() == [b, c]


def test_absent_keys_are_not_found():
    pile = Pile(nodes(1))
    for key in (5, Node(), "x"):
        with pytest.raises(NotFoundError):
            pile[key]
    assert pile.get("x", None) is None
    assert pile.pop("x", 7) == 7


@pytest.mark.record("DEC-41-2")
def test_what_is_no_element_is_refused():
    with pytest.raises(ValueError, match="Invalid pile item"):
        Pile([5])


def test_item_types_are_checked():
    assert len(Pile([Leaf()], item_type=Node)) == 1
    with pytest.raises(ValidationError, match="Leaf"):
        Pile([Leaf()], item_type=Node, strict_type=True)
    with pytest.raises(ValidationError, match="Node"):
        Pile([Element()], item_type=Node)


def test_append_and_update_replace_in_place():
    a, b = nodes(2)
    pile = Pile([a, b])
    again = Node(id=a.id, content="new")
    pile.append(again)
    assert pile.values() == [a, b]
    assert pile[0].content == "new"


def test_include_leaves_what_is_there():
    a = Node(content="old")
    pile = Pile([a])
    pile.include([Node(id=a.id, content="new"), Node()])
    assert (pile[0].content, len(pile)) == ("old", 2)


def test_insert_refuses_what_is_there_and_changes_nothing():
    a, b = nodes(2)
    pile = Pile([a])
    pile.insert(0, b)
    assert pile.values() == [b, a]
    with pytest.raises(ExistsError):
        pile.insert(0, [Node(), a])
    assert pile.values() == [b, a]


def test_assignment_by_position_replaces_the_item():
    a, b, c = nodes(3)
    pile = Pile([a, b])
    pile[-1] = c
    assert pile.values() == [a, c]
    assert b not in pile


def test_removing_the_absent_is_an_error_and_excluding_it_is_not():
    a, b = nodes(2)
    pile = Pile([a, b])
    pile.exclude(Node())
    with pytest.raises(NotFoundError):
        pile.remove(Node())
    pile.remove(a)
    assert pile.values() == [b]


def test_filter_by_type_counts_from_the_end_on_request():
    items: list[Any] = [Leaf(), Node(), Leaf()]
    pile = Pile(items)
    assert pile.filter_by_type(Leaf) == [items[0], items[2]]
    assert pile.filter_by_type(Leaf, reverse=True, num_items=1) == [items[2]]
    assert pile.filter_by_type(Node, strict_type=True, as_pile=True).values() == [items[1]]


def test_an_order_must_name_each_item_once():
    a, b = nodes(2)
    assert Pile([a, b], order=[b, a]).values() == [b, a]
    with pytest.raises(ValidationError, match="order"):
        Pile([a, b], order=[a])


def test_it_is_restored_in_order_with_the_classes_of_its_items():
    pile = Pile([Leaf(content=1), Node(content=2)])
    back = Pile[Any].from_dict(json.loads(json.dumps(pile.to_dict("json"))))
    assert back.id == pile.id
    assert [(type(item), item.content) for item in back] == [(Leaf, 1), (Node, 2)]


def test_a_type_argument_makes_no_new_class():
    assert type(Pile[Node]()) is Pile


def test_the_order_can_be_asked_for_at_any_time_and_follows_from_then_on():
    a, b, c = nodes(3)
    pile = Pile([a, b])
    assert pile.progression.order == [a.id, b.id]
    assert pile.progression is pile.progression
    pile.append(c)
    pile.remove(a)
    pile.insert(0, a)
    assert pile.progression.order == pile.keys() == [a.id, b.id, c.id]
    pile.progression.reverse()
    assert pile.values() == [c, b, a]
    pile.clear()
    assert (len(pile.progression), bool(pile)) == (0, False)


def test_an_order_that_is_set_is_the_order():
    a, b = nodes(2)
    pile = Pile([a, b])
    pile.progression = Progression([b, a])
    assert pile.values() == [b, a]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda pile: pickle.loads(pickle.dumps(pile))])
@pytest.mark.parametrize("asked", [True, False])
def test_a_copy_keeps_items_and_order(again: Callable[[Pile[Node]], Pile[Node]], asked: bool):
    a, b = nodes(2)
    pile = Pile([a, b], order=[b, a] if asked else None)
    twin = again(pile)
    assert twin.keys() == pile.keys() == ([b.id, a.id] if asked else [a.id, b.id])
    twin.append(Node())
    assert (len(pile), len(twin), len(twin.progression)) == (2, 3, 3)


async def test_the_lock_serves_the_twins():
    pile = Pile(nodes(1))
    async with pile:
        waiting = asyncio.create_task(pile.ainclude(Node()))
        await asyncio.sleep(0)
        assert len(pile) == 1
    await waiting
    assert len(pile) == 2


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_dump_holds_all_items(kind: str, tmp_path: Path):
    pile = Pile(nodes(2))
    pile.dump(tmp_path / "out", kind, clear=True)
    text = (tmp_path / "out").read_text()
    assert text.count("lion_class") == 2
    assert pile.is_empty()


def test_adding_and_looking_up_cost_the_same_at_any_size():
    def cost(pile: Pile[Node]) -> float:
        fresh = nodes(200)
        start = time.perf_counter()
        for node in fresh:
            pile.append(node)
            assert pile[node.id] is node
        return time.perf_counter() - start

    small, large = Pile[Node](), Pile[Node](nodes(20_000))
    assert min(cost(large) for _ in range(5)) < 10 * min(cost(small) for _ in range(5))
