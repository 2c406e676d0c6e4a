"""One question from the terminal: what is asked, what is shown, how it ends."""

from __future__ import annotations

import errno
import io
import json
import os
import select
import signal
import stat
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from support.li import li
from support.openai_server import OpenAIServer, text

from lionagi.cli._saved import save_branch
from lionagi.cli.main import main
from lionagi.session.branch import Branch

HELLO = {"type": "text", "content": "Hello."}
SLOW = {"type": "error", "kind": "timeout", "delay_ms": 30_000}


def saved(home: Path) -> list[Path]:
    return sorted((home / "branches").glob("*.json"))


def asked(home: Path) -> list[str]:
    """Return the instructions in the one saved branch."""
    [path] = saved(home)
    branch = Branch.from_dict(json.loads(path.read_text()))
    return [str(m.content.instruction) for m in branch.messages if type(m).__name__ == "Instruction"]


def test_the_answer_is_all_of_standard_output(scripted: Any) -> None:
    scripted(HELLO)
    ran = li("agent", "hi")
    assert (ran.status, ran.out) == (0, "Hello.\n")


@pytest.mark.record("DEC-19-3")
def test_the_branch_is_saved_and_told_where_unless_no_save(scripted: Any) -> None:
    home = scripted(HELLO).home
    ran = li("agent", "hi", "--no-save")
    assert (ran.status, ran.err, home.exists()) == (0, "", False)
    ran = li("agent", "hi")
    [path] = saved(home)
    assert ran.err.splitlines() == [f"saved to {path}", f'to resume: li agent -r {path.stem} "..."']
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("how", ["-c", "-r"])
def test_a_saved_branch_goes_on(scripted: Any, how: str) -> None:
    home = scripted(HELLO).home
    li("agent", "first")
    name = [saved(home)[0].stem] if how == "-r" else []
    ran = li("agent", how, *name, "second")
    assert (ran.status, asked(home)) == (0, ["first", "second"])


def test_without_a_home_it_saves_in_the_state_directory(scripted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(HELLO)
    monkeypatch.delenv("LIONAGI_HOME")
    li("agent", "hi")
    assert len(saved(Path.home() / ".local" / "state" / "lionagi")) == 1


def test_a_place_that_cannot_be_written_is_a_warning(scripted: Any) -> None:
    home = scripted(HELLO).home
    home.write_text("a file where the directory should be")
    ran = li("agent", "hi")
    assert (ran.status, ran.out) == (0, "Hello.\n")
    assert ran.err.startswith("warning: the branch is not saved")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["-c", "hi"], "nothing to continue"),
        (["-r", "8d0f2c1e-0000-4000-8000-000000000000", "hi"], "no branch 8d0f2c1e-0000-4000-8000-000000000000"),
        (["-r", "../../etc/passwd", "hi"], "is not the id of a branch"),
        (["nowhere/model", "hi"], "no provider 'nowhere'"),
        (["--prompt-file", "absent.txt"], "prompt file absent.txt cannot be read: No such file"),
    ],
)
def test_what_cannot_be_found_is_one_line_and_status_1(scripted: Any, argv: list[str], problem: str) -> None:
    scripted(HELLO)
    ran = li("agent", *argv)
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.err.startswith("error: ")
    assert problem in ran.err


@pytest.mark.parametrize("content", ["{}", "[]", "not JSON", '{"messages": 3}'])
def test_a_damaged_branch_is_one_line_and_status_1(scripted: Any, content: str) -> None:
    home = scripted(HELLO).home
    li("agent", "hi")
    saved(home)[0].write_text(content)
    ran = li("agent", "-c", "hi")
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert str(saved(home)[0]) in ran.err


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        ([], "there is no prompt"),
        (["a", "b", "c"], "3 arguments"),
        (["a", "b", "--prompt", "c"], "2 arguments"),
        (["--prompt", "a", "--prompt-file", "b"], "mutually exclusive"),
        (["-r", "x", "-c", "hi"], "mutually exclusive"),
        (["--stream", "--json", "hi"], "mutually exclusive"),
        (["  "], "the prompt is empty"),
        (["", "hi"], "MODEL is empty"),
        (["--timeout", "0", "hi"], "positive number of seconds"),
        (["--timeout", "nan", "hi"], "positive number of seconds"),
        (["--timeout", "inf", "hi"], "positive number of seconds"),
        (["--cwd", "absent", "hi"], "does not exist"),
        (["--fly", "hi"], "No such option"),
    ],
)
def test_a_wrong_command_line_is_status_2(scripted: Any, argv: list[str], problem: str) -> None:
    scripted(HELLO)
    ran = li("agent", *argv)
    assert (ran.status, ran.out) == (2, "")
    assert problem in ran.err


