"""Numbers, sizes, cuts and hidden characters are said the same way everywhere."""

from __future__ import annotations

import pytest

from lionagi_nb._format import clip, count, duration, joined, show_hidden, size


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"),
        (0.0, "<1 ms"),
        (0.0004, "<1 ms"),
        (0.0005, "1 ms"),
        (0.038, "38 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (1.24, "1.24 s"),
        (12.44, "12.4 s"),
        (59.96, "1 min 00 s"),
        (125, "2 min 05 s"),
        (1e9, "16,666,666 min 40 s"),
    ],
)
def test_durations_have_three_figures(seconds: float | None, words: str) -> None:
    assert duration(seconds).replace("\u00a0", " ") == words


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (61, "61 B"),
        (999, "999 B"),
        (1_900, "1.9 kB"),
        (84_000, "84 kB"),
        (1_200_000, "1.2 MB"),
        (3_000_000_000, "3.0 GB"),
    ],
)
def test_sizes_are_decimal(n: int, words: str) -> None:
    assert size(n).replace("\u00a0", " ") == words


def test_a_cut_says_how_long_the_text_is() -> None:
    assert clip("We have refunded the second charge. " * 9, 40) == "We have refunded the … (324 chars)"


def test_a_text_that_fits_is_not_cut() -> None:
    assert clip("short", 5) == "short"


def test_counts_have_commas_and_plurals() -> None:
    assert [count(1, "tool"), count(2, "tool"), count(1240, "entry", "entries")] == [
        "1 tool",
        "2 tools",
        "1,240 entries",
    ]


def test_names_are_joined_as_in_a_sentence() -> None:
    assert [joined(()), joined(("1",)), joined(("1", "2", "3"))] == ["", "1", "1, 2 and 3"]


@pytest.mark.parametrize(
    "char",
    [
        "\u202e",
        "\u2066",
        "\u200b",
        "\u200d",
        "\ufeff",
        "\u00ad",
        "\x1b",
        "\x00",
        "\x9b",
        "\ud800",
        "\u2028",
        "\U000e0041",
        "\u3164",
    ],
)
def test_H2_a_hidden_character_is_shown_as_its_escape(char: str) -> None:
    shown = show_hidden(f"a{char}b")
    assert char not in shown
    assert shown.startswith("a\\")
    assert shown.endswith("b")


@pytest.mark.parametrize("text", ["naïve Ünïcode 中文 עברית", "a\tb\nc", "❤\ufe0f", ""])
def test_visible_text_is_left_alone(text: str) -> None:
    assert show_hidden(text) == text
