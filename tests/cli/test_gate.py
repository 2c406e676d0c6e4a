"""No malformed form reaches a model: the gate in front of ``li agent``."""

from __future__ import annotations

import csv
import os
import random
import socket
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.forms import invalid_form, valid_form
from support.li import Ran, li

from lionagi.cli import agent

CORPUS = Path(__file__).parent / "corpus"
INDEX = CORPUS / "index.tsv"
HELLO = {"type": "text", "content": "Hello."}
Gate = Callable[[Path | str], Ran]
SIMPLE = "title: t\nfields:\n  a: {type: int}\nvalues: {a: 1}\n"


def index() -> dict[str, str]:
    """Return the expected message of each file, ``{file}`` in the place of its path."""
    with INDEX.open(encoding="utf-8", newline="") as file:
        return dict(csv.reader(file, "excel-tab"))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Run ``li agent --form`` where asking a model would raise."""

    def never(work: Any) -> None:
        work.close()
        pytest.fail("the model was asked")

    monkeypatch.setattr(agent, "run_async", never)
    return lambda path: li("agent", "--form", str(path), "--no-save", "hi")


def assert_refused(ran: Ran) -> None:
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: ")
    assert len(ran.err.splitlines()) == 1
    assert "Traceback" not in ran.err


def test_the_corpus_is_indexed_and_large_enough() -> None:
    assert set(index()) == {path.name for path in CORPUS.iterdir()} - {INDEX.name}
    assert len(index()) >= 60


@pytest.mark.record("0052-D3-13", "0052-D3-14")
@pytest.mark.parametrize("name", sorted(index()))
def test_F1_each_hostile_file_gets_its_one_line_and_no_model(name: str, gate: Gate) -> None:
    ran = gate(CORPUS / name)
    assert_refused(ran)
    assert ran.err == f"error: {index()[name].replace('{file}', str(CORPUS / name))}\n"


def check_generated(gate: Gate, folder: Path, count: int) -> None:
    rng = random.Random(52)
    path = folder / "form"
    for _ in range(count):
        path.write_bytes((text := invalid_form(rng)).encode("utf-8", "surrogatepass"))
        ran = gate(path)
        assert (ran.status, ran.out, len(ran.err.splitlines())) == (1, "", 1), text
        assert "Traceback" not in ran.err


def test_F1_generated_invalid_forms_are_refused(gate: Gate, tmp_path: Path) -> None:
    check_generated(gate, tmp_path, 300)


@pytest.mark.proof
def test_F1_10000_generated_invalid_forms_are_refused(gate: Gate, tmp_path: Path) -> None:
    check_generated(gate, tmp_path, 10_000)


def check_children(program: Any, texts: list[str]) -> None:
    made = program(HELLO)
    form = made.place / "form"
    for text in texts:
        form.write_bytes(text.encode("utf-8", "surrogatepass"))
        assert_refused(made.run("agent", "--form", str(form), "hi"))
    assert not made.script_was_read
    assert not made.home.exists()


@pytest.mark.record("0052-D3-13", "0052-D3-14")
def test_F1_a_child_with_an_invalid_form_makes_no_model(program: Any) -> None:
    check_children(program, ["rules: []\n", "fields: {a: {type: int}}\nvalues: {a: x}\n"])


@pytest.mark.proof
def test_F1_20_children_with_invalid_forms_make_no_model(program: Any) -> None:
    rng = random.Random(20)
    check_children(program, [invalid_form(rng) for _ in range(20)])


def test_a_child_with_a_valid_form_asks_the_model(program: Any) -> None:
    """What the tests above rely on: the watch sees a model that is made."""
    made = program(HELLO)
    (made.place / "form").write_text(SIMPLE)
    ran = made.run("agent", "--form", "form", "hi")
    assert (ran.status, ran.out, made.script_was_read) == (0, "Hello.\n", True)


def test_generated_valid_forms_are_accepted() -> None:
    """What the generator of invalid forms starts from is valid, so that its faults alone decide."""
    rng = random.Random(1)
    for _ in range(100):
        spec = valid_form(rng)
        assert agent._build_work_form(spec, "form").status == "validated", spec


def laughs() -> str:
    pairs = ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"]
    return "a: &a [x, x]\n" + "".join(f"{new}: &{new} [*{old}, *{old}, *{old}]\n" for old, new in pairs)


BOMBS: dict[str, Callable[[], str]] = {
    "aliases": laughs,
    "above 1 MiB, wide": lambda: "a: [" + "x, " * 400_000 + "x]\n",
    "above 1 MiB, by one byte": lambda: "#" + "x" * 1024 * 1024,
    "deep flow": lambda: "a: " + "[" * 500_000,
    "deep block": lambda: "".join(" " * i + "a:\n" for i in range(1_300)),
    "deep dashes": lambda: "- " * 500_000,
    "deep JSON": lambda: '\t{"a": ' + "[" * 500_000 + "]" * 500_000 + "}",
    "many digits": lambda: "a: " + "9" * 1_000_000,
    "many hexadecimal digits": lambda: "a: 0x" + "f" * 1_000_000,
    "many colons": lambda: "a: 1" + ":1" * 500_000,
    "many tags": lambda: "a: " + "!x " * 300_000,
}


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_F2_a_bomb_is_refused_in_100_ms_and_20_MB(name: str, gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "form").write_text(BOMBS[name]())
    assert_refused_within(0.1, gate, tmp_path / "form")
    assert peak_memory(gate, tmp_path / "form") <= 20_000_000


def test_F2_a_file_of_10_GiB_is_refused_in_100_ms_and_20_MB(gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "form").touch()
    os.truncate(tmp_path / "form", 10 * 1024**3)
    assert_refused_within(0.1, gate, tmp_path / "form")
    assert peak_memory(gate, tmp_path / "form") <= 20_000_000


def assert_refused_within(seconds: float, gate: Gate, path: Path) -> Ran:
    """The best of a few runs counts: the first one loads the parser, and another program may hold up any of them."""
    took = []
    for _ in range(4):
        start = time.perf_counter()
        ran = gate(path)
        took.append(time.perf_counter() - start)
        assert_refused(ran)
    assert min(took) <= seconds
    return ran


def peak_memory(gate: Gate, path: Path) -> int:
    tracemalloc.start()
    try:
        gate(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


DUPLICATES = {
    "title: a\nfields: {}\ntitle: b\n": ("title", 3),
    "fields:\n  a: {type: int}\n  a: {type: int}\n": ("a", 3),
    "fields:\n  a: {type: int}\nvalues:\n  a: 1\n  a: 1\n": ("a", 5),
    '{"title": "a",\n"title": "b"}': ("title", 2),
    '{"fields": {"a": {"type": "int"},\n"a": {}}}': ("a", 2),
    '{"fields": {"a": {"type": "int"}},\n"values": {\n"a": 1,\n"a": 2}}': ("a", 4),
    '\t{"title": "a",\n\t"title": "b"}': ("title", 2),
    '\t{"fields": {"a": {"type": "int"},\n\t"a": {}}}': ("a", 2),
    '\t{"fields": {"a": {"type": "int"}},\n\t"values": {\n\t"a": 1,\n\t"a": 2}}': ("a", 4),
}


@pytest.mark.parametrize("text", sorted(DUPLICATES))
def test_F3_a_duplicate_key_is_refused_with_key_and_line(text: str, gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "form").write_text(text)
    assert_refused(ran := gate(tmp_path / "form"))
    key, line = DUPLICATES[text]
    assert f"the key '{key}' is there twice" in ran.err
    assert f"line {line}" in ran.err


NUMBERS: dict[str, dict[str, Any]] = {
    "int": {"0": 0, "-0": 0, "0x1F": 31, "0o17": 15, "0b11": 3, "1_000": 1000, "9" * 4000: int("9" * 4000), "+1": 1},
    "float": {"1e5": 1e5, "1E5": 1e5, "5": 5.0, "-0.0": -0.0, "1e-999": 0.0, "9007199254740993": 9007199254740992.0},
}
REFUSED_NUMBERS = {
    "int": ["9" * 5000, "0x" + "f" * 5000, "0777", "12:30", "1e5", "1.0", ".inf", "190:20:30"],
    "float": ["1e999", "-1e999", ".nan", ".inf", "-.INF", "NaN", "Infinity", "nan", "1" * 400, "1:30", "010.5.5"],
}


def number_form(kind: str, written: str) -> str:
    return f"fields:\n  a: {{type: {kind}}}\nvalues:\n  a: {written}\n"


@pytest.mark.parametrize(("kind", "written"), [(kind, written) for kind in NUMBERS for written in NUMBERS[kind]])
def test_F4_a_number_is_read_exactly(kind: str, written: str, tmp_path: Path) -> None:
    (tmp_path / "form").write_text(number_form(kind, written))
    form = agent._build_work_form(agent._load_form_spec(str(tmp_path / "form")), "form")
    assert (form.status, form.values["a"]) == ("validated", NUMBERS[kind][written])
    assert type(form.values["a"]).__name__ == kind


@pytest.mark.parametrize(
    ("kind", "written"), [(kind, written) for kind in REFUSED_NUMBERS for written in REFUSED_NUMBERS[kind]]
)
def test_F4_or_refused_in_50_ms(kind: str, written: str, gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "form").write_text(number_form(kind, written))
    ran = assert_refused_within(0.05, gate, tmp_path / "form")
    assert len(ran.err) < 1_000


def fifo(path: Path) -> None:
    os.mkfifo(path)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def loop(path: Path) -> None:
    path.symlink_to(path)


def unreadable(path: Path) -> None:
    path.write_text(SIMPLE)
    path.chmod(0)


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda path: None, "not found"),
    "fifo": (fifo, "not a regular file"),
    "directory": (Path.mkdir, "not a regular file"),
    "socket": (bound_socket, "not a regular file"),
    "link to a fifo": (
        lambda path: (fifo(path.with_name("f")), path.symlink_to(path.with_name("f"))),
        "not a regular file",
    ),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    "link to itself": (loop, "cannot be read: Too many levels"),
    "dangling link": (lambda path: path.symlink_to("nowhere"), "not found"),
    "UTF-16": (lambda path: path.write_text(SIMPLE, encoding="utf-16"), "not UTF-8"),
    "latin-1": (lambda path: path.write_bytes(b"title: \xe9\n"), "not UTF-8"),
    "NUL": (lambda path: path.write_bytes(b"title: \0\n"), "control characters"),
    "empty": (Path.touch, "must be a YAML/JSON mapping"),
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_F5_a_strange_file_is_a_typed_error_at_once(name: str, gate: Gate, tmp_path: Path) -> None:
    path = tmp_path / "form"
    make, problem = FILES[name]
    make(path)
    with pytest.raises((FileNotFoundError, ValueError), match=problem):
        agent._load_form_spec(str(path))
    ran = assert_refused_within(0.05, gate, path)
    assert str(path) in ran.err


def test_F5_an_unreadable_file_is_a_typed_error(gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root reads everything, so the system's refusal is put in where the file is opened."""
    path = tmp_path / "form"
    unreadable(path)

    def refused(self: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refused)
    assert_refused(ran := gate(path))
    assert f"form file {path} cannot be read: Permission denied" in ran.err


