"""Files of forms and rules: what is read, what is refused, and that writing and reading give the same."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionagi.ln.yamls import load_yaml
from lionagi.work import Rule, RuleSet, WorkForm
from lionagi.work._exact import exact_yaml

READERS: list[Callable[[str | Path], Any]] = [WorkForm.from_yaml, RuleSet.from_yaml]


def fifo(path: Path) -> None:
    os.mkfifo(path)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("read", READERS, ids=lambda each: each.__qualname__)
@pytest.mark.parametrize(
    ("make", "words"),
    [(fifo, "not a regular file"), (bound_socket, "not a regular file"), (Path.mkdir, "not a regular file"),
     (loop, "cannot be read")],
)  # fmt: skip
def test_F5_what_is_no_file_is_refused_and_never_waited_for(
    tmp_path: Path, read: Callable[[str | Path], Any], make: Callable[[Path], None], words: str
) -> None:
    path = tmp_path / "it"
    make(path)
    with pytest.raises(ValueError, match=words) as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("read", READERS, ids=lambda each: each.__qualname__)
def test_a_file_that_is_not_there_is_told_by_its_path(tmp_path: Path, read: Callable[[str | Path], Any]) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.yaml not found"):
        read(tmp_path / "none.yaml")
    with pytest.raises(ValueError, match="cannot be read"):
        read("a\0b")


@pytest.mark.parametrize("read", READERS, ids=lambda each: each.__qualname__)
@pytest.mark.parametrize(
    ("text", "words"),
    [(b"a: \xff", "not UTF-8"), (b"a: [", "line"), (b"# " + b"x" * 1024 * 1024, "bytes"), (b"a: &x 1", "anchors")],
    ids=["bytes", "syntax", "size", "anchor"],
)
def test_a_text_that_is_refused_is_told_with_the_path(
    tmp_path: Path, read: Callable[[str | Path], Any], text: bytes, words: str
) -> None:
    path = tmp_path / "it.yaml"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=words) as caught:
        read(path)
    assert str(caught.value).count(str(path)) == 1


def test_a_declaration_that_is_refused_is_told_with_the_path(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_text("fields: {a: {type: int, default: many}}")
    with pytest.raises(ValueError, match=r"it\.yaml: default: .*'many' is not compatible with declared type"):
        WorkForm.from_yaml(path)


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
rule_sets = st.lists(
    st.builds(
        Rule,
        rule_id=st.text(),
        field=st.text(),
        check=st.sampled_from(["required", "type", "range", "pattern"]),
        params=st.dictionaries(st.text(), plain | st.lists(plain, max_size=2), max_size=3),
        message=st.none() | st.text(),
        enabled=st.booleans(),
    ),
    max_size=3,
    unique_by=lambda rule: rule.rule_id,
).map(RuleSet)


@given(rule_sets)
def test_rules_written_as_a_file_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, rules: RuleSet) -> None:
    path = tmp_path_factory.getbasetemp() / "rules.yaml"
    path.write_text(rules.to_yaml(), encoding="utf-8", newline="")
    read = RuleSet.from_yaml(path)
    assert read.rules() == rules.rules()
    assert repr([rule.params for rule in read.rules()]) == repr([rule.params for rule in rules.rules()])


def test_flags_are_written_as_a_number() -> None:
    params = {"pattern": "a", "flags": re.I | re.M}
    text = RuleSet([Rule(rule_id="r", field="a", check="pattern", params=params)]).to_yaml()
    assert load_yaml(text)[0]["params"] == {"pattern": "a", "flags": 10}


@pytest.mark.parametrize("value", [float("nan"), (1, 2), object(), {1: 2}])
def test_params_that_no_file_can_hold_are_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match=r"no file can hold|not a finite number|no text"):
        RuleSet([Rule(rule_id="r", field="a", check="range", params={"min": value})]).to_yaml()


def test_data_that_read_back_differently_are_not_written() -> None:
    with pytest.raises(ValueError, match="the thing cannot be written so that it reads back exactly"):
        exact_yaml({"a": 1}, "the thing", lambda text: {"a": True})
    with pytest.raises(ValueError, match="exactly"):
        exact_yaml({"a": 1, "b": [2]}, "the thing", lambda text: {"b": [2], "a": 1})
