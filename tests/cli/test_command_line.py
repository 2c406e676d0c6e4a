"""Whatever is typed, whatever comes back: a status of the table, no traceback, nothing that a terminal obeys."""

from __future__ import annotations

import io
import json
import os
import pty
import random
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.li import li
from support.openai_server import Faults, OpenAIServer, text

from lionagi.cli._entry import EXIT_CODES
from lionagi.cli._saved import save_branch
from lionagi.session.branch import Branch

STATUSES = {0, 1, 2, 124, 130, 141, 143}
HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\r\x08\u202eevil\u200b[red]red[/red]\U000e0041\x00"


def test_the_statuses_are_those_of_the_table() -> None:
    assert set(EXIT_CODES.values()) == STATUSES


def words(rng: random.Random, folder: Path) -> list[str]:
    """Return one random command line."""
    options = [
        *["--prompt", "--prompt-file", "--form", "--system", "--timeout", "--stream", "-r", "--resume", "-c"],
        *["--continue-last", "--cwd", "--no-save", "-v", "--json", "-h", "--help", "--version", "-o", "--", "-"],
    ]
    others = [
        *["agent", "form", "check", "new", "schema", "hi", "scripted", "scripted/x", "local/absent.gguf", "nowhere/x"],
        *[
            "0.01",
            "1e9",
            "nan",
            "-1",
            "",
            " ",
            HOSTILE,
            HOSTILE[:-1],
            "\ud800",
            "\udcff\udc9b",
            "x" * 5000,
            "a\nb",
            "../..",
            "{}",
            "%s",
            "=",
            "--=x",
        ],
        *[str(folder / name) for name in ("good.yaml", "bad.yaml", "absent", "model.py:Model", "model.py:None", "")],
    ]
    first = rng.choice(["agent", "agent", "form", rng.choice(others)])
    second = [rng.choice(["check", "new", "schema"])] if first == "form" else []
    rest = rng.choices([*options, *others], k=rng.randrange(7))
    return [first, *second, *rest]


