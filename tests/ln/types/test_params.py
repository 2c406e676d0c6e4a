from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any, ClassVar

import pytest

from lionagi.ln.types import DataClass, ModelConfig, Params, Undefined, Unset


@dataclass(slots=True, frozen=True, init=False)
class Point(Params):
    x: int = 1
    names: list[str] = field(default_factory=list)
    label: Any = None
    required: Any
    kw: Any = None


@dataclass(slots=True, frozen=True, init=False)
class Point3(Point):
    _config: ClassVar[ModelConfig] = ModelConfig(none_as_sentinel=True)
    z: int = 3


@dataclass(slots=True, frozen=True, init=False)
class Strict(Params):
    _config: ClassVar[ModelConfig] = ModelConfig(strict=True)
    x: int


@dataclass(slots=True, frozen=True, init=False)
class Bare(Params):
    _config: ClassVar[ModelConfig] = ModelConfig(prefill_unset=False)
    x: int


@dataclass(slots=True)
class Content(DataClass):
    text: str = ""
    _private: bool = True


@pytest.mark.record("DEC-39-10")
def test_an_omitted_field_has_its_declared_default():
    point = Point()
    assert (point.x, point.names, point.label) == (1, [], None)


def test_a_default_factory_gives_each_object_its_own_value():
    assert Point().names is not Point().names


def test_an_omitted_field_without_a_default_is_unset():
    assert Point().required is Unset
    assert Bare().x is Undefined


@pytest.mark.record("DEC-41-4")
def test_an_unknown_keyword_is_an_invalid_parameter():
    with pytest.raises(ValueError, match="Invalid parameter: y"):
        Point(y=1)
    with pytest.raises(ValueError, match="Invalid parameter: y"):
        Point().with_updates(y=1)


def test_a_strict_class_refuses_a_missing_field():
    with pytest.raises(ValueError, match="x"):
        Strict()
    assert Strict(x=1).x == 1


def test_an_object_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Point().x = 2  # pyright: ignore[reportAttributeAccessIssue]


def test_with_updates_gives_a_new_object_that_shares_the_other_values():
    names = ["a"]
    first = Point(names=names)
    second = first.with_updates(x=5)
    assert (first.x, second.x) == (1, 5)
    assert second.names is names


def test_objects_with_equal_fields_are_equal_and_hash_alike():
    assert Point(names=(), label="a") == Point(names=(), label="a")
    assert hash(Point(names=(), label="a")) == hash(Point(names=(), label="a"))
    assert Point(label="a") != Point(label="b")


def test_a_subclass_has_the_fields_of_its_base_and_its_own():
    assert Point3.field_names() == {"x", "names", "label", "required", "kw", "z"}
    assert Point.allowed() == {"x", "names", "label", "required", "kw"}
    assert (Point3(x=7).x, Point3(x=7).z) == (7, 3)


def test_to_dict_leaves_out_what_counts_as_not_supplied():
    assert Point(names=["a"]).to_dict() == {"x": 1, "names": ["a"], "label": None, "kw": None}
    assert Point3().to_dict(exclude={"names"}) == {"x": 1, "z": 3}


def test_default_kw_merges_the_extra_keywords_into_the_top_level():
    assert Point3(kw={"speed": 2}).default_kw() == {"x": 1, "names": [], "z": 3, "speed": 2}


def test_a_params_object_survives_copying_and_pickling():
    point = Point3(x=4, label="a", required=1)
    assert pickle.loads(pickle.dumps(point)) == point
    assert copy.deepcopy(point) == point


def test_a_data_class_is_mutable_and_updates_as_a_copy():
    content = Content(text="a")
    other = content.with_updates(text="b")
    content.text = "c"
    assert (content.text, other.text, other._private) == ("c", "b", True)


def test_a_data_class_shows_only_its_public_fields():
    assert Content(text="a").to_dict() == {"text": "a"}
    assert Content.field_names() == {"text"}


def test_a_data_class_refuses_an_unknown_update():
    with pytest.raises(ValueError, match="Invalid parameter"):
        Content().with_updates(nope=1)
