from __future__ import annotations

import contextlib
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.source import modules

from lionagi._errors import ParseError, ValidationError
from lionagi.ln.yamls import dump_yaml, load_yaml, load_yaml_lines
from lionagi.testing import ScriptModel

_TRICKY = (
    [
        "1e5",
        "010",
        "12:30",
        "no",
        "~",
        "",
        "2024-01-01",
        "0b_",
        ".inf",
        "- a",
        "a: b",
        "#x",
        " x",
        "x ",
        "x\n",
        "\nx",
        "\n",
    ],
    ["a\n b\n\n", "  a\nb", "<<", "=", "9" * 5000, "1_0", "x: |\n", "a\tb\nc", "a\u2028b\nc", "...", "---\n"],
)
TEXTS = st.text() | st.sampled_from([*_TRICKY[0], *_TRICKY[1]])
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)
YAML_LIKE = st.lists(
    st.sampled_from(
        [*"abc01:-?&*!|>%@`'\"#{}[], \n\t.", "- ", ": ", "\n  ", "a: ", "<<: ", "---\n", "!!str ", "\ud800", "\0"]
    )
).map("".join)


@pytest.fixture(params=["C", "Python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with monkeypatch.context() as patch:
        if request.param == "Python":
            patch.delattr(yaml, "CSafeLoader", raising=False)
        yield request.param


@given(JSON_VALUES)
def test_what_is_written_is_read_back(value: Any):
    assert load_yaml(dump_yaml(value)) == value


@given(JSON_VALUES)
def test_what_is_written_is_read_by_plain_pyyaml_too(value: Any):
    assert yaml.safe_load(dump_yaml(value)) == value


@given(YAML_LIKE, st.booleans())
def test_any_text_gives_data_or_a_typed_error(text: str, strict: bool):
    with contextlib.suppress(ParseError, ValidationError):
        data = load_yaml(text, strict=strict, allow_aliases=not strict)
        assert data is None or isinstance(data, bool | int | float | str | list | dict)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1), ("-1_000", -1000), ("0x1F", 31), ("0o17", 15), ("0b11", 3), ("1.5", 1.5), (".5", 0.5), ("1e5", 1e5),
        ("yes", True), ("Off", False), ("true", True), ("~", None), ("", None), ("'5'", "5"), ('"5"', "5"),
        ("!!str 5", "5"), ("12:30", "12:30"), ("1.2.3", "1.2.3"), ("y", "y"), ("text", "text"), ("-", None),
    ],
)  # fmt: skip
def test_scalars_mean_what_is_written(parser: str, written: str, value: Any):
    if written == "-":
        assert load_yaml("-") == [None]
    else:
        found = load_yaml(f"a: {written}")["a"]
        assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("written", "lenient"),
    [("010", "010"), ("2024-01-01", "2024-01-01"), (".inf", float("inf")), ("1.0e+999", float("inf"))],
)
def test_F4_doubtful_scalars_are_refused_with_their_place(parser: str, written: str, lenient: Any):
    with pytest.raises(ValidationError, match=r"line 2, in 'b\.c'") as caught:
        load_yaml(f"a: 1\nb: {{c: {written}}}")
    assert caught.value.details == {"line": 2, "path": ["b", "c"]}
    assert load_yaml(f"a: {written}", strict=False) == {"a": lenient}


def test_F4_a_number_of_5000_digits_is_refused_fast(parser: str):
    start = time.perf_counter()
    with pytest.raises(ValidationError, match="no number that can be read"):
        load_yaml("a: " + "9" * 5000)
    load_yaml(f"a: 1{':1' * 5000}\nb: 1.{'_' * 5000}x")
    assert time.perf_counter() - start < 0.5


_BOMBS = {
    "flow": "[" * 500_000,
    "block": "- " * 500_000,
    "mapping": "{a: " * 250_000,
    "key": "? " * 500_000,
    "anchor": "&a " * 300_000,
    "tag": "!" * 1_000_000,
    "laughs": "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]",
    "size": "a" * 1_100_000,
}


