from __future__ import annotations

import pickle

from lionagi.service.types import Answer, StreamChunk, ToolCall


def test_chunk_to_dict_holds_the_type_and_what_differs_from_the_default():
    assert StreamChunk("text", content="a", is_delta=True).to_dict() == {
        "type": "text",
        "content": "a",
        "is_delta": True,
    }


def test_chunk_to_dict_keeps_empty_text():
    assert StreamChunk("text", content="").to_dict() == {"type": "text", "content": ""}


def test_chunks_do_not_share_metadata():
    StreamChunk("system").metadata["a"] = 1
    assert StreamChunk("system").metadata == {}


def test_answers_pickle():
    answer = Answer("a", (ToolCall("f", {"a": 1}, "1"),), {"total_tokens": 1}, "stop")
    assert pickle.loads(pickle.dumps(answer)) == answer
