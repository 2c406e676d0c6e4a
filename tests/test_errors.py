"""The texts of errors."""

from __future__ import annotations

import pytest

from lionagi._errors import short_repr


class Mute:
    def __repr__(self) -> str:
        raise OSError("no words")


def test_a_repr_is_cut() -> None:
    assert short_repr("ab") == "'ab'"
    assert short_repr("x" * 500, 10) == "'xxxxxxxx…"


@pytest.mark.parametrize(
    ("value", "words"),
    [(Mute(), "<Mute whose repr raises OSError>"), (10**5000, "<int whose repr raises ValueError>")],
    ids=["no repr", "too many digits"],
)
def test_a_value_without_a_repr_is_named_by_its_type(value: object, words: str) -> None:
    assert short_repr(value) == words