@pytest.mark.parametrize(
    ("argv", "prompt"),
    [(["hi"], "hi"), (["scripted/other", "hi"], "hi"), (["--prompt", "hi"], "hi"), (["other", "--prompt", "hi"], "hi")],
)
def test_the_prompt_is_the_last_argument_or_an_option(scripted: Any, argv: list[str], prompt: str) -> None:
    home = scripted(HELLO).home
    assert li("agent", *argv).status == 0
    assert asked(home) == [prompt]


def test_one_argument_beside_a_prompt_option_is_the_model(scripted: Any) -> None:
    scripted(HELLO)
    assert json.loads(li("agent", "scripted/other", "--prompt", "hi", "--json").out)["model"] == "other"


def test_the_prompt_comes_from_a_file(scripted: Any, tmp_path: Path) -> None:
    home = scripted(HELLO).home
    (tmp_path / "prompt.txt").write_text("from a file\n", encoding="utf-8-sig")
    li("agent", "--prompt-file", str(tmp_path / "prompt.txt"))
    assert asked(home) == ["from a file"]


def test_the_prompt_comes_from_standard_input(program: Any) -> None:
    made = program(HELLO)
    child = made.start("agent", "--prompt-file", "-", stdin=subprocess.PIPE)
    child.communicate("from a pipe", timeout=50)
    assert (child.returncode, asked(made.home)) == (0, ["from a pipe"])


def test_the_system_message_is_the_branchs(scripted: Any) -> None:
    home = scripted(HELLO).home
    li("agent", "--system", "Be short.", "hi")
    branch = Branch.from_dict(json.loads(saved(home)[0].read_text()))
    assert branch.system is not None
    assert "Be short." in str(branch.system.content)


@pytest.mark.record("DEC-39-7")
def test_without_a_model_the_default_of_branch_is_asked(scripted: Any) -> None:
    scripted(HELLO)
    told = json.loads(li("agent", "hi", "--json").out)
    assert (told["answer"], told["provider"], told["model"]) == ("Hello.", *named(Branch()))


def named(branch: Branch) -> tuple[str, str]:
    return branch.chat_model.provider, branch.chat_model.model_name


def test_without_any_model_the_three_ways_out_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lionagi.service.model_names._installed", lambda package: False)
    ran = li("agent", "hi", "--no-save")
    assert (ran.status, ran.err.count("\n")) == (1, 1)
    assert "no model is configured" in ran.err


def test_json_is_one_object_on_standard_output(scripted: Any) -> None:
    home = scripted({"type": "text", "content": "a\x1b\u202eb"}).home
    told = json.loads((ran := li("agent", "hi", "--json")).out)
    path = saved(home)[0]
    assert ran.out.isascii()
    assert {**told, "seconds": 0} == {
        "status": "completed",
        "exit_code": 0,
        "answer": "a\x1b\u202eb",
        "error": None,
        "branch_id": path.stem,
        "provider": "scripted",
        "model": "scripted-test",
        "usage": {},
        "seconds": 0,
        "saved": str(path),
        "resume": f"li agent -r {path.stem}",
    }


def test_json_tells_a_failure_too(scripted: Any) -> None:
    scripted({"type": "error", "kind": "server_error", "message": "on fire"})
    ran = li("agent", "hi", "--json")
    told = json.loads(ran.out)
    assert (ran.status, told["status"], told["exit_code"], told["answer"]) == (1, "failed", 1, None)
    assert "on fire" in told["error"]


def test_a_failed_call_is_one_line_status_1_and_nothing_saved(scripted: Any) -> None:
    home = scripted({"type": "error", "kind": "value_error", "message": "two\nlines"}).home
    ran = li("agent", "hi")
    assert (ran.status, ran.out, ran.err.count("\n"), home.exists()) == (1, "", 1, False)
    assert "two\\nlines" in ran.err


def test_an_empty_answer_is_a_failure(scripted: Any) -> None:
    scripted({"type": "text", "content": ""})
    ran = li("agent", "hi")
    assert (ran.status, ran.out) == (1, "")
    assert "empty answer" in ran.err


def test_a_timeout_of_ours_is_status_124(scripted: Any) -> None:
    scripted(SLOW)
    ran = li("agent", "hi", "--timeout", "0.05")
    assert (ran.status, ran.err) == (124, "error: no answer within 0.05 s; give a longer --timeout\n")


def test_a_timeout_of_the_provider_is_status_124_too(scripted: Any) -> None:
    scripted({"type": "error", "kind": "timeout"})
    assert li("agent", "hi").status == 124


def test_what_had_arrived_before_a_failure_is_shown(scripted: Any) -> None:
    chunks = [{"type": "text", "content": "so far"}, {"type": "error", "content": "broke"}]
    scripted({"type": "stream", "chunks": chunks})
    ran = li("agent", "hi")
    assert (ran.status, ran.out) == (1, "so far\n")


