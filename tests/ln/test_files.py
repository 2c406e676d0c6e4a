from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lionagi._errors import ValidationError
from lionagi.ln import files
from lionagi.ln.files import append_line, remove_file, write_atomic


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_text_is_written_as_utf8_and_bytes_as_they_are(tmp_path: Path):
    write_atomic(tmp_path / "a", "grün\n")
    write_atomic(tmp_path / "b", b"\x00\xff")
    assert (tmp_path / "a").read_bytes() == "grün\n".encode()
    assert (tmp_path / "b").read_bytes() == b"\x00\xff"


def test_lone_surrogates_do_not_stop_a_write(tmp_path: Path):
    write_atomic(tmp_path / "a", "x\ud800")
    append_line(tmp_path / "a", "\udfff")
    assert (tmp_path / "a").read_text() == "x�\n�\n"


def test_an_existing_file_is_replaced_and_nothing_else_is_left(tmp_path: Path):
    (tmp_path / "a").write_text("old and longer")
    write_atomic(str(tmp_path / "a"), "new")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"a": "new"}


def test_W4_files_and_new_directories_are_private(tmp_path: Path):
    old = os.umask(0)
    try:
        write_atomic(tmp_path / "x" / "y" / "a", "1")
        append_line(tmp_path / "x" / "z" / "b", "1")
    finally:
        os.umask(old)
    assert [mode_of(tmp_path / name) for name in ("x", "x/y", "x/z")] == [0o700] * 3
    assert [mode_of(tmp_path / name) for name in ("x/y/a", "x/z/b")] == [0o600] * 2


def test_W4_a_file_that_was_public_is_private_afterwards(tmp_path: Path):
    (tmp_path / "a").touch(mode=0o644)
    write_atomic(tmp_path / "a", "1")
    assert mode_of(tmp_path / "a") == 0o600


@pytest.mark.parametrize("write", [write_atomic, append_line])
@pytest.mark.parametrize("dangling", [False, True])
def test_W4_symlink_targets_are_refused(tmp_path: Path, write, dangling: bool):
    outside = tmp_path / "outside"
    if not dangling:
        outside.write_text("kept")
    (tmp_path / "link").symlink_to(outside)
    with pytest.raises(ValidationError, match="symbolic link"):
        write(tmp_path / "link", "data")
    assert outside.exists() is not dangling
    assert dangling or outside.read_text() == "kept"


@pytest.mark.parametrize("write", [write_atomic, append_line])
def test_W4_a_directory_or_fifo_is_refused_without_hanging(tmp_path: Path, write):
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    for name in ("directory", "fifo"):
        with pytest.raises(ValidationError, match="not a regular file"):
            write(tmp_path / name, "data")


class Broken:
    """Lets one function of the os module fail at its k-th call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, number: int, at: int = 1) -> None:
        real = getattr(os, name)
        self.calls = 0

        def fail(*args, **kwargs):
            self.calls += 1
            if self.calls == at:
                raise OSError(number, os.strerror(number), "here")
            return real(*args, **kwargs)

        monkeypatch.setattr(files.os, name, fail)


@pytest.mark.parametrize("name", ["open", "fchmod", "write", "fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_W2_a_failing_io_call_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int
):
    (tmp_path / "a").write_text("old")
    with monkeypatch.context() as patch:
        Broken(patch, name, number)
        with pytest.raises(OSError, match=os.strerror(number)):
            write_atomic(tmp_path / "a", "new")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"a": "old"}


def test_W2_a_directory_that_cannot_be_made_is_an_error_of_the_system(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        write_atomic(tmp_path / "file" / "sub" / "a", "new")


def test_a_directory_that_cannot_be_synced_does_not_undo_the_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        Broken(patch, "fsync", errno.EIO, at=2)
        write_atomic(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "new"


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "write", lambda handle, data: real(handle, data[:3]))
        write_atomic(tmp_path / "a", "0123456789")
    assert (tmp_path / "a").read_text() == "0123456789"


def test_lines_are_appended_in_order(tmp_path: Path):
    for line in ("one", b"two", ""):
        append_line(tmp_path / "a", line, sync=True)
    assert (tmp_path / "a").read_text() == "one\ntwo\n\n"


def test_a_line_with_a_newline_is_refused(tmp_path: Path):
    with pytest.raises(ValidationError, match="newline"):
        append_line(tmp_path / "a", "one\ntwo")
    assert not (tmp_path / "a").exists()


def test_W1_a_torn_last_line_costs_no_other(tmp_path: Path):
    (tmp_path / "a").write_text('{"n": 1}\n{"n": 2')
    append_line(tmp_path / "a", '{"n": 3}')
    assert (tmp_path / "a").read_text().splitlines() == ['{"n": 1}', '{"n": 2', '{"n": 3}']


def test_a_line_that_was_taken_in_part_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "write", lambda handle, data: real(handle, data[:3]))
        with pytest.raises(OSError, match="only 3 of 11 bytes"):
            append_line(tmp_path / "a", "0123456789")


def test_removing_takes_the_link_and_not_its_target(tmp_path: Path):
    (tmp_path / "a").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    remove_file(tmp_path / "link")
    remove_file(tmp_path / "nothing")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


LETTERS = "abcdefgh"

_APPENDER = """
import sys
from lionagi.ln.files import append_line
for i in range(100):
    append_line(sys.argv[1], sys.argv[2] * 3000)
"""

_WRITER = """
import itertools, json, sys
from lionagi.ln.files import write_atomic
for i in itertools.count():
    write_atomic(sys.argv[1], json.dumps({"n": i, "text": sys.argv[2] * 200_000}))
    if i == 0:
        print("started", flush=True)
    if len(sys.argv) > 3 and i == int(sys.argv[3]):
        break
"""


def test_W3_lines_of_several_processes_never_mix(tmp_path: Path):
    target = tmp_path / "lines"
    writers = [subprocess.Popen([sys.executable, "-c", _APPENDER, str(target), letter]) for letter in LETTERS]
    assert [each.wait(50) for each in writers] == [0] * 8
    lines = [line for line in target.read_text().splitlines() if line]
    assert len(lines) == 800
    assert set(lines) == {letter * 3000 for letter in LETTERS}


def test_W3_snapshots_of_several_processes_are_whole(tmp_path: Path):
    target = tmp_path / "snapshot"
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(target), c, "10"], stdout=-1) for c in LETTERS]
    assert [each.communicate(timeout=50) and each.returncode for each in writers] == [0] * 8
    assert json.loads(target.read_text())["n"] == 10
    assert [each.name for each in tmp_path.iterdir()] == ["snapshot"]


def test_W1_a_killed_writer_leaves_a_whole_snapshot(tmp_path: Path):
    target = tmp_path / "snapshot"
    for round_ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(target), "x"], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        with writer.stdout:
            assert writer.stdout.readline() == b"started\n"
            time.sleep(0.007 * round_)
            writer.send_signal(signal.SIGKILL)
        writer.wait(10)
        assert len(json.loads(target.read_text())["text"]) == 200_000
