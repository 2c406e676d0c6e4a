from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lionagi.session.branch import Branch
from lionagi.testing import ScriptModel, TestBranch, script_from_branch


def look_up(key: str) -> str:
    """Look a key up."""
    return key * 2


async def talk(branch: Branch) -> list[tuple[str, Any]]:
    """Three turns: a text, tools asked for in JSON, tools asked for natively."""
    await branch.communicate("hello")
    await branch.operate(instruction="look x and y up", actions=True)
    await branch.operate(instruction="and z", actions=True)
    volatile = {"action_request_id", "action_response_id"}
    return [
        (message.role, {key: value for key, value in message.content.to_dict().items() if key not in volatile})
        for message in branch.messages
    ]


ANSWERS: list[dict[str, Any]] = [
    {"type": "text", "content": "hi"},
    {
        "type": "structured",
        "data": {"action_requests": [{"function": "look_up", "arguments": {"key": key}} for key in "xy"]},
    },
    {"type": "tool_call", "name": "look_up", "arguments": {"key": "z"}, "id": "call_1"},
]


def branch_on(script: Any) -> Branch:
    return TestBranch.from_script(script, tools=[look_up], system="be brief")


@pytest.mark.parametrize("how", ["branch", "snapshot", "dict", "path", "str"])
async def test_a_conversation_made_of_its_own_script_is_the_same(tmp_path: Path, how: str) -> None:
    branch = branch_on(ANSWERS)
    before = await talk(branch)
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(branch.snapshot()))
    sources: dict[str, Any] = {
        "branch": branch,
        "snapshot": branch.snapshot(),
        "dict": branch.to_dict("json"),
        "path": path,
        "str": str(path),
    }
    script = script_from_branch(sources[how])
    again = branch_on(script)
    assert await talk(again) == before
    assert len(before) == 13
    TestBranch.assert_exhausted(again)


async def test_answers_become_entries_of_their_kind() -> None:
    branch = branch_on(ANSWERS)
    await talk(branch)
    first, second, third = script_from_branch(branch).to_mapping()["responses"]
    assert first == ANSWERS[0]
    assert (second["type"], json.loads(second["content"])) == ("text", ANSWERS[1]["data"])
    assert third == ANSWERS[2]


def message(response: str, *calls: dict[str, Any]) -> Branch:
    branch = Branch()
    made = branch.msgs.create_assistant_response(assistant_response=response)
    made.metadata["tool_calls"] = list(calls)
    branch.messages.append(made)
    return branch


CALL = {"function": "f", "arguments": {"n": 1}, "id": "c1"}
REQUEST = {"function": "f", "arguments": {"n": 1}}


@pytest.mark.parametrize(
    ("text", "calls", "data"),
    [
        ("", [CALL, CALL], {"action_requests": [REQUEST, REQUEST]}),
        ("Looking.", [CALL], {"action_requests": [REQUEST]}),
        ('{"a": 1}', [CALL], {"a": 1, "action_requests": [REQUEST]}),
        ("[1]", [CALL], {"action_requests": [REQUEST]}),
        ("", [{**CALL, "arguments": "{bro"}], {"action_requests": [{"function": "f", "arguments": "{bro"}]}),
    ],
)
def test_calls_that_one_entry_cannot_hold_become_requests(text: str, calls: list[Any], data: Any) -> None:
    (entry,) = script_from_branch(message(text, *calls)).to_mapping()["responses"]
    assert entry == {"type": "structured", "data": data}


def test_a_branch_without_answers_is_an_empty_script() -> None:
    assert script_from_branch(Branch()).model_dump() == ScriptModel().model_dump()


@pytest.mark.parametrize(
    ("content", "said"),
    [("{", "is no snapshot of a branch"), ("[1]", r"it holds \[1\]"), ('{"id": 1}', r"has only \['id'\]")],
)
def test_what_is_no_snapshot_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=said):
        script_from_branch(path)


async def test_the_model_of_a_snapshot_is_not_made_again(caplog: pytest.LogCaptureFixture) -> None:
    branch = TestBranch.from_text("hi")
    await branch.communicate("hello")
    assert len(script_from_branch(branch.snapshot()).responses) == 1
    assert caplog.text == ""