def test_a_stream_is_shown_as_it_arrives(program: Any) -> None:
    """The first piece is read while the child waits for its deadline."""
    made = program({"type": "stream", "chunks": [{"type": "text", "content": "piece"}]})
    child = made.start("agent", "--stream", "--no-save", "hi")
    out, _ = child.communicate(timeout=50)
    assert (child.returncode, out) == (0, "piece\n")


def test_streaming_asks_an_api_for_a_stream_and_shows_it_once(
    scripted: Any, openai_server: OpenAIServer, server_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()
    openai_server.script(text("Hello from the wire."))
    save_branch(Branch(chat_model=server_model()))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-canary-key")
    ran = li("agent", "--stream", "-c", "hi")
    assert (ran.status, ran.out) == (0, "Hello from the wire.\n")
    assert openai_server.payloads[-1]["stream"] is True


def test_an_answer_that_did_not_stream_is_shown_at_the_end(scripted: Any) -> None:
    scripted({"type": "structured", "data": {"a": 1}})
    ran = li("agent", "--stream", "hi")
    assert (ran.status, json.loads(ran.out)) == (0, {"a": 1})


def test_verbose_tells_model_usage_and_stages(scripted: Any) -> None:
    scripted(HELLO)
    ran = li("agent", "-v", "--no-save", "hi")
    assert ran.out == "Hello.\n"
    assert ran.err.startswith("model: scripted/scripted-test; usage: not reported; ")
    assert "  model call\n" in ran.err


def test_the_turn_runs_in_cwd_and_comes_back(scripted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(HELLO)
    (tmp_path / "there").mkdir()
    seen: list[str] = []
    operate = Branch.operate

    async def watched(self: Branch, **arguments: Any) -> Any:
        seen.append(os.getcwd())
        return await operate(self, **arguments)

    monkeypatch.setattr(Branch, "operate", watched)
    before = os.getcwd()
    assert li("agent", "--cwd", str(tmp_path / "there"), "hi").status == 0
    assert (seen, os.getcwd()) == ([str(tmp_path / "there")], before)


def wait_for(made: Any) -> None:
    """Return once the child has read its script; the handlers of signals stand by then."""
    while not made.script_was_read:
        select.select([], [], [], 0.01)


@pytest.mark.parametrize(
    ("number", "status", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_it_with_its_status(program: Any, number: signal.Signals, status: int, word: str) -> None:
    made = program(SLOW)
    child = made.start("agent", "-v", "hi")
    wait_for(made)
    child.send_signal(number)
    _, err = child.communicate(timeout=50)
    assert child.returncode == status
    assert f"error: {word}\n" in err
    assert "Traceback" not in err


def test_F10_a_reader_that_is_gone_is_status_141(program: Any) -> None:
    made = program(HELLO)
    reading, writing = os.pipe()
    os.close(reading)
    child = made.start("agent", "--no-save", "hi", stdout=writing)
    os.close(writing)
    _, err = child.communicate(timeout=50)
    assert (child.returncode, err) == (141, "")


def test_F10_a_reader_that_leaves_a_stream_is_status_141(program: Any) -> None:
    made = program(HELLO)
    reading, writing = os.pipe()
    os.close(reading)
    child = made.start("agent", "--no-save", "--stream", "hi", stdout=writing)
    os.close(writing)
    _, err = child.communicate(timeout=50)
    assert (child.returncode, err) == (141, "")


def test_a_full_disk_is_one_line_and_status_1(program: Any) -> None:
    with open("/dev/full", "w") as full:
        ran = program(HELLO).run("agent", "--no-save", "hi", stdout=full)
    assert (ran.status, ran.err.count("\n")) == (1, 1)
    assert "No space left on device" in ran.err


def test_an_encoding_without_the_characters_gets_their_escapes(program: Any) -> None:
    made = program({"type": "text", "content": "naïve ✓"})
    made.environment["PYTHONIOENCODING"] = "ascii"
    assert made.run("agent", "--no-save", "hi").out == "na\\xefve \\u2713\n"


class LeavesAfterTheFirstPiece(io.StringIO):
    def write(self, text: str, /) -> int:
        if self.getvalue():
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        return super().write(text)


def test_F10_a_reader_that_leaves_between_two_lines_is_not_the_models_failure(scripted: Any) -> None:
    pieces = [{"type": "text", "content": text} for text in ("one\n", "two\n")]
    scripted({"type": "stream", "chunks": pieces})
    with redirect_stdout(LeavesAfterTheFirstPiece()), redirect_stderr(io.StringIO()) as err:
        with pytest.raises(SystemExit) as ended:
            main.main(args=["agent", "--stream", "--no-save", "hi"], prog_name="li")
    assert (ended.value.code, err.getvalue()) == (141, "")