@pytest.mark.parametrize("path", ["x" * 5000, "form/below", "", "\udcff"])
def test_F5_an_impossible_path_is_one_line(path: str, gate: Gate) -> None:
    assert_refused(gate(path))


def test_F5_a_path_with_a_nul_is_a_typed_error() -> None:
    with pytest.raises(ValueError, match="cannot be read: embedded null byte"):
        agent._load_form_spec("a\0b")
    assert li("agent", "--form", "a\0b", "hi").status == 2


def test_F5_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "form").write_text(SIMPLE, encoding="utf-8-sig")
    assert agent._load_form_spec(str(tmp_path / "form"))["title"] == "t"


def test_F5_a_child_does_not_wait_for_a_fifo(program: Any) -> None:
    made = program(HELLO)
    os.mkfifo(made.place / "form")
    with open(os.devnull) as nothing:
        ran = made.run("agent", "--form", "form", "hi", stdin=nothing)
    assert_refused(ran)
    assert not made.script_was_read


F6 = {
    "fields: {a: {type: list}}\nvalues:\n  a: !!set {x}\n": "values.a",
    "fields: {a: {type: str}}\nvalues:\n  a: !!python/name:os.system\n": "values.a",
    "fields: {a: {type: str}}\nvalues:\n  a: 2024-01-31\n": "values.a",
    "fields: {a: {type: str}}\nvalues:\n  a: 2024-01-31 10:00:00\n": "values.a",
    "title: a\n---\ntitle: b\n": "several documents",
    "fields:\n  1: {type: int}\n": "'1'",
    "fields:\n  true: {type: int}\n": "'true'",
    "fields:\n  a:\n": "field 'a'",
    "fields:\nvalues:\n  a: 1\n": "'values'",
}


@pytest.mark.parametrize("text", sorted(F6))
def test_F6_odd_yaml_is_refused_with_path_and_field(text: str, gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "form").write_text(text)
    assert_refused(ran := gate(tmp_path / "form"))
    assert str(tmp_path / "form") in ran.err
    assert F6[text] in ran.err


def test_F6_null_sections_are_absent_ones(tmp_path: Path) -> None:
    (tmp_path / "form").write_text("title:\nfields:\nvalues:\n")
    form = agent._build_work_form(agent._load_form_spec(str(tmp_path / "form")), "the path")
    assert (form.status, form.title, form.values) == ("draft", "the path", {})
