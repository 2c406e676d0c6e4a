"""Field declarations and forms: what they accept, how values are read, which steps there are."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError as SchemaError

from lionagi.protocols.generic.element import Element
from lionagi.work import FieldSpec, FieldType, FormStatus, WorkForm, fill_form
from lionagi.work.form import VALID_TRANSITIONS

TYPES = get_args(FieldType)
STATUSES = get_args(FormStatus)


@pytest.mark.record("0052-D1-01")
def test_the_types_and_statuses() -> None:
    assert TYPES == ("str", "int", "float", "bool", "list", "dict")
    assert STATUSES == ("draft", "filled", "validated", "error", "submitted", "completed")


@pytest.mark.record("0052-D1-02")
def test_fields_and_forms_are_elements_that_are_restored_whole() -> None:
    spec = FieldSpec(name="a", type="list", required=False, default=[1], description="d", metadata={"k": 1})
    form = WorkForm(title="T", fields={"a": spec}, values={"a": [2], "z": {"b": 1}})
    form = fill_form(form, {"a": "no list", "z": 1})
    for element in (spec, form):
        assert isinstance(element, Element)
        again = type(element).from_dict(element.to_dict())
        assert (again.id, again.created_at) == (element.id, element.created_at)
        assert {**element.metadata}.items() <= again.metadata.items()
        for name in type(element).model_fields:
            if name not in ("metadata", "fields"):
                assert getattr(again, name) == getattr(element, name), name
    assert FieldSpec(name="a").id != FieldSpec(name="a").id
    again = WorkForm.from_dict(form.to_dict())
    assert again.fields["a"].default == [1]
    assert again.issues == form.issues != []


@pytest.mark.record("0052-D1-03")
def test_the_defaults_of_a_field() -> None:
    spec = FieldSpec(name="a")
    assert (spec.type, spec.required, spec.default, spec.description) == ("str", True, None, "")
    with pytest.raises(SchemaError, match="name"):
        FieldSpec()  # pyright: ignore[reportCallIssue]


@pytest.mark.record("0052-D1-04")
def test_the_defaults_of_a_form_are_its_own() -> None:
    one, two = WorkForm(), WorkForm()
    assert (one.title, one.fields, one.values, one.status, one.validation_errors) == ("", {}, {}, "draft", [])
    for name in ("fields", "values", "validation_errors", "issues"):
        assert getattr(one, name) is not getattr(two, name)


@pytest.mark.record("0052-D1-05")
@pytest.mark.parametrize("cls", [FieldSpec, WorkForm])
def test_the_model_configuration(cls: type[Element]) -> None:
    expected = {"extra": "forbid", "arbitrary_types_allowed": True, "use_enum_values": True, "populate_by_name": True}
    assert {key: cls.model_config.get(key) for key in expected} == expected
    with pytest.raises(SchemaError, match="Extra inputs are not permitted"):
        cls(name="a", nonsense=1) if cls is FieldSpec else cls(nonsense=1)  # pyright: ignore[reportCallIssue]
    thing = object()
    assert WorkForm(values={"a": thing}).values["a"] is thing


@pytest.mark.record("0052-D1-06", "DEC-25-1", "DEC-41-6")
@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "é", "a\n", "aé", " a", "a.b", "а"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(SchemaError, match="must start with a letter or underscore") as caught:
        FieldSpec(name=name)
    assert isinstance(caught.value, ValueError)


@given(st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]*\Z"))
def test_every_ascii_identifier_is_a_name(name: str) -> None:
    assert FieldSpec(name=name).name == name


VALUES: dict[str, list[Any]] = {
    "str": ["", "x"],
    "int": [0, 7, True],
    "float": [0.5, 3, False],
    "bool": [True, False],
    "list": [[], [1]],
    "dict": [{}, {"a": 1}],
}


@pytest.mark.record("0052-D1-07", "0052-D1-08", "DEC-39-12", "DEC-41-6")
@pytest.mark.parametrize(("kind", "of"), [*itertools.product(TYPES, TYPES)])
def test_a_default_has_the_declared_type_already(kind: Any, of: str) -> None:
    for default in VALUES[of]:
        fits = default in VALUES[kind] and any(type(default) is type(v) for v in VALUES[kind] if v == default)
        fits = fits or (kind == "int" and isinstance(default, int)) or (kind == "float" and isinstance(default, int))
        if fits:
            kept = FieldSpec(name="a", type=kind, default=default).default
            assert kept == default
            assert type(kept) is type(default)
        else:
            with pytest.raises(SchemaError, match="is not compatible with declared type"):
                FieldSpec(name="a", type=kind, default=default)


@pytest.mark.record("0052-D1-07")
@pytest.mark.parametrize(("kind", "text"), [("int", "7"), ("float", "1.5"), ("bool", "yes")])
def test_a_default_is_not_read_from_text(kind: Any, text: str) -> None:
    with pytest.raises(SchemaError, match="is not compatible"):
        FieldSpec(name="a", type=kind, default=text)


@pytest.mark.record("0052-D1-09")
@pytest.mark.parametrize("kind", TYPES)
def test_none_and_values_of_the_type_pass_untouched(kind: Any) -> None:
    spec = FieldSpec(name="a", type=kind)
    assert spec.coerce(None) is None
    for value in VALUES[kind]:
        if kind != "float" or isinstance(value, float):
            assert spec.coerce(value) is value


@pytest.mark.record("0052-D1-10", "0052-D1-11")
@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        ("float", 3, 3.0), ("float", True, 1.0), ("float", "1e3", 1000.0), ("float", " .5 ", 0.5), ("int", " 7 ", 7),
        ("int", "-12", -12), ("int", "1_000", 1000), ("bool", "TRUE", True), ("bool", "Yes", True), ("bool", "1", True),
        ("bool", "False", False), ("bool", "NO", False), ("bool", "0", False),
    ],
)  # fmt: skip
def test_what_people_type_is_read(kind: Any, value: Any, read: Any) -> None:
    made = FieldSpec(name="a", type=kind).coerce(value)
    assert made == read
    assert type(made) is type(read)


def readable(kind: str, value: Any) -> bool:
    """The whole table of conversions, written from its description."""
    if value is None or (kind == "float" and isinstance(value, int)):
        return True
    if kind == "bool" and isinstance(value, str):
        return value.lower() in {"true", "1", "yes", "false", "0", "no"}
    if kind in ("int", "float") and isinstance(value, str):
        try:
            (int if kind == "int" else float)(value)
        except ValueError:
            return False
        return True
    names = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}
    return isinstance(value, names[kind])


anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(["7", "1.5", "yes", "nan", "x"]),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(), st.integers(), max_size=2), st.binary(),
    st.tuples(st.integers()), st.just(1 + 2j),
)  # fmt: skip


@pytest.mark.record("0052-D1-12")
@given(st.sampled_from(TYPES), anything)
def test_every_other_pair_is_a_type_error_that_shows_all_four(kind: Any, value: Any) -> None:
    spec = FieldSpec(name="amount", type=kind)
    if readable(kind, value):
        spec.coerce(value)
        return
    with pytest.raises(TypeError) as caught:
        spec.coerce(value)
    text = str(caught.value)
    assert "'amount'" in text
    assert f"'{kind}'" in text
    assert f"'{type(value).__name__}'" in text
    assert repr(value)[:50] in text


@pytest.mark.record("DEC-23-7")
def test_the_direct_api_takes_a_float_that_is_not_finite() -> None:
    spec = FieldSpec(name="a", type="float")
    assert repr(spec.coerce("nan")) == "nan"
    filled = fill_form(WorkForm(fields={"a": spec}), {"a": "1e400"})
    assert (filled.status, filled.values["a"]) == ("validated", float("inf"))


@pytest.mark.parametrize("text", ["9" * 5000, "-" + "9" * 10_000])
def test_F4_a_number_of_thousands_of_digits_is_a_type_error(text: str) -> None:
    with pytest.raises(TypeError, match="'int'"):
        FieldSpec(name="a", type="int").coerce(text)


def test_F4_an_int_too_large_for_a_float_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="'float'"):
        FieldSpec(name="a", type="float").coerce(10**400)


@pytest.mark.record("0052-D1-13")
def test_reading_a_form() -> None:
    form = WorkForm(fields={n: FieldSpec(name=n) for n in ("b", "a", "c")}, values={"b": 1})
    assert form.form_id == str(form.id)
    assert (form.get("b"), form.get("x"), form.get("x", 7)) == (1, None, 7)
    assert form.field_names() == ["b", "a", "c"]


@pytest.mark.record("0052-D1-14")
@pytest.mark.parametrize("status", STATUSES)
def test_which_statuses_are_complete(status: Any) -> None:
    assert WorkForm(status=status).is_complete() is (status in ("validated", "completed"))


EDGES = {
    ("draft", "filled"), ("filled", "validated"), ("filled", "error"), ("validated", "submitted"),
    ("validated", "error"), ("error", "draft"), ("submitted", "completed"), ("submitted", "error"),
}  # fmt: skip


@pytest.mark.record("0052-D1-15", "0052-D1-16", "0052-D1-17")
@pytest.mark.parametrize(("old", "new"), [*itertools.product(STATUSES, STATUSES)])
def test_the_whole_table_of_transitions(old: Any, new: Any) -> None:
    form = WorkForm(status=old, fields={"a": FieldSpec(name="a")}, validation_errors=["x"])
    if (old, new) in EDGES:
        copy = form.transition_to(new)
        assert (copy.status, form.status, copy.id) == (new, old, form.id)
        assert copy is not form
        return
    with pytest.raises(ValueError, match="allowed: ") as caught:
        form.transition_to(new)
    listed = str(caught.value).partition("allowed: ")[2]
    assert listed == (", ".join(sorted(b for a, b in EDGES if a == old)) or "none, it is the last status")
    assert form.status == old


def test_a_status_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'done'"):
        WorkForm().transition_to("done")  # pyright: ignore[reportArgumentType]
    with pytest.raises(SchemaError):
        WorkForm(status="done")  # pyright: ignore[reportArgumentType]
    assert set(VALID_TRANSITIONS) == set(STATUSES)


@pytest.mark.record("0052-D1-18")
def test_forms_are_not_frozen() -> None:
    form, spec = WorkForm(), FieldSpec(name="a")
    form.title, form.status, spec.description = "x", "filled", "d"
    assert (form.title, form.status, spec.description) == ("x", "filled", "d")


def test_a_form_with_bare_error_texts_has_a_record_for_each() -> None:
    form = WorkForm(validation_errors=["one", "two"])
    assert [(issue.kind, issue.message) for issue in form.issues] == [("unknown", "one"), ("unknown", "two")]