@pytest.mark.parametrize("text", _BOMBS.values(), ids=_BOMBS)
def test_F2_bombs_are_refused_fast_and_small(text: str):
    load_yaml("a: 1")
    tracemalloc.start()
    try:
        start = time.perf_counter()
        with pytest.raises((ValidationError, ParseError)):
            load_yaml(text, max_bytes=1 << 20, max_depth=64)
        spent = time.perf_counter() - start
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert spent < 0.5
    assert peak < 20_000_000


@pytest.mark.parametrize("text", ["[[[1]]]", "- - - 1", "a: {b: {c: 1}}", "a:\n  b:\n    c: 1"])
def test_F2_the_depth_cap_is_exact(parser: str, text: str):
    load_yaml(text, max_depth=3)
    with pytest.raises(ValidationError, match="more than 2 deep"):
        load_yaml(text, max_depth=2)


def test_the_size_cap_is_exact_and_counts_bytes():
    assert load_yaml("a: ü", max_bytes=5) == load_yaml("a: ü".encode(), max_bytes=5) == {"a": "ü"}
    with pytest.raises(ValidationError, match="5 bytes"):
        load_yaml("a: ü", max_bytes=4)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3", 3, "'a' is there twice"),
        ("a:\n  b: 1\n  'b': 2", 3, "'b' is there twice"),
        ('{"a": 1,\n"a": 2}', 2, "'a' is there twice"),
        ("a: 1\n1: x", 2, "not text"),
        ("true: x", 1, "not text"),
        ("? [a]\n: x", 1, "keys are text"),
        ("a: !!python/name:os.system x", 1, "tag"),
        ("a: !!set {b}", 1, "tag"),
        ("a: &x 1", 1, "anchors"),
        ("a: *x", 1, "aliases"),
        ("a: 1\n---\nb: 2", 2, "several documents"),
    ],
)
def test_F3_F6_what_is_refused_is_named_with_its_line(parser: str, text: str, line: int, words: str):
    with pytest.raises(ValidationError, match=words) as caught:
        load_yaml(text)
    assert caught.value.details["line"] == line


def test_lenient_reading_takes_the_last_key_and_any_scalar_key():
    assert load_yaml("a: 1\na: 2\n1: x\nfalse: y", strict=False) == {"a": 2, 1: "x", False: "y"}


def test_aliases_on_request_share_the_object():
    data = load_yaml("a: &x [1]\nb: *x\nc: &k key\n*k : 2", allow_aliases=True)
    assert data == {"a": [1], "b": [1], "c": "key", "key": 2}
    assert data["a"] is data["b"]


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: *x", "a: &x [1]\n*x : 1"])
def test_aliases_that_make_no_sense_are_refused(parser: str, text: str):
    with pytest.raises(ValidationError, match="alias"):
        load_yaml(text, allow_aliases=True)


def test_text_that_is_no_yaml_is_a_parse_error_with_its_line(parser: str):
    with pytest.raises(ParseError, match="line 2") as caught:
        load_yaml("a: 1\nb: ]")
    assert caught.value.details["line"] == 2


@pytest.mark.parametrize("data", [b"a: \xff", "a: 1".encode("utf-16"), "a: ü".encode("latin-1")])
def test_F5_bytes_that_are_not_utf8_are_refused(data: bytes):
    with pytest.raises(ValidationError, match="UTF-8"):
        load_yaml(data)


def test_F5_a_byte_order_mark_is_skipped_and_nul_is_a_parse_error(parser: str):
    assert load_yaml("\ufeffa: 1".encode()) == load_yaml("\ufeffa: 1") == {"a": 1}
    with pytest.raises(ParseError, match="not YAML"):
        load_yaml("a: \0")


def test_H3_lone_surrogates_are_replaced():
    assert load_yaml('a: "\ud800"') == {"a": "�"}
    assert load_yaml(dump_yaml({"a": "\ud800"})) == {"a": "�"}


