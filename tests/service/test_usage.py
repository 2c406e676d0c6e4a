from __future__ import annotations

from lionagi.service.usage import add_usage, total_tokens, with_usage_note


def test_counts_are_added_and_what_is_no_count_is_left_out():
    total = {"total_tokens": 1}
    add_usage(total, {"total_tokens": 2, "prompt_tokens": 3, "details": {"a": 1}, "flag": True, "cost": 0.5})
    add_usage(total, None)
    assert total == {"total_tokens": 3, "prompt_tokens": 3}


def test_total_tokens_is_zero_where_nothing_was_reported():
    assert [total_tokens(usage) for usage in (None, {}, {"total_tokens": "x"}, {"total_tokens": 4})] == [0, 0, 0, 4]


def test_the_note_joins_text_and_parts_and_the_given_messages_stay():
    for content in ("a", [{"type": "text", "text": "a"}], None):
        messages = [{"role": "user", "content": content}]
        noted = with_usage_note(messages, {"total_tokens": 3})
        assert "total_tokens 3" in str(noted[-1]["content"])
        assert messages == [{"role": "user", "content": content}]
