"""Forms from pydantic models and back, as JSON Schema, and as the file of the gate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model
from pydantic import ValidationError as SchemaError

from lionagi.cli._gate import check_form
from lionagi.ln.yamls import dump_yaml
from lionagi.work import FieldSpec, WorkForm, fill_form
from lionagi.work._form_file import parse_form_text


class Ticket(BaseModel):
    """A ticket."""

    title: str = Field(description="What it is about")
    urgency: int = 3
    price: Annotated[float, "in euros"] = 1
    open: bool | None = None
    tags: list[str] = Field(default_factory=list)
    facts: Optional[dict[str, int]]  # noqa: UP045


def shape(form: WorkForm) -> list[tuple[Any, ...]]:
    return [(s.name, s.type, s.required, s.default, s.description) for s in form.fields.values()]


def test_a_model_becomes_a_form() -> None:
    form = WorkForm.from_model(Ticket)
    assert form.title == "Ticket"
    assert shape(form) == [
        ("title", "str", True, None, "What it is about"),
        ("urgency", "int", True, 3, ""),
        ("price", "float", True, 1, ""),
        ("open", "bool", False, None, ""),
        ("tags", "list", True, [], ""),
        ("facts", "dict", False, None, ""),
    ]
    assert WorkForm.from_model(Ticket, title="Mine").title == "Mine"


class Other(BaseModel):
    """A model inside a model."""


@pytest.mark.parametrize("kind", [Literal["a"], int | str, tuple[int, ...], set[int], Any, Other, bytes, None, complex])
def test_a_model_that_no_form_can_be_is_refused_by_field(kind: Any) -> None:
    model = create_model("Odd", good=(int, 1), bad=(kind, ...))
    with pytest.raises(TypeError, match=r"Odd\.bad is of type"):
        WorkForm.from_model(model)


def test_a_default_of_another_type_is_refused_by_field() -> None:
    with pytest.raises(TypeError, match=r"Odd\.bad has the default '3'"):
        WorkForm.from_model(create_model("Odd", bad=(int, "3")))


@pytest.mark.parametrize("thing", [dict, "Ticket", Ticket.model_construct(), None])
def test_what_is_no_model_class_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match="pydantic model class"):
        WorkForm.from_model(thing)


def test_a_form_becomes_a_model_that_checks_the_same() -> None:
    form = WorkForm.from_model(Ticket, title="new ticket")
    model = form.to_model()
    assert model.__name__ == "NewTicket"
    made: Any = model(title="x", urgency="7", facts=None)
    assert (made.urgency, made.tags, made.open) == (7, [], None)
    with pytest.raises(SchemaError, match="title"):
        model()
    with pytest.raises(SchemaError, match="Extra inputs"):
        model(title="x", nonsense=1)
    assert form.to_model("Named").__name__ == "Named"


@pytest.mark.parametrize("name", ["_private", "model_dump", "copy"])
def test_a_field_that_no_model_can_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' cannot be one of a pydantic model"):
        WorkForm(fields={name: FieldSpec(name=name)}).to_model()


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
KINDS: dict[str, Any] = {
    "str": st.text(),
    "int": st.integers(-(2**70), 2**70),
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "list": st.lists(plain, max_size=3),
    "dict": st.dictionaries(st.text(), plain, max_size=3),
}


@st.composite
def filled_forms(draw: st.DrawFn) -> WorkForm:
    fields: dict[str, FieldSpec] = {}
    values: dict[str, Any] = {}
    for name in draw(st.lists(st.from_regex(r"\A[a-z][a-z0-9_]{0,8}\Z"), unique=True, max_size=4)):
        kind: Any = draw(st.sampled_from(sorted(KINDS)))
        default = draw(st.none() | KINDS[kind])
        required = draw(st.booleans())
        fields[name] = FieldSpec(
            name=name, type=kind, required=required, default=default, description=draw(st.text(max_size=20))
        )
        if required or draw(st.booleans()):
            values[name] = draw(KINDS[kind])
    return WorkForm(title=draw(st.text(max_size=20)), fields=fields, values=values)


@given(filled_forms())
def test_a_model_made_of_a_form_gives_the_form_again(form: WorkForm) -> None:
    if any(hasattr(BaseModel, name) for name in form.fields):
        return
    assert shape(WorkForm.from_model(form.to_model())) == shape(form)


def test_the_json_schema() -> None:
    schema = WorkForm.from_model(Ticket).to_json_schema()
    assert schema["title"] == "Ticket"
    assert schema["required"] == ["title"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["title"] == {"type": "string", "description": "What it is about"}
    assert schema["properties"]["urgency"] == {"type": "integer", "default": 3}
    assert schema["properties"]["open"] == {"type": ["boolean", "null"]}
    assert [schema["properties"][name]["type"] for name in ("price", "tags")] == ["number", "array"]
    assert "title" not in WorkForm().to_json_schema()


@given(filled_forms())
def test_a_form_written_as_a_file_reads_back_exactly(form: WorkForm) -> None:
    try:
        text = form.to_yaml()
    except ValueError:
        return  # the next test says that the gate refuses these
    data = parse_form_text(text)
    assert data["title"] == form.title
    assert repr(data.get("values", {})) == repr(form.values)
    assert shape(check_form(data, "f").form) == shape(form)


@pytest.mark.record("DEC-46-2")
@given(
    filled_forms(),
    st.dictionaries(st.sampled_from(["a", "b", "zz"]), plain | st.just(float("nan")) | st.just("inf"), max_size=2),
    st.booleans(),
)
def test_the_writer_refuses_what_the_gate_refuses(form: WorkForm, more: dict[str, Any], dropping: bool) -> None:
    values = {} if dropping else {**form.values, **more}
    form = form.model_copy(update={"values": values})
    try:
        written = form.to_yaml()
    except ValueError:
        written = None
    fields = {
        name: {"type": s.type, "required": s.required, "default": s.default, "description": s.description}
        for name, s in form.fields.items()
    }
    try:
        text = dump_yaml({"title": form.title, "fields": fields, "values": values})
        accepted = not check_form(parse_form_text(text), "f").problems
    except ValueError:
        accepted = False
    assert (written is not None) is accepted
    if written is not None:
        assert check_form(parse_form_text(written), "f").problems == []


@pytest.mark.record("DEC-46-2")
@pytest.mark.parametrize(
    ("fields", "values", "words"),
    [
        ({"a": FieldSpec(name="a")}, {}, "required"),
        ({"a": FieldSpec(name="a", type="int")}, {"a": "many"}, "'int'"),
        ({"a": FieldSpec(name="a")}, {"a": "x", "z": 1}, "undeclared"),
        ({}, {"z": 1}, "'fields' is absent"),
        ({"a": FieldSpec(name="a", type="float")}, {"a": float("nan")}, "finite|NaN|nan"),
        ({"a": FieldSpec(name="a", type="float")}, {"a": "inf"}, "finite"),
        ({"a": FieldSpec(name="a", type="dict")}, {"a": {1: 2}}, "no text"),
        ({"a": FieldSpec(name="a", type="list")}, {"a": [(1, 2)]}, "tuple"),
        ({"a": FieldSpec(name="a", type="list")}, {"a": [object()]}, "no file can hold"),
        ({"b": FieldSpec(name="a")}, {"b": "x"}, "stands under the name 'b'"),
        ({"a": FieldSpec(name="a")}, {"a": "x" * 1024 * 1024}, "bytes|MiB"),
    ],
)
def test_what_is_not_written_and_why(fields: dict[str, FieldSpec], values: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        WorkForm(fields=fields, values=values).to_yaml()


def test_a_template_has_no_values_and_may_lack_required_ones() -> None:
    text = WorkForm(fields={"a": FieldSpec(name="a")}, values={"a": "x"}).to_yaml(template=True)
    assert "values" not in parse_form_text(text)


def test_a_form_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "form.yaml"
    filled = fill_form(WorkForm.from_model(Ticket), {"title": "x", "facts": {"a": 1}})
    path.write_text(filled.to_yaml())
    read = WorkForm.from_yaml(path)
    assert (read.title, read.status, read.values) == ("Ticket", "draft", filled.values)
    assert fill_form(read, read.values).status == "validated"
    path.write_text("fields: {a: {typ: int}}")
    with pytest.raises(ValueError, match=r"form\.yaml: .*'typ'"):
        WorkForm.from_yaml(path)
    with pytest.raises(FileNotFoundError):
        WorkForm.from_yaml(tmp_path / "none.yaml")


def test_a_default_that_is_another_each_time_is_refused_by_field() -> None:
    numbers = iter(range(10))
    with pytest.raises(TypeError, match=r"Odd\.bad has a default that is another each time"):
        WorkForm.from_model(create_model("Odd", bad=(int, Field(default_factory=lambda: next(numbers)))))
    with pytest.raises(TypeError, match=r"Odd\.bad has a default that is made of other fields"):
        WorkForm.from_model(create_model("Odd", bad=(int, Field(default_factory=lambda data: len(data)))))


@pytest.mark.parametrize("title", ["new ticket", "", "Größe?"])
def test_the_title_goes_to_the_model_and_comes_back(title: str) -> None:
    made = WorkForm.from_model(WorkForm(title=title).to_model())
    assert made.title == (title or "Form")
    assert made.to_json_schema()["title"] == made.to_model().model_json_schema()["title"]


@pytest.mark.record("DEC-46-2")
@pytest.mark.parametrize(
    ("attribute", "value"), [("type", "zz"), ("default", "many"), ("required", "perhaps"), ("description", 5)]
)
@pytest.mark.parametrize("template", [True, False])
def test_a_field_that_was_broken_by_assignment_is_not_written(attribute: str, value: Any, template: bool) -> None:
    spec = FieldSpec(name="a", type="int")
    setattr(spec, attribute, value)
    with pytest.raises(ValueError, match="'a' is none any more"):
        WorkForm(fields={"a": spec}, values={"a": 1}).to_yaml(template=template)
