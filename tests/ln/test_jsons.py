from __future__ import annotations

import contextlib
import datetime as dt
import enum
import json
import pathlib
import pickle
import time
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from lionagi._errors import ParseError, ValidationError
from lionagi.ln.jsons import (
    REPAIR_MAX_BYTES,
    clean_surrogates,
    extract_json,
    fuzzy_json,
    json_dumpb,
    json_dumps,
    loads_json,
)

ANY_TEXT = st.text(st.characters(codec=None, categories=None))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)
JSON_LIKE = st.lists(
    st.sampled_from(
        [*"{}[]:,\"\\'\n ab1.-e", "```json", "```", "null", '{"a":1}', "\\ud800", "\ud800", "NaN", "//", "“"]
    )
).map("".join)


class Model(BaseModel):
    n: int = 1
    name: str = "x"


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@given(JSON_VALUES)
def test_what_is_written_is_read_back(value: Any):
    assert loads_json(json_dumps(value)) == value
    assert loads_json(json_dumpb(value, indent=2, sort_keys=True)) == value


@given(ANY_TEXT | JSON_LIKE)
def test_H5_readers_raise_nothing_but_parse_errors(text: str):
    assert isinstance(extract_json(text), object)
    for read in (loads_json, fuzzy_json):
        with contextlib.suppress(ParseError):
            read(text)


@given(JSON_LIKE)
def test_H5_extraction_with_repair_never_raises(text: str):
    assert extract_json(text, fuzzy_parse=True, return_one_if_single=False) is not None


@pytest.mark.parametrize("unit", ["[", '{"a":', "[{", '{"', '"', "```json", '```json{"a":"', "\\", "{ ", '{"a" 1}'])
def test_H5_hostile_text_takes_linear_time(unit: str):
    small = unit * (100_000 // len(unit))
    large = unit * (800_000 // len(unit))
    extract_json(small, fuzzy_parse=True)
    base = min(seconds(lambda: extract_json(small, fuzzy_parse=True)) for _ in range(2))
    assert seconds(lambda: extract_json(large, fuzzy_parse=True)) < 24 * base + 1.0


@pytest.mark.parametrize(
    ("prefix", "unit"), [("\na.", "{]```json"), ("", "({]\n\\"), ('-[""', "'\"a1}"), ("", '{"a" }'), ("", "(")]
)
def test_H5_repair_has_a_budget_where_the_library_takes_quadratic_time(prefix: str, unit: str):
    def repair() -> None:
        with contextlib.suppress(ParseError):
            fuzzy_json(prefix + (unit * 20_000)[:20_000])

    repair()
    assert seconds(repair) < 3


def test_H5_a_large_valid_text_is_read_fast():
    text = json.dumps([{"a": i, "b": "text " * 10, "f": i * 1.5} for i in range(12_000)])
    assert seconds(lambda: loads_json(text)) < 1


def test_H5_deep_nesting_is_a_parse_error():
    for text in ("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 50_000):
        with pytest.raises(ParseError):
            loads_json(text)
        with pytest.raises(ParseError):
            fuzzy_json(text)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "-Infinity", "[1e999]", "[-1e400]", "1" + "0" * 400 + ".0"])
def test_numbers_that_are_not_finite_are_refused(text: str):
    with pytest.raises(ParseError):
        loads_json(text)


def test_F4_a_number_of_5000_digits_is_a_typed_error():
    with pytest.raises(ParseError, match="digits"):
        loads_json("9" * 5000)


def test_a_refusal_names_line_and_column():
    with pytest.raises(ParseError, match="line 2, column 6"):
        loads_json('{"a": 1,\n "b" 2}')


def test_text_after_the_value_is_refused():
    with pytest.raises(ParseError, match="unexpected text"):
        loads_json("{} {}")


def test_bytes_and_a_byte_order_mark_are_read():
    assert loads_json('\ufeff{"a": "ü"}'.encode()) == {"a": "ü"}


def test_bytes_that_are_not_utf8_are_a_parse_error():
    with pytest.raises(ParseError, match="UTF-8"):
        loads_json(b'"\xff"')


def test_F3_a_repeated_key_is_refused_on_request_with_its_line():
    text = '{"a": 1,\n "b": {"a": 2},\n "\\u0061": 3}'
    assert loads_json(text)["a"] == 3
    with pytest.raises(ParseError, match=r"line 3.*'a' is there twice"):
        loads_json(text, unique_keys=True)


def test_F2_nesting_is_capped_on_request():
    assert loads_json("[[1]]", max_depth=2) == [[1]]
    with pytest.raises(ParseError, match="more than 2 deep"):
        loads_json("[[[1]]]", max_depth=2)


@given(JSON_VALUES)
def test_the_caps_accept_every_ordinary_value(value: Any):
    assert loads_json(json_dumps(value), unique_keys=True, max_depth=60) == value


@given(ANY_TEXT)
def test_H3_cleaned_text_can_be_encoded_and_cleaning_again_changes_nothing(text: str):
    cleaned = clean_surrogates(text)
    cleaned.encode()
    assert clean_surrogates(cleaned) is cleaned


def test_H3_a_lone_surrogate_is_replaced_and_a_pair_joined():
    assert clean_surrogates("a\ud800b\udc00c\ud83d\ude00") == "a�b�c\U0001f600"


def test_H3_escaped_surrogates_are_replaced_in_values_and_keys():
    assert loads_json('{"\\ud800": ["\\uDFFF", {"a": "\\ud83d\\ude00"}]}') == {"�": ["�", {"a": "\U0001f600"}]}


def test_the_whole_text_comes_first():
    assert extract_json('{"a": 1}') == {"a": 1}
    assert extract_json(" [1, 2] ") == [1, 2]
    assert extract_json("5") == 5


def test_each_fenced_block_comes_next():
    text = 'One:\n```json\n{"a": 1}\n```\ntwo:\n```JSON\n{"b": 2}\n```'
    assert extract_json(text) == [{"a": 1}, {"b": 2}]
    assert extract_json(text.split("two")[0]) == {"a": 1}
    assert extract_json(text.split("two")[0], return_one_if_single=False) == [{"a": 1}]


def test_a_fence_inside_a_string_does_not_end_the_block():
    value = {"code": "```python\nprint()\n```"}
    assert extract_json(f"Here:\n```json\n{json.dumps(value)}\n```") == value
    assert extract_json('Here:\n```json\n{"code": "```"}\n```\n```json\n{"b": 2}\n```') == [{"code": "```"}, {"b": 2}]


@pytest.mark.parametrize("before", ["Sure, here it is: ", "See [1] and {this}: ", 'He said "so": '])
def test_the_first_object_in_prose_comes_last(before: str):
    assert extract_json(f'{before}{{"a": "}}", "b": [1]}} and {{"c": 2}}.') == {"a": "}", "b": [1]}


def test_a_list_of_objects_in_prose_is_taken_whole():
    assert extract_json('Here: [{"a": 1}, {"b": 2}] done') == [{"a": 1}, {"b": 2}]


def test_P5_an_inner_object_never_stands_for_a_cut_one():
    assert extract_json('Here: {"a": {"b": 1}, "c": ') == []
    assert extract_json("Here: {'a': {\"b\": 1}}") == []


def test_parts_are_joined():
    assert extract_json(["```json", '{"a": 1}', "```"]) == {"a": 1}


def test_nothing_found_is_an_empty_list():
    assert extract_json("no JSON here") == extract_json("") == extract_json("x", return_one_if_single=False) == []


def test_repair_reaches_blocks_and_prose():
    assert extract_json("```json\n{'a': 1,}\n```", fuzzy_parse=True) == {"a": 1}
    assert extract_json("Here: {'a': {\"b\": 1}} done", fuzzy_parse=True) == {"a": {"b": 1}}


@pytest.mark.parametrize(
    "text", ["{'a': 1, 'b': [1, 2]}", '{"a": 1, "b": [1, 2,],}', "{a: 1, b: [1, 2]}", '{"a": 1, "b": [1, 2']
)
def test_fuzzy_json_repairs_what_models_write(text: str):
    assert fuzzy_json(text) == {"a": 1, "b": [1, 2]}


def test_fuzzy_json_refuses_what_is_no_container():
    with pytest.raises(ValueError, match="empty"):
        fuzzy_json("  ")
    with pytest.raises(TypeError, match="primitive") as caught:
        fuzzy_json("5")
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), ParseError)
    with pytest.raises(TypeError):
        fuzzy_json(5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="Invalid JSON string"):
        fuzzy_json("hopeless")