@pytest.mark.parametrize("text", ["", "# nothing", "---\n", "null"])
def test_no_content_is_none(parser: str, text: str):
    assert load_yaml(text) is None


def test_lines_are_given_for_keys_also_inside_lists(parser: str):
    data, lines = load_yaml_lines("title: x\nfields:\n  age:\n    type: int\nvalues:\n  - 1\n  - {b: 2}\n")
    assert data == {"title": "x", "fields": {"age": {"type": "int"}}, "values": [1, {"b": 2}]}
    assert lines == {
        ("title",): 1,
        ("fields",): 2,
        ("fields", "age"): 3,
        ("fields", "age", "type"): 4,
        ("values",): 5,
        ("values", 1, "b"): 7,
    }


def test_a_script_larger_than_a_form_loads():
    text = "responses:\n" + "- text: hello there\n" * 110_000
    assert len(load_yaml(text)["responses"]) == 110_000


def test_output_is_block_style_in_insertion_order_without_folding():
    long = "word " * 100 + "end"
    assert dump_yaml({"b": [1, {"c": None}], "a": "x\ny\n", "long": long, "u": "ü"}) == (
        f"b:\n- 1\n- c: null\na: |\n  x\n  y\nlong: {long}\nu: ü\n"
    )


def test_a_shared_value_is_written_twice():
    shared = [1]
    assert dump_yaml({"a": shared, "b": shared}) == "a:\n- 1\nb:\n- 1\n"


def test_tuples_sets_and_subclasses_of_str_are_plain_data():
    class Name(str):
        __slots__ = ()

    assert load_yaml(dump_yaml({"a": (1, 2), "b": {3}, "c": Name("x\ny")})) == {"a": [1, 2], "b": [3], "c": "x\ny"}


def test_what_is_no_plain_data_is_refused():
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for value in (object(), {"a": int}, cyclic):
        with pytest.raises(ValidationError, match="cannot be written as YAML"):
            dump_yaml(value)


@pytest.mark.record("DEC-46-1")
def test_the_caps_are_arguments_of_the_one_door(tmp_path: Path) -> None:
    importers = {m.relative for m in modules() for name, _ in m.imports() if name.split(".")[0] == "yaml"}
    assert importers == {"lionagi/ln/yamls.py"}
    text = "responses:\n- {type: text, content: " + "x" * 2 * 1024 * 1024 + "}\n"
    (tmp_path / "script.yaml").write_text(text)
    assert len(ScriptModel.from_yaml(tmp_path / "script.yaml").responses) == 1
    with pytest.raises(ValidationError, match="at most 1048576"):
        load_yaml(text, max_bytes=1024 * 1024)
    assert load_yaml("[[[1]]]", max_depth=3) == [[[1]]]
    with pytest.raises(ValidationError, match="more than 2 deep"):
        load_yaml("[[[1]]]", max_depth=2)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_F4_what_json_writers_put_for_a_float_that_is_not_finite_is_refused(parser: str, word: str):
    with pytest.raises(ValidationError, match=r"line 1.*not a finite number"):
        load_yaml(f"[{word}]")
    assert load_yaml(f"['{word}']") == [word] == load_yaml(f"[{word}]", strict=False)
    assert load_yaml(dump_yaml([word])) == [word]


def test_F4_a_hexadecimal_number_that_no_text_can_show_is_refused(parser: str):
    assert load_yaml("0x" + "f" * 3500) == int("f" * 3500, 16)
    with pytest.raises(ValidationError, match="no number that can be read: it has 5002 characters"):
        load_yaml("0x" + "f" * 5000)


def test_a_control_character_is_refused_with_its_line(parser: str):
    with pytest.raises(ParseError, match=r"line 3, where '\\x1b' stands") as caught:
        load_yaml("a: 1\nb: 2\nc: \x1b\n")
    assert caught.value.details == {"line": 3}
