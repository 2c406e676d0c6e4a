from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from lionagi.ln.types import Unset
from lionagi.models import HashableModel


class Point(HashableModel):
    x: int = 0
    label: Any = None


@pytest.mark.record("DEC-39-11")
def test_an_instance_cannot_be_hashed():
    with pytest.raises(TypeError):
        hash(Point())


def test_an_unknown_key_is_refused():
    with pytest.raises(ValidationError):
        Point(y=1)  # pyright: ignore[reportCallIssue]


def test_an_assignment_is_validated():
    point = Point()
    with pytest.raises(ValidationError):
        point.x = "no number"  # pyright: ignore[reportAttributeAccessIssue]


def test_to_dict_leaves_sentinels_out():
    assert Point(x=1, label=Unset).to_dict() == {"x": 1}
    assert Point(x=1).to_dict(exclude={"label"}) == {"x": 1}


def test_the_dict_and_json_forms_come_back_equal():
    point = Point(x=3, label=[1])
    assert Point.from_dict(point.to_dict()) == point
    assert Point.from_json(point.to_json()) == point
