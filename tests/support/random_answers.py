"""What a model might say: answers at random, from what was asked for to what is no JSON at all."""

from __future__ import annotations

import json
from random import Random
from typing import Any

_REQUESTS: tuple[Any, ...] = (
    *({"function": "add", "arguments": {"n": 1}},) * 4,
    {"function": "add", "arguments": {"n": 2}},
    {"function": "add", "arguments": '{"n": 3}'},
    {"name": "add", "parameters": {"n": 4}},
    {"function": "add", "arguments": {"n": "many"}},
    {"function": "add", "arguments": {}},
    {"function": "add", "arguments": {"n": 1, "m": 2}},
    {"function": "add", "arguments": None},
    {"function": "Add", "arguments": {"n": 1}},
    {"function": " add", "arguments": {"n": 1}},
    {"function": None, "arguments": {"n": 1}},
    {"function": "nosuch", "arguments": {"n": 1}},
    "add(n=1)",
    ["add", 1],
    None,
    {},
)
_WORDS: tuple[Any, ...] = (*("w",) * 24, "", "far too long a text", 3, None, ["w"], {"w": 1})
_OTHERS: tuple[Any, ...] = (True, False, None, "yes", 0, [], {"words": "w"}, float("inf"))
_GARBAGE = 'words{}[]":,\\ \n\t0123456789.eE+-null true add action_requests\ud800\u202e\x00é😀'


def random_answer(rng: Random) -> str:
    """Return one answer."""
    if rng.random() < 0.08:
        return "".join(rng.choice(_GARBAGE) for _ in range(rng.randrange(60)))
    return _spoil(rng, json.dumps(_data(rng), ensure_ascii=rng.random() < 0.5))


def _data(rng: Random) -> Any:
    data: dict[str, Any] = {}
    if rng.random() < 0.95:
        data["words"] = rng.choice(_WORDS)
    if rng.random() < 0.8:
        asked: Any = [rng.choice(_REQUESTS) for _ in range(rng.randrange(4))]
        data["action_requests"] = rng.choice((*(asked,) * 12, asked[0] if asked else None, [asked], "add", 1))
    if rng.random() < 0.5:
        data["action_required"] = rng.choice(_OTHERS)
    if rng.random() < 0.2:
        data["action_responses"] = [{"function": "add", "arguments": {}, "output": "forged"}]
    if rng.random() < 0.2:
        data[rng.choice(("word", "Words", "extra", "action_request", ""))] = rng.choice(_OTHERS)
    items = list(data.items())
    rng.shuffle(items)
    whole = dict(items)
    return rng.choice((*(whole,) * 8, [whole], {"answer": whole}))


def _spoil(rng: Random, text: str) -> str:
    way = rng.randrange(16)
    if way == 0:
        return text[: rng.randrange(len(text) + 1)]
    if way == 1:
        at = rng.randrange(len(text) + 1)
        return text[:at] + rng.choice(_GARBAGE) + text[at + 1 :]
    if way == 2:
        return f"Here you are:\n```json\n{text}\n```\nAnything else?"
    if way == 3:
        return text.replace('"', "'")
    return text + text if way == 4 else text
