"""The gate's rules one by one, on the mapping that a file holds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from support.li import li

from lionagi.cli.agent import _FORM_SPEC_ALLOWED_KEYS, _build_work_form, _form_to_context_block, _load_form_spec
from lionagi.work import FieldSpec, WorkForm, fill_form

TABBED = '\t{"title": "t",\n\t"fields": {"a": {"type": "int"}},\n\t"values": {"a": 1}}'


def load(tmp_path: Path, text: str) -> dict[str, Any]:
    (tmp_path / "form").write_text(text)
    return _load_form_spec(str(tmp_path / "form"))


@pytest.mark.record("0052-D3-02")
def test_the_module_defines_the_gates_four_names() -> None:
    assert frozenset({"title", "fields", "values"}) == _FORM_SPEC_ALLOWED_KEYS
    assert isinstance(_FORM_SPEC_ALLOWED_KEYS, frozenset)
    assert all(map(callable, (_load_form_spec, _build_work_form, _form_to_context_block)))


@pytest.mark.record("0052-D3-03")
def test_a_missing_path_and_a_directory_have_their_classes(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not found"):
        _load_form_spec(str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="not a regular file"):
        _load_form_spec(str(tmp_path))


@pytest.mark.record("0052-D3-04")
def test_a_yaml_syntax_error_falls_back_to_json(tmp_path: Path) -> None:
    assert load(tmp_path, TABBED) == {"title": "t", "fields": {"a": {"type": "int"}}, "values": {"a": 1}}
    with pytest.raises(ValueError, match="could not parse"):
        load(tmp_path, TABBED[:-1])


@pytest.mark.record("0052-D3-05")
@pytest.mark.parametrize("text", ["- a\n", "text\n", "3\n", "true\n", "", "# only a comment\n", "[]", '\t["a"]'])
def test_a_top_level_that_is_no_mapping_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be a YAML/JSON mapping"):
        load(tmp_path, text)


@pytest.mark.record("0052-D3-06")
@pytest.mark.parametrize("key", ["rules", "ruleset", "status", "Title", ""])
def test_an_unknown_section_is_refused_and_named(key: str) -> None:
    with pytest.raises(ValueError, match=rf"unknown top-level key\(s\) '{key}'"):
        _build_work_form({key: [], "fields": {}}, "p")


@pytest.mark.record("0052-D3-07")
@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"fields": []}, "'fields' must be a mapping"),
        ({"fields": "a"}, "'fields' must be a mapping"),
        ({"fields": 0}, "'fields' must be a mapping"),
        ({"fields": {"a": {"required": False}}, "values": []}, "'values' must be a mapping"),
        ({"values": ""}, "'values' must be a mapping"),
        ({"values": {"a": 1}}, "'values' are declared but 'fields' is absent or empty"),
        ({"values": {"a": 1}, "fields": {}}, "'values' are declared but 'fields' is absent or empty"),
        ({"values": {"a": 1}, "fields": None}, "'values' are declared but 'fields' is absent or empty"),
    ],
)
def test_a_section_that_is_no_mapping_and_values_without_fields_are_refused(spec: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        _build_work_form(spec, "p")


@pytest.mark.record("0052-D3-08")
def test_an_undeclared_value_is_refused_and_named() -> None:
    with pytest.raises(ValueError, match=r"values contain undeclared key\(s\) 'b'"):
        _build_work_form({"fields": {"a": {}}, "values": {"a": "x", "b": 1}}, "p")


@pytest.mark.record("0052-D3-09")
@pytest.mark.parametrize("declaration", [None, "int", ["int"], 3, True])
def test_a_declaration_that_is_no_mapping_is_refused(declaration: Any) -> None:
    with pytest.raises(ValueError, match="field 'a' must be a mapping"):
        _build_work_form({"fields": {"a": declaration}}, "p")


@pytest.mark.record("0052-D3-10")
@pytest.mark.parametrize(
    "declaration",
    [
        {"type": "integer"},
        {"type": "int", "default": "3"},
        {"kind": "int"},
        {"name": "b"},
        {"id": "x"},
        {"required": 7},
    ],
)
def test_a_declaration_that_fieldspec_refuses_names_path_and_field(declaration: Any) -> None:
    with pytest.raises(ValueError, match=r"the/path.*invalid field 'a'"):
        _build_work_form({"fields": {"a": declaration}}, "the/path")


@pytest.mark.record("0052-D3-10")
def test_a_declaration_becomes_a_fieldspec_of_its_key() -> None:
    declared = {"type": "float", "required": False, "default": 2, "description": "d"}
    form = _build_work_form({"fields": {"a": declared}}, "p")
    made = FieldSpec(name="a", **declared)
    names = ("name", "type", "required", "default", "description")
    assert [getattr(form.fields["a"], n) for n in names] == [getattr(made, n) for n in names]


@pytest.mark.record("0052-D3-11")
@pytest.mark.parametrize("values", [{}, {"values": {}}, {"values": None}])
def test_a_required_field_without_a_value_fails(values: Any, tmp_path: Path) -> None:
    form = _build_work_form({"fields": {"a": {"type": "int"}}, **values}, "p")
    assert (form.status, len(form.validation_errors)) == ("error", 1)
    assert "'a' is required" in form.validation_errors[0]


CAPPED = {
    "duplicate": ("a: 1\na: 2\n", "twice", 2),
    "alias": ("fields:\n  a: *b\n", "aliases", 2),
    "anchor": ("fields:\n  a: &b {}\n", "anchors", 2),
    "key": ("fields:\n  1: {}\n", "is not text", 2),
    "nan": ("fields: {a: {type: float}}\nvalues:\n  a: .nan\n", "not a finite number", 3),
    "infinity": ("fields: {a: {type: float}}\nvalues:\n  a: -.inf\n", "not a finite number", 3),
    "size": ("#" * (1024 * 1024 + 1), "1048577 bytes", None),
    "depth": ("fields: {a: {type: list}}\nvalues:\n  a: " + "[" * 63 + "]" * 63, "more than 64 deep", 3),
    "bytes": ("title: t\nfields: \xe9\n", "not UTF-8", 2),
    "syntax": ("title: t\nfields: {\n", "could not parse", 3),
    "structure": ("title: t\nrules: []\n", "unknown top-level key", 2),
}


@pytest.mark.record("DEC-23-1", "DEC-23-2")
@pytest.mark.parametrize("name", sorted(CAPPED))
def test_what_a_cap_refuses_ends_with_status_1_path_and_line(name: str, program: Any) -> None:
    text, problem, line = CAPPED[name]
    made = program()
    form = made.place / "the form"
    form.write_bytes(text.encode("latin-1"))
    ran = made.run("agent", "--form", str(form), "hi")
    assert (ran.status, ran.out, made.script_was_read) == (1, "", False)
    assert problem in ran.err
    assert str(form) in ran.err
    assert line is None or f"line {line}" in ran.err


def test_the_caps_themselves_are_accepted(tmp_path: Path) -> None:
    text = "fields: {a: {type: list}}\nvalues:\n  a: " + "[" * 62 + "]" * 62 + "\n"
    spec = load(tmp_path, text + "#" * (1024 * 1024 - len(text)))
    assert _build_work_form(spec, "p").status == "validated"


@pytest.mark.record("DEC-23-3")
@pytest.mark.parametrize(
    "text",
    [
        '{"title": "a", "title": "b"}',
        '{"fields": {}, "values": ' + "[" * 70 + "]" * 70 + "}",
        '{"title": "' + "x" * 1024 * 1024 + '"}',
        '{"title": 2024-01-31}',
    ],
    ids=["twice", "deep", "large", "date"],
)
def test_a_refusal_by_a_cap_is_final(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lionagi.work._form_file.loads_json", lambda *_, **__: pytest.fail("read as JSON"))
    with pytest.raises(ValueError, match="form file"):
        load(tmp_path, text)


@pytest.mark.record("DEC-23-4")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('\t{"title": "a", "title": "b"}', "twice"),
        ('\t{"fields": {"a": {}, "\\u0061": {}}}', "twice"),
        ('\t{"values": {"a": NaN}}', "NaN"),
        ('\t{"values": {"a": -Infinity}}', "-Infinity"),
        ('\t{"values": {"a": 1e999}}', "too large"),
        ('\t{"values": ' + "[" * 64 + "]" * 64 + "}", "more than 64 deep"),
        ('\t{"title": "' + "x" * 1024 * 1024 + '"}', "at most 1048576"),
    ],
)
def test_the_json_fallback_has_the_same_caps(text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=problem):
        load(tmp_path, text)


@pytest.mark.record("DEC-23-5")
@pytest.mark.parametrize(
    "word", ["nan", "NaN", "+nan", "-nan", "inf", "INF", "-inf", "+Infinity", " infinity ", "1e400"]
)
def test_a_float_field_refuses_text_that_is_not_finite(word: str) -> None:
    form = _build_work_form({"fields": {"a": {"type": "float"}}, "values": {"a": word}}, "p")
    assert form.status == "error"
    assert "'a' must be a finite number" in form.validation_errors[0]


@pytest.mark.record("DEC-23-6")
def test_all_problems_stand_on_one_line(tmp_path: Path) -> None:
    (tmp_path / "form").write_text("fields:\n  a: {type: int}\n  b: {type: int}\n  c: {}\nvalues:\n  a: x\n  b: y\n")
    ran = li("agent", "--form", str(tmp_path / "form"), "hi")
    assert ran.status == 1
    assert len(ran.err.splitlines()) == 1
    problems = ran.err.split("): ", 1)[1].split("; ")
    assert [line.split(": ")[0] for line in problems] == ["line 6", "line 7", "line 4"]
    assert [name in line for name, line in zip(("'a'", "'b'", "'c'"), problems, strict=True)] == [True] * 3


@pytest.mark.record("DEC-23-7")
def test_the_direct_api_takes_what_the_gate_refuses() -> None:
    spec = FieldSpec(name="a", type="float")
    assert math.isnan(spec.coerce("nan"))
    form = fill_form(WorkForm(fields={"a": spec}), {"a": "inf", "undeclared": 1})
    assert (form.status, form.values) == ("validated", {"a": math.inf, "undeclared": 1})


ERRORS = {
    "not found": None,
    "could not parse": "a: [",
    "must be a YAML/JSON mapping": "[]",
    "unknown top-level key(s)": "x: 1",
    "'fields' must be a mapping": "fields: 1",
    "'values' must be a mapping": "values: 1",
    "'values' are declared but 'fields' is absent or empty": "values: {a: 1}",
    "values contain undeclared key(s)": "fields: {a: {required: false}}\nvalues: {b: 1}",
    "field 'x' must be a mapping": "fields: {x: 1}",
    "invalid field 'x'": "fields: {x: {type: y}}",
}


@pytest.mark.record("DEC-41-7")
def test_the_errors_keep_their_words(tmp_path: Path) -> None:
    path = tmp_path / "form"
    for words, text in ERRORS.items():
        if text is not None:
            path.write_text(text)
        ran = li("agent", "--form", str(path), "hi")
        assert (ran.status, words in ran.err) == (1, True), words
    assert "not a regular file" in li("agent", "--form", str(tmp_path), "hi").err
    assert "mutually exclusive" in li("agent", "-r", "x", "-c", "hi").err


@pytest.mark.record("DEC-41-8")
def test_faults_come_in_the_order_of_the_gate() -> None:
    def problems(spec: dict[str, Any]) -> str:
        with pytest.raises(ValueError, match="form file p") as caught:
            _build_work_form(spec, "p")
        return str(caught.value)

    def in_order(text: str, *words: str) -> bool:
        places = [text.index(word) for word in words]
        return places == sorted(places)

    both = problems({"values": 1, "fields": 2, "rules": 3})
    assert in_order(both, "unknown top-level", "'fields' must be", "'values' must be")
    empty = problems({"values": {"a": 1}, "rules": 3})
    assert in_order(empty, "unknown top-level", "'values' are declared but")
    undeclared = problems({"fields": {"a": 1, "c": {"type": "x"}}, "values": {"b": 1}, "rules": 3})
    assert in_order(undeclared, "unknown top-level", "undeclared key(s) 'b'", "field 'a' must", "invalid field 'c'")


def test_faults_and_misfits_are_told_together() -> None:
    with pytest.raises(ValueError, match=r"invalid field 'a'.*; .*'b'"):
        _build_work_form({"fields": {"a": {"type": "x"}, "b": {"type": "int"}}, "values": {"b": "many"}}, "p")


@pytest.mark.record("DEC-46-3")
@pytest.mark.parametrize("indent", ["", "\t"])
def test_the_spec_is_a_dict_that_knows_the_line_of_each_key(indent: str, tmp_path: Path) -> None:
    text = f'{indent}{{"title": "t",\n"fields": {{\n"a": {{"type":\n"dict"}}\n}},\n"values": {{"a":\n{{"k": 1}}}}}}'
    spec: Any = load(tmp_path, text)
    assert issubclass(type(spec), dict)
    assert type(spec) is not dict
    paths = [("title",), ("fields",), ("fields", "a"), ("fields", "a", "type"), ("values",), ("values", "a")]
    assert [spec.line(*path) for path in (*paths, ("values", "a", "k"))] == [1, 2, 3, 3, 6, 6, 7]
    assert spec.line("absent") is None
    assert spec.line("fields", "absent") == 2


def test_a_title_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="'title' must be a string, not a list"):
        _build_work_form({"title": [1]}, "p")