def test_repair_ends_at_its_size_and_valid_json_does_not():
    valid = json.dumps({"a": "x" * REPAIR_MAX_BYTES})
    assert fuzzy_json(valid) == json.loads(valid)
    with pytest.raises(ParseError, match="too large to repair"):
        fuzzy_json(valid[:-1])


def test_repair_ends_at_its_depth():
    assert fuzzy_json("[" * 50 + "1") is not None
    with pytest.raises(ParseError, match="too deeply"):
        fuzzy_json("[" * 201 + "1")


def test_a_long_ordinary_answer_is_repaired_within_the_budget():
    rows = [{"name": f"it's {i}", "text": "lorem ipsum, " * 20, "n": i, "t": ["a", "b"]} for i in range(300)]
    assert fuzzy_json(json.dumps({"rows": rows})[:-2]) == {"rows": rows}
    assert fuzzy_json(json.dumps({"rows": rows}).replace('"n"', "n")) == {"rows": rows}


class Colour(enum.Enum):
    RED = "r"


def test_common_types_have_their_usual_forms():
    value = {
        uuid.UUID(int=1): dt.datetime(2024, 1, 2, tzinfo=dt.timezone.utc),  # noqa: UP017
        "p": pathlib.PurePosixPath("a/b"),
        "e": Colour.RED,
        "m": Model(),
        "d": Decimal("1.50"),
        "n": float("nan"),
    }
    assert json_dumps(value) == (
        '{"00000000-0000-0000-0000-000000000001":"2024-01-02T00:00:00Z","p":"a/b","e":"r",'
        '"m":{"n":1,"name":"x"},"d":"1.50","n":null}'
    )


def test_text_is_not_escaped_and_can_be_indented_and_sorted():
    assert json_dumps({"b": "ü", "a": 1}, indent=2, sort_keys=True) == '{\n  "a": 1,\n  "b": "ü"\n}'
    assert json_dumps({"b": "ü"}, decode=False) == '{"b":"ü"}'.encode()


def test_H3_surrogates_do_not_stop_the_writer():
    assert json_dumps({"a": ["\ud800", Model(name="\udfff")]}) == '{"a":["�",{"n":1,"name":"�"}]}'


def test_what_cannot_be_written_is_a_validation_error_or_the_defaults_business():
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for value in (object(), cyclic, b"\xff"):
        with pytest.raises(ValidationError, match="cannot be written as JSON"):
            json_dumps(value)
    assert json_dumps({"a": object()}, default=lambda _: "other") == '{"a":"other"}'
