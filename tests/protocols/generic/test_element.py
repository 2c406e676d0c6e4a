from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pydantic
import pytest

from lionagi._errors import NotFoundError, ValidationError
from lionagi.protocols.generic.element import ID, Element, load_element_class
from lionagi.protocols.graph.node import Node


def test_an_id_is_accepted_as_text():
    one = uuid4()
    assert Element(id=str(one)).id == one  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("moment", [datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T00:00:00", "1704067200"])
def test_a_moment_is_read_as_seconds_in_utc(moment: object):
    assert Element(created_at=moment).created_at == 1704067200.0  # pyright: ignore[reportArgumentType]


def test_equality_and_hash_go_by_the_id_alone():
    one = Node(content=1)
    other = Node(id=one.id, content=2)
    assert one == other
    assert hash(one) == hash(other) != hash(Node(content=1))


def test_an_element_is_always_true():
    assert Element()


def test_an_unknown_field_is_refused():
    with pytest.raises(pydantic.ValidationError):
        Element(colour="red")  # pyright: ignore[reportCallIssue]


@pytest.mark.record("DEC-41-2")
def test_a_foreign_class_in_the_metadata_is_refused():
    with pytest.raises(pydantic.ValidationError, match="Metadata class mismatch"):
        Node(metadata={"lion_class": "somewhere.Else"})


@pytest.mark.parametrize("mode", ["python", "json", "db"])
def test_a_dict_of_any_mode_restores_the_class(mode: str):
    node = Node(content={"a": 1}, metadata={"note": "n"})
    back = Element.from_dict(node.to_dict(mode))  # pyright: ignore[reportArgumentType]
    assert type(back) is Node
    assert (back.id, back.content, back.metadata) == (node.id, {"a": 1}, {"note": "n"})


def test_json_goes_there_and_back():
    node = Node(content=[1, "é"])
    assert Node.from_json(node.to_json()).content == [1, "é"]


def test_mode_db_puts_the_metadata_last_under_its_own_key():
    assert list(Node().to_dict("db"))[-1] == "node_metadata"


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValidationError, match="mode"):
        Node().to_dict("xml")  # pyright: ignore[reportArgumentType]


def test_a_class_name_from_data_imports_nothing_foreign():
    with pytest.raises(NotFoundError, match="antigravity"):
        load_element_class("antigravity.Thing")


def test_an_embedding_is_accepted_as_json():
    assert Node(embedding="[1, 2.5]").embedding == [1.0, 2.5]  # pyright: ignore[reportArgumentType]


def test_ids_are_read_from_elements_uuids_and_text():
    node = Node()
    assert ID.get_id(node) == ID.get_id(node.id) == ID.get_id(str(node.id)) == node.id
    assert isinstance(ID.get_id(str(node.id)), UUID)


def test_what_is_no_id_is_told_apart():
    assert not ID.is_id("x")
    with pytest.raises(ValueError, match="not an id"):
        ID.get_id(5)
