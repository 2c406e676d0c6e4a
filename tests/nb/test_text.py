"""Text tables: two spaces between columns, at most 100 columns, no trailing spaces."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lionagi_nb._text import clean, hang, rows_table

WORDS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cf")), max_size=80)


def test_columns_are_as_wide_as_their_cells() -> None:
    assert rows_table(("#", "name"), [("1", "refund"), ("12", "a")], right=(0,)) == [
        " #  name  ",
        "--  ------",
        " 1  refund",
        "12  a     ",
    ]


def test_a_note_stands_under_the_second_column() -> None:
    assert rows_table(("f", "t"), [("a", "int")], notes=["1 to 5"])[-1] == "   1 to 5"


def test_a_sentence_goes_on_under_itself() -> None:
    assert hang("  → ", "one two three four five", width=20) == ["  → one two three four", "    five"]


def test_line_ends_have_no_spaces_and_no_controls() -> None:
    assert clean(["a  ", "b\x1b[31m", ""]) == "a\nb\\x1b[31m"


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=5))
@settings(max_examples=100)
def test_no_table_is_wider_than_100_columns(rows: list[tuple[str, str, str]]) -> None:
    assert all(len(line.rstrip()) <= 100 for line in rows_table(("a", "b", "c"), rows))
