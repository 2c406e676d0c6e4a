"""``li form``: form files without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from support.li import li

from lionagi.cli._gate import check_form, read_form_file
from lionagi.cli._table import problem_table

FAULTY = """title: Order
rules: []
fields:
  item: {type: str}
  amount: {type: int}
  express: {type: boolean}
values:
  item: book
  amount: many
  note: x
"""
VALID = """title: Order
fields:
  item: {type: str, description: What}
  amount: {type: int, default: 1}
values: {item: book}
"""
MODEL = '''
from __future__ import annotations
import helper_beside_it
from pydantic import BaseModel, Field
print("hello from the file")

class Ticket(BaseModel):
    """A ticket."""
    title: str = Field(description="What it is about")
    urgency: int = 3
    tags: list[str] = Field(default_factory=list)

class Plain: ...
'''


@pytest.fixture
def form(tmp_path: Path) -> Path:
    return tmp_path / "form.yaml"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    (tmp_path / "helper_beside_it.py").touch()
    (tmp_path / "models.py").write_text(MODEL)
    return tmp_path / "models.py"


def test_check_says_a_valid_form_is_valid(form: Path) -> None:
    form.write_text(VALID)
    ran = li("form", "check", str(form))
    assert (ran.status, ran.out, ran.err) == (0, f"{form}: valid (2 fields, 2 values)\n", "")


def test_check_in_a_pipe_has_one_line_per_problem_with_file_and_line(form: Path) -> None:
    form.write_text(FAULTY)
    ran = li("form", "check", str(form))
    assert (ran.status, ran.err) == (1, "")
    assert [line.split(": ")[0] for line in ran.out.splitlines()] == [f"{form}:{line}" for line in (2, 10, 6, 9)]


def test_check_json_tells_field_value_expected_and_line(form: Path) -> None:
    form.write_text(FAULTY)
    ran = li("form", "check", str(form), "--json")
    told = json.loads(ran.out)
    assert (ran.status, told["file"], told["valid"], told["title"]) == (1, str(form), False, "Order")
    assert [(p["field"], p["value"], p["line"]) for p in told["problems"]] == [
        ("rules", [], 2),
        ("note", "x", 10),
        ("express", "boolean", 6),
        ("amount", "many", 9),
    ]
    assert told["problems"][3]["expected"] == "int, required"
    assert all(p["message"] for p in told["problems"])


def test_check_json_tells_a_file_that_cannot_be_read(form: Path) -> None:
    form.write_text("a: 1\na: 2\n")
    ran = li("form", "check", str(form), "--json")
    [problem] = json.loads(ran.out)["problems"]
    assert (ran.status, problem["line"]) == (1, 2)
    assert "twice" in problem["message"]


def test_check_of_a_missing_file_is_one_line(form: Path) -> None:
    ran = li("form", "check", str(form))
    assert (ran.status, ran.out, ran.err) == (1, "", f"error: form file {form} not found\n")


def table(form: Path, width: int = 80) -> list[str]:
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(problem_table(check_form(read_form_file(str(form)), str(form)).problems, "problems"))
    console.file.close()
    return console.export_text().splitlines()


def test_the_table_has_a_row_for_each_problem_within_80_columns(form: Path) -> None:
    form.write_text(FAULTY)
    lines = table(form)
    assert max(map(len, lines)) <= 80
    assert [word in "\n".join(lines) for word in ("Line", "Field", "Value", "Expected")] == [True] * 4
    rows = [line.split()[0] for line in lines if line.split() and line.split()[0].isdigit()]
    assert rows == ["2", "10", "6", "9"]


def test_H1_the_table_reads_no_cell_as_markup(form: Path) -> None:
    form.write_text('fields:\n  "[red]x[/red]": {type: "[bold]\\e[2J"}\n')
    text = "\n".join(table(form, 120))
    assert "[red]x[/red]" in text
    assert "[bold]\\x1b[2J" in text
    assert "\x1b" not in text


def test_new_writes_a_form_that_check_accepts(models: Path, form: Path) -> None:
    ran = li("form", "new", f"{models}:Ticket", "-o", str(form))
    assert (ran.status, ran.out) == (0, f"{form}: 3 fields\n")
    assert ran.err == "hello from the file\n"
    spec = read_form_file(str(form))
    assert spec["fields"]["title"] == {"type": "str", "required": True, "description": "What it is about"} | {
        name: value for name, value in spec["fields"]["title"].items() if name == "default"
    }
    assert spec["fields"]["urgency"]["default"] == 3


def test_new_prints_without_a_file(models: Path, form: Path) -> None:
    ran = li("form", "new", f"{models}:Ticket")
    form.write_text(ran.out)
    assert (ran.status, list(read_form_file(str(form))["fields"])) == (0, ["title", "urgency", "tags"])


def test_new_warns_of_the_constraints_that_no_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "bounded.py"
    path.write_text("from pydantic import BaseModel, Field\n\nclass Order(BaseModel):\n    n: int = Field(ge=1)\n")
    ran = li("form", "new", f"{path}:Order")
    assert ran.status == 0
    assert ran.err == "warning: a form file holds types, not constraints; left out: Order.n: Ge(ge=1)\n"
    assert "n:" in ran.out


def test_new_json_holds_the_text(models: Path) -> None:
    told = json.loads(li("form", "new", f"{models}:Ticket", "--json").out)
    assert told["fields"] == ["title", "urgency", "tags"]
    assert "urgency:" in told["yaml"]


def test_new_leaves_an_existing_file_alone(models: Path, form: Path) -> None:
    form.write_text("mine")
    ran = li("form", "new", f"{models}:Ticket", "-o", str(form))
    assert (ran.status, form.read_text()) == (1, "mine")
    assert "exists already" in ran.err


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("models.py", "write FILE.py:CLASS"),
        ("models.txt:Ticket", "write FILE.py:CLASS"),
        ("absent.py:Ticket", "no Python file"),
        ("{models}:Absent", "no pydantic model class"),
        ("{models}:Plain", "no pydantic model class"),
        ("{models}:BaseModel.x", "write FILE.py:CLASS"),
    ],
)
def test_new_says_what_is_no_class(named: str, problem: str, models: Path) -> None:
    ran = li("form", "new", named.replace("{models}", str(models)))
    assert (ran.status, ran.out) == (1, "")
    assert problem in ran.err.splitlines()[-1]


@pytest.mark.parametrize("code", ["1/0", "raise SystemExit(0)", "def f(:", "import nothing_of_that_name"])
def test_new_of_a_file_that_fails_is_one_line(code: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(code)
    ran = li("form", "new", f"{tmp_path / 'broken.py'}:A", "--json")
    assert (ran.status, len(ran.err.splitlines())) == (1, 1)
    assert "fails when it is run" in json.loads(ran.out)["error"]


def test_schema_is_json_schema_of_the_values(form: Path) -> None:
    form.write_text(VALID)
    ran = li("form", "schema", str(form))
    schema = json.loads(ran.out)
    assert (ran.status, schema["type"], list(schema["properties"])) == (0, "object", ["item", "amount"])
    assert schema["properties"]["item"]["type"] == "string"
    assert schema["properties"]["item"]["description"] == "What"
    assert json.loads(li("form", "schema", str(form), "--json").out) == schema


def test_schema_does_not_look_at_values(form: Path) -> None:
    form.write_text("fields: {a: {type: int}}\nvalues: {a: many}\n")
    assert li("form", "schema", str(form)).status == 0


@pytest.mark.parametrize("text", [FAULTY, "a: [", "- a"])
def test_schema_of_a_faulty_file_is_one_line(text: str, form: Path) -> None:
    form.write_text(text)
    ran = li("form", "schema", str(form))
    assert (ran.status, ran.out, len(ran.err.splitlines())) == (1, "", 1)


def test_form_alone_shows_its_commands() -> None:
    ran = li("form")
    assert ran.status == 0
    assert [name in ran.out for name in ("check", "new", "schema")] == [True] * 3
