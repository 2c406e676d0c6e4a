from __future__ import annotations

import pytest

from lionagi.cli._stream import AnswerStream


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["Hel", "lo"], "Hello\n"),
        (["Hello\n"], "Hello\n"),
        (["a\r", "\nb"], "a\nb\n"),
        (["a\r", "b\r"], "a\\rb\\r\n"),
        (["\x1b", "[2J"], "\\x1b[2J\n"),
        ([""], ""),
        ([], ""),
    ],
)
def test_pieces_make_the_same_text_as_the_whole(
    pieces: list[str], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = AnswerStream()
    for piece in pieces:
        stream.write(piece)
    stream.close()
    assert capsys.readouterr().out == shown
    assert stream.written == bool(shown)
