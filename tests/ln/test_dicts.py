from __future__ import annotations

import enum
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from lionagi._errors import ValidationError
from lionagi.ln.dicts import to_dict
from lionagi.ln.types import DataClass, Undefined, Unset


class Colour(enum.Enum):
    RED = "r"


class Inner(BaseModel):
    n: int = 1


class Outer(BaseModel):
    inner: Inner = Inner()


@dataclass
class Point:
    x: int
    y: Any = None


@dataclass(slots=True)
class Content(DataClass):
    text: str = "t"
    other: Any = Unset


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {}),
        (Unset, {}),
        (Undefined, {}),
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        (["x", "y"], {0: "x", 1: "y"}),
        ({"x"}, {"x": "x"}),
        (Point(1), {"x": 1, "y": None}),
        (Content(), {"text": "t"}),
        (Outer(), {"inner": {"n": 1}}),
        (Colour, {"RED": Colour.RED}),
        (SimpleNamespace(a=1), {"a": 1}),
    ],
)
def test_everything_with_names_or_positions_becomes_a_dict(given: Any, expected: dict[Any, Any]):
    assert to_dict(given) == expected


def test_the_result_is_a_new_dict():
    given: dict[str, int] = {}
    assert to_dict(given) is not given


@pytest.mark.parametrize("given", [5, b"x", int, Colour.RED, "no JSON", "[1]"])
def test_what_cannot_be_a_dict_is_refused_or_empty(given: Any):
    with pytest.raises(ValueError, match=r"."):
        to_dict(given)
    assert to_dict(given, suppress=True) == {}


def test_broken_json_is_repaired_on_request():
    assert to_dict("{'a': 1,}", fuzzy_parse=True) == {"a": 1}


def test_enum_values_and_shallow_models_on_request():
    assert to_dict(Colour, use_enum_values=True) == {"RED": "r"}
    model = Outer()
    assert to_dict(model, use_model_dump=False)["inner"] is model.inner


def test_recursion_converts_containers_and_on_request_objects_and_text():
    given = {"a": (1, {"b": Point(1, '{"c": 2}')})}
    assert to_dict(given, recursive=True) == {"a": [1, {"b": Point(1, '{"c": 2}')}]}
    deep = to_dict(given, recursive=True, recursive_python_only=False, max_recursive_depth=9)
    assert deep == {"a": [1, {"b": {"x": 1, "y": {"c": 2}}}]}


def test_recursion_ends_at_its_depth():
    assert to_dict({"a": ((1,),)}, recursive=True, max_recursive_depth=2) == {"a": [(1,)]}


def test_another_text_format_is_refused():
    with pytest.raises(ValidationError, match="str_type"):
        to_dict("<a/>", str_type="xml")  # pyright: ignore[reportArgumentType]
