"""``li script``: check, explain, from-branch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.li import li

from lionagi.testing import ScriptModel, TestBranch, record

SCRIPT = """
responses:
- {type: text, content: a rainy day, when: {prompt_contains: weather}}
- {type: text, content: hello}
- {type: text, content: a tool day, when: {has_tool: look_up}}
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "talk.yaml"
    path.write_text(SCRIPT)
    return path


def test_without_a_command_the_help_is_shown() -> None:
    ran = li("script")
    assert ran.status == 0
    assert [name for name in ("check", "explain", "from-branch") if name not in ran.out] == []


# --- check


def test_check_says_what_a_script_holds(script: Path) -> None:
    ran = li("script", "check", str(script))
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == f"{script}: version 1, mode auto, 3 entries (3 text), 2 with a condition\n"


async def test_check_says_where_a_recording_comes_from(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    with record(path):
        await TestBranch.from_text("x").chat("hi")
    said = li("script", "check", str(path)).out
    assert "version 2, mode auto, 1 entries (1 text), recorded from" in said
    assert "scripted/chat/completions/scripted-test at 2" in said


@pytest.mark.parametrize("content", ["responses: [{type: picture}]", "responses: [3]", "x: 1", "a: [", "version: 9"])
def test_check_fails_for_what_is_no_script_and_goes_on(tmp_path: Path, script: Path, content: str) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(content)
    ran = li("script", "check", str(bad), str(script))
    assert ran.status == 1
    assert ran.err.startswith(f"error: {bad}: ")
    assert len(ran.err.splitlines()) == 1
    assert ran.out.startswith(f"{script}: version 1")


@pytest.mark.parametrize("strict", [False, True])
def test_check_warns_of_what_can_never_count(tmp_path: Path, strict: bool) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"mode": "when_only", "responses": [{"type": "text", "content": "x"}]}')
    ran = li("script", "check", *(["--strict"] if strict else []), str(path))
    assert ran.status == int(strict)
    assert ran.err == f"warning: {path}: entry 0 has no condition, so mode 'when_only' never serves it\n"


def test_check_as_json(tmp_path: Path, script: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("responses: [{type: picture}]")
    good, wrong = json.loads(li("script", "check", "--json", str(script), str(bad)).out)["files"]
    assert (good["file"], good["error"], good["warnings"]) == (str(script), None, [])
    assert (wrong["holds"], "unknown response type 'picture'" in wrong["error"]) == (None, True)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    ran = li("script", "check", str(tmp_path / "none.yaml"))
    assert (ran.status, "does not exist" in ran.err) == (2, True)


# --- explain


def test_explain_says_for_each_entry_why(script: Path) -> None:
    ran = li("script", "explain", str(script), "--prompt", "How is the weather?")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "call 0, last user message 'How is the weather?'",
        "→ 0 text: the last user message contains 'weather'",
        "  1 text: entry 0, whose condition holds, comes first",
        "  2 text: tool 'look_up' is not among the offered []",
    ]


def test_explain_answers_earlier_prompts_first(script: Path) -> None:
    ran = li("script", "explain", str(script), "--prompt", "hi", "--prompt", "ho")
    assert ran.status == 1
    assert ran.out.splitlines()[0] == "call 1, last user message 'ho'"
    assert ran.out.splitlines()[2] == "  1 text: was served before"
    assert ran.out.splitlines()[-1] == "no entry is served"


def test_explain_takes_tools_and_a_call_number_and_gives_json(script: Path) -> None:
    ran = li("script", "explain", str(script), "--prompt", "hi", "--tool", "look_up", "--call", "4", "--json")
    said = json.loads(ran.out)
    assert (said["call_index"], said["prompt"]) == (4, "hi")
    assert [entry["serves"] for entry in said["entries"]] == [False, False, True]
    assert said["entries"][2]["reason"] == "tool 'look_up' is among the offered ['look_up']"


# --- from-branch


@pytest.fixture
async def snapshot(tmp_path: Path) -> Path:
    branch = TestBranch.from_text(["one", "two: 2"])
    await branch.communicate("first")
    await branch.communicate("second")
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(branch.snapshot()))
    return path


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("to_file", [False, True])
def test_from_branch_gives_a_script_with_the_answers(
    tmp_path: Path, snapshot: Path, as_json: bool, to_file: bool
) -> None:
    path = tmp_path / ("s.json" if as_json else "s.yaml")
    ran = li("script", "from-branch", str(snapshot), *(["--json"] if as_json else []), *(["-o", str(path)] * to_file))
    assert ran.status == 0
    if to_file:
        assert (ran.out, ran.err) == ("", f"2 entries written to {path}\n")
    else:
        path.write_text(ran.out)
    script = ScriptModel.coerce(path)
    assert [entry.model_dump()["content"] for entry in script.responses] == ["one", "two: 2"]


def test_from_branch_refuses_what_is_no_snapshot(script: Path) -> None:
    ran = li("script", "from-branch", str(script))
    assert (ran.status, "is no snapshot of a branch" in ran.err) == (1, True)
