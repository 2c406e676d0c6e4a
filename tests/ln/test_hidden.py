from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionagi.ln.hidden import one_line, reveal, split_hidden

HOSTILE = st.text(st.characters() | st.sampled_from("\x1b\x9b\x07\r\n\u2028\u2029\u202e\u200b\ufeff\U000e0041\ud800"))


@given(HOSTILE)
def test_H1_prose_holds_no_control_but_newline_and_tab(text: str) -> None:
    assert not [char for char in reveal(text) if unicodedata.category(char) == "Cc" and char not in "\n\t"]


@given(HOSTILE)
def test_one_line_has_one_line_and_no_format_character(text: str) -> None:
    shown = one_line(text)
    assert len(f"x{shown}x".splitlines()) == 1
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("a\rb", "a\\rb"),
    ],
)
def test_hidden_characters_stand_as_escapes(text: str, shown: str) -> None:
    assert (reveal(text), one_line(text)) == (shown, shown)


@pytest.mark.parametrize("text", ["a\n\tb", "می\u200cخواهم", "👩\u200d🚀", "❤\ufe0f", "[red]x[/red]", "C:\\n"])
def test_ordinary_prose_stays(text: str) -> None:
    assert reveal(text) == text


def test_prose_ends_its_lines_with_a_newline_only() -> None:
    assert reveal("a\r\nb") == "a\nb"


def test_on_one_line_joiners_are_seen() -> None:
    assert one_line("pay\u200cpal\n") == "pay\\u200cpal\\n"


def test_hidden_runs_are_told_apart() -> None:
    assert split_hidden("pay\u202eeur") == [("pay", False), ("\\u202e", True), ("eur", False)]
    assert split_hidden("\x1b") == [("\\x1b", True)]
    assert split_hidden("") == []
    assert split_hidden("a\tb\nc") == [("a\tb\nc", False)]


@given(st.text())
def test_the_runs_of_visible_text_are_the_text(text: str) -> None:
    visible = "".join(run for run, boxed in split_hidden(text) if not boxed)
    assert visible == "".join(char for char in text if char in "\n\t" or one_line(char) == char)