@pytest.fixture
def folder(scripted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    scripted({"type": "text", "content": HOSTILE})
    (tmp_path / "good.yaml").write_text("fields: {a: {type: int}}\nvalues: {a: 1}\n")
    (tmp_path / "bad.yaml").write_text("fields: {a: {type: int}}\nvalues: {a: x}\n")
    (tmp_path / "model.py").write_text("from pydantic import BaseModel\nclass Model(BaseModel):\n    a: int\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO("from standard input"))
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    return tmp_path


def check_many(folder: Path, count: int, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    rng = random.Random(seed)
    for _ in range(count):
        argv = words(rng, folder)
        caplog.clear()
        ran = li(*argv)
        assert ran.status in STATUSES, argv
        assert "Traceback" not in ran.err, argv
        assert not re.search(r"^error: [A-Z]\w*(Error|Exception): ", ran.err, re.MULTILINE), argv
        assert not controls(ran.out + ran.err), argv


def controls(shown: str) -> set[str]:
    """Return the characters that a terminal or a reader would be fooled by."""
    return {char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char not in "\n\t"} | (
        set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff\U000e0041")
    )


def test_F10_random_arguments_end_with_a_status_of_the_table(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    check_many(folder, 300, 10, caplog)


@pytest.mark.proof
def test_F10_50000_random_arguments_end_with_a_status_of_the_table(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    check_many(folder, 50_000, 50_000, caplog)


def check_children(program: Any, folder: Path, count: int) -> None:
    made = program({"type": "text", "content": HOSTILE})
    rng = random.Random(20)
    for _ in range(count):
        argv = [
            word.replace("\0", "").encode("utf-8", "surrogateescape" if word != "\ud800" else "replace")
            for word in words(rng, folder)
        ]
        child = made.start(*argv)
        _, err = child.communicate(timeout=50)
        assert child.returncode in STATUSES, argv
        assert "Traceback" not in err, argv


def test_F10_a_child_with_random_arguments_ends_with_a_status_of_the_table(program: Any, folder: Path) -> None:
    check_children(program, folder, 2)


@pytest.mark.proof
def test_F10_20_children_with_random_arguments_end_with_a_status_of_the_table(program: Any, folder: Path) -> None:
    check_children(program, folder, 20)


def test_F10_an_argument_that_is_not_utf_8_is_shown_as_an_escape(program: Any) -> None:
    ran = program().run("agent", b"--\xff\x1b[2J")
    assert ran.status == 2
    assert "\\udcff\\x1b[2J" in ran.err


def test_a_defect_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(options: Any) -> int:
        raise RecursionError("two\nlines")

    monkeypatch.setattr("lionagi.cli.agent.run_agent", broken)
    assert (ran := li("agent", "hi")).status == 1
    assert ran.err == "error: RecursionError: two\\nlines\n"


def terminal(program: Any, *argv: str) -> tuple[int, str]:
    """Run a child on a terminal of 80 columns and return its status and what it wrote there."""
    ours, theirs = pty.openpty()
    program.environment |= {"TERM": "xterm-256color", "COLUMNS": "80"}
    child = program.start(*argv, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b"".join(until_closed(ours))
    os.close(ours)
    return child.wait(timeout=50), written.decode()


def until_closed(handle: int) -> Iterator[bytes]:
    while True:
        try:
            block = os.read(handle, 65536)
        except OSError:  # the other side is closed
            return
        if not block:
            return
        yield block


ATTACKS = ("\x1b[2J", "\x1b]0;title", "\x07", "\x9b", "\x08", "\u202e", "\u200b", "\U000e0041")


def assert_inert(shown: str) -> None:
    assert not [attack for attack in ATTACKS if attack in shown]
    assert "[red]red[/red]" in shown


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_H1_a_models_text_is_inert_on_a_terminal(program: Any, stream: list[str]) -> None:
    chunks = [{"type": "text", "content": char} for char in HOSTILE]
    made = program({"type": "stream", "chunks": chunks})
    status, shown = terminal(made, "agent", *stream, "--no-save", "hi")
    assert status == 0
    assert_inert(shown)
    assert "\\x1b[2J" in shown


def test_H1_a_models_name_is_inert_on_a_terminal(program: Any) -> None:
    made = program({"type": "text", "content": "Hello."})
    status, shown = terminal(made, "agent", "-v", "--no-save", f"scripted/{HOSTILE}".replace("\0", ""), "hi")
    assert status == 0
    assert_inert(shown)


def test_H1_a_providers_error_is_inert_on_a_terminal(program: Any) -> None:
    made = program({"type": "error", "kind": "value_error", "message": HOSTILE})
    status, shown = terminal(made, "agent", "--no-save", "hi")
    assert status == 1
    assert_inert(shown)


@pytest.mark.parametrize("command", [["agent", "hi", "--form"], ["form", "check"], ["form", "schema"]])
def test_H1_a_files_text_is_inert_on_a_terminal(program: Any, command: list[str]) -> None:
    made = program()
    form = {HOSTILE: 1, "fields": {"a": {"type": HOSTILE}, HOSTILE: {}}, "values": {HOSTILE: HOSTILE}}
    (made.place / "form").write_text(json.dumps(form))
    status, shown = terminal(made, *command, "form")
    assert status == 1
    assert not [attack for attack in ATTACKS if attack in shown]
    assert "\\x1b[2J" in shown


def test_H1_a_files_name_is_inert_on_a_terminal(program: Any) -> None:
    made = program()
    name = HOSTILE.replace("\0", "").replace("/", "")
    (made.place / name).write_text("fields: {a: {type: int}}\n")
    for command in (["form", "check"], ["agent", "hi", "--form"]):
        status, shown = terminal(made, *command, name)
        assert status == 1
        assert not [attack for attack in ATTACKS if attack in shown]


def test_on_a_terminal_check_shows_a_table_of_80_columns(program: Any) -> None:
    made = program()
    (made.place / "form").write_text("fields: {a: {type: int}}\nvalues:\n  a: many\n")
    status, shown = terminal(made, "form", "check", "form")
    assert status == 1
    assert [word in shown for word in ("Field", "Expected", "'many'", "int, required")] == [True] * 4
    assert "\x1b[" in shown  # our own colours


def test_in_a_pipe_nothing_is_coloured(program: Any) -> None:
    ran = program().run("form", "check", "absent")
    assert ran.err == "error: form file absent not found\n"


CANARY = "sk-canary-0123456789abcdef"


def everything_in(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("how", [[], ["--json"], ["--stream"], ["-v"]])
@pytest.mark.parametrize("fault", [None, "echo", "silence"])
def test_S1_a_key_is_in_no_output_and_no_file(
    how: list[str],
    fault: str | None,
    scripted: Any,
    openai_server: OpenAIServer,
    server_model: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = scripted().home
    body = json.dumps({"error": {"message": f"bad key {CANARY}", "headers": f"Bearer {CANARY}"}})
    replies = {None: text("Hello."), "echo": Faults.status(401, body), "silence": Faults.silence()}
    openai_server.script(*[replies[fault]] * 4)
    save_branch(Branch(chat_model=server_model(api_key=CANARY)))
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    ran = li("agent", "-c", "--timeout", "0.3" if fault == "silence" else "20", *how, "hi")
    assert ran.status == {None: 0, "echo": 1, "silence": 124}[fault]
    sent = [request.headers["Authorization"] for request in openai_server.requests]
    assert sent or fault == "silence"  # which may run out of time before it is sent
    assert set(sent) <= {f"Bearer {CANARY}"}
    assert CANARY not in ran.out + ran.err + everything_in(home)


def test_S1_a_key_in_an_error_of_ours_is_masked(scripted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted()
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    for argv in (["agent", f"nowhere/{CANARY}", "hi"], ["agent", "hi", "--form", CANARY], ["agent", f"--{CANARY}"]):
        assert CANARY not in li(*argv).err


def test_help_loads_no_command(program: Any) -> None:
    code = """
import sys
from lionagi.cli.main import main
try: main(["--help"], prog_name="li")
except SystemExit: print(sorted(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=program().environment, timeout=50, check=True
    )
    loaded = done.stdout.splitlines()[-1]
    assert "Commands:" in done.stdout
    assert not [name for name in ("pydantic", "rich", "yaml", "asyncio", "lionagi.cli.agent") if f"'{name}'" in loaded]
