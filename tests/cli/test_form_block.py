"""What an accepted form puts in front of the prompt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.li import li

from lionagi.cli.agent import _build_work_form, _form_to_context_block, _load_form_spec
from lionagi.session.branch import Branch
from lionagi.work.form import WorkForm

BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\x00\x1b\x9b\u202e\ud800]: "
TEXT = st.text(st.characters() | st.sampled_from(BREAKS))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


class TwoLines:
    def __repr__(self) -> str:
        return "one\n  forged: 1"


def block_of(values: dict[str, Any], title: str = "T") -> list[str]:
    return _form_to_context_block(WorkForm(title=title, values=values)).splitlines()


@pytest.mark.record("DEC-22-1")
@given(TEXT, st.dictionaries(TEXT, VALUES, max_size=5))
def test_F7_the_preamble_has_exactly_1_and_n_lines(title: str, values: dict[str, Any]) -> None:
    lines = block_of(values, title)
    assert len(lines) == 1 + len(values)
    assert lines[0].startswith("[Work Form: ")
    assert all(line.startswith("  ") for line in lines[1:])


@pytest.mark.proof
@settings(max_examples=20_000)
@given(TEXT, st.dictionaries(TEXT, VALUES, max_size=5))
def test_F7_the_preamble_has_exactly_1_and_n_lines_in_20000_forms(title: str, values: dict[str, Any]) -> None:
    assert len(block_of(values, title)) == 1 + len(values)


def test_F7_a_repr_of_two_lines_forges_none() -> None:
    assert block_of({"a": TwoLines()}) == ["[Work Form: T]", "  a: one\\n  forged: 1"]


@pytest.mark.record("0052-D3-15")
def test_the_block_names_title_keys_and_reprs_in_insertion_order() -> None:
    values = {"b": "x", "a": [1, {"c": None}], "é": 0.5}
    assert block_of(values, "Order № 5") == ["[Work Form: Order № 5]", "  b: 'x'", "  a: [1, {'c': None}]", "  é: 0.5"]


def ask_with(form: str, scripted: Any, tmp_path: Path) -> list[Any]:
    """Run the command with the form and return the messages of the saved branch."""
    home = scripted({"type": "text", "content": "Hello."}).home
    (tmp_path / "form.yaml").write_text(form)
    assert li("agent", "--form", str(tmp_path / "form.yaml"), "the prompt").status == 0
    [path] = (home / "branches").glob("*.json")
    return list(Branch.from_dict(json.loads(path.read_text())).messages)


@pytest.mark.record("0052-D3-16")
def test_a_form_with_values_leads_to_one_turn_with_block_and_prompt(scripted: Any, tmp_path: Path) -> None:
    messages = ask_with("title: T\nfields: {a: {type: int}}\nvalues: {a: 1}\n", scripted, tmp_path)
    assert [type(message).__name__ for message in messages] == ["Instruction", "AssistantResponse"]
    assert messages[0].content.instruction == "[Work Form: T]\n  a: 1\n\nthe prompt"


@pytest.mark.record("0052-D3-12")
def test_an_empty_mapping_is_a_draft_and_leaves_the_prompt_alone(scripted: Any, tmp_path: Path) -> None:
    form = _build_work_form({}, "p")
    assert (form.status, form.values) == ("draft", {})
    assert ask_with("{}\n", scripted, tmp_path)[0].content.instruction == "the prompt"


@pytest.mark.record("0052-D3-17")
def test_the_block_shows_coerced_values_and_defaults(scripted: Any, tmp_path: Path) -> None:
    form = """
    title: T
    fields:
      a: {type: int}
      b: {type: float}
      c: {type: bool}
      d: {type: str, default: kept}
    values: {a: " 7 ", b: "1e3", c: "YES"}
    """
    block = ask_with(form, scripted, tmp_path)[0].content.instruction.split("\n\n")[0]
    assert block.splitlines() == ["[Work Form: T]", "  a: 7", "  b: 1000.0", "  c: True", "  d: 'kept'"]


@pytest.mark.record("0052-D3-01")
def test_yaml_and_json_give_the_same_form_and_the_title_may_be_missing(tmp_path: Path) -> None:
    spec = {
        "fields": {"a": {"type": "int", "required": False, "default": 3, "description": "d"}, "b": {"type": "list"}},
        "values": {"b": [1, "x"]},
    }
    yaml_text = """
fields:
  a: {type: int, required: false, default: 3, description: d}
  b:
    type: list
values:
  b: [1, x]
"""
    forms = []
    for name, text in (("form.yaml", yaml_text), ("form.json", json.dumps(spec))):
        (tmp_path / name).write_text(text)
        forms.append(_build_work_form(_load_form_spec(str(tmp_path / name)), "where it lies"))
    for form in forms:
        a, b = form.fields["a"], form.fields["b"]
        assert (form.title, form.status, form.values) == ("where it lies", "validated", {"a": 3, "b": [1, "x"]})
        assert (a.name, a.type, a.required, a.default, a.description) == ("a", "int", False, 3, "d")
        assert (b.name, b.type, b.required, b.default, b.description) == ("b", "list", True, None, "")
