"""The names at the top of the package are loaded at first use."""

from __future__ import annotations

import pytest

import lionagi


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        lionagi.Nothing  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_dir_lists_the_lazy_names() -> None:
    assert set(lionagi.__all__) <= set(dir(lionagi))


def test_a_name_is_the_same_object_each_time() -> None:
    assert lionagi.Spec is lionagi.Spec
    assert lionagi.types.Spec is lionagi.Spec
