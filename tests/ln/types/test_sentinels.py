from __future__ import annotations

import copy
import pickle

import pytest

from lionagi.ln.types import Undefined, UndefinedType, Unset, UnsetType, is_sentinel, not_sentinel

BOTH = pytest.mark.parametrize("sentinel", [Undefined, Unset])


@BOTH
def test_a_sentinel_is_falsy(sentinel):
    assert not sentinel


@BOTH
def test_a_sentinel_is_the_same_object_after_copying(sentinel):
    assert copy.copy(sentinel) is sentinel
    assert copy.deepcopy([sentinel])[0] is sentinel


@BOTH
def test_a_sentinel_is_the_same_object_after_pickling(sentinel):
    assert pickle.loads(pickle.dumps(sentinel)) is sentinel


def test_the_two_sentinels_are_distinct_singletons():
    assert Undefined is not Unset
    assert UndefinedType() is Undefined
    assert UnsetType() is Unset


def test_none_and_empty_values_are_sentinels_only_when_asked():
    assert not is_sentinel(None)
    assert is_sentinel(None, none_as_sentinel=True)
    assert not is_sentinel([])
    assert is_sentinel({}, empty_as_sentinel=True)


def test_zero_and_false_are_values_always():
    assert not_sentinel(0, True, True)
    assert not_sentinel(False, True, True)
