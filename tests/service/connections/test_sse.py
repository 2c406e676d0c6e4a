from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionagi._errors import ProviderResponseError
from lionagi.service.connections.sse import EventParser

STREAM = (
    b': comment\nevent: x\nid: 1\nretry: 5\ndata: {"a": 1}\n\ndata:two\ndata: lines\n\n\n: ping\n\ndata: \xc3\xa9\n\n'
)
EVENTS = ['{"a": 1}', "two\nlines", "é"]


def parse(*parts: bytes, limit: int = 1 << 30) -> list[str]:
    parser = EventParser(limit, "acme")
    events = [event for part in parts for event in parser.feed(part)]
    return events + parser.end()


@pytest.mark.record("DEC-44-1")
def test_comments_and_other_fields_are_skipped():
    assert parse(STREAM) == EVENTS


@pytest.mark.parametrize("newline", [b"\n", b"\r", b"\r\n"])
def test_P8_any_newline_style_split_at_every_byte(newline: bytes):
    stream = STREAM.replace(b"\n", newline)
    assert parse(*(stream[at : at + 1] for at in range(len(stream)))) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=8), st.sampled_from([b"\n", b"\r", b"\r\n"]))
def test_P8_any_split_gives_the_same_events(cuts: list[int], newline: bytes):
    stream = STREAM.replace(b"\n", newline)
    places = [0, *sorted(cuts), len(stream)]
    assert parse(*(stream[start:end] for start, end in pairwise(places))) == EVENTS


@pytest.mark.parametrize("newline", [b"\n", b"\r", b"\r\n"])
def test_P8_a_line_of_4_MiB_split_into_small_pieces(newline: bytes):
    line = b"data: " + b"x" * (4 << 20) + newline + newline
    (event,) = parse(*(line[at : at + 7] for at in range(0, len(line), 7)))
    assert len(event) == 4 << 20


def test_P7_an_event_above_the_limit_is_refused():
    with pytest.raises(ProviderResponseError, match="acme sent one event of more than 100 bytes"):
        parse(b"data: " + b"x" * 101, limit=100)
    with pytest.raises(ProviderResponseError, match="more than 100 bytes"):
        parse(*[b"data: 1234567890\n"] * 11, limit=100)


def test_the_end_mark_counts_without_a_blank_line_or_a_newline():
    assert EventParser(100, "acme").feed(b"data: [DONE]\n") == ["[DONE]"]
    assert parse(b"data: [DONE]") == ["[DONE]"]


def test_a_cut_off_line_is_no_event_and_a_whole_one_is():
    assert parse(b'data: {"a') == []
    assert parse(b"data: 1\n") == ["1"]


def test_a_byte_order_mark_is_skipped():
    assert parse(b"\xef\xbb\xbfdata: 1\n\n") == ["1"]
