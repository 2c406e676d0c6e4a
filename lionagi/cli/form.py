"""``li form``: form files without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lionagi._errors import LionError, ValidationError
from lionagi.cli._gate import CheckedForm, check_form, read_form_file
from lionagi.cli._model_class import load_model_class
from lionagi.cli._options import json_option
from lionagi.cli._output import log_error, log_warning, on_terminal, show, show_json
from lionagi.cli._table import problem_table
from lionagi.ln.files import write_atomic
from lionagi.ln.hidden import one_line
from lionagi.work._constraints import model_constraints
from lionagi.work._form_file import FormFileProblem
from lionagi.work.form import WorkForm

__all__ = ("form_command",)


@click.group("form", invoke_without_command=True)
@click.pass_context
def form_command(ctx: click.Context) -> None:
    """Check form files, write them from a model class, show their schema."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@form_command.command("check", short_help="List every problem of a form file.")
@click.argument("file")
@json_option
def _check(file: str, as_json: bool) -> int:
    """Check FILE as `li agent --form` does, and list every problem; no model is asked.

    Status 0 for a valid form, 1 for any problem.
    """
    try:
        checked = check_form(read_form_file(file), file)
    except (OSError, ValueError) as error:
        return _refuse(file, error, as_json)
    if as_json:
        show_json(_verdict(file, checked.form.title, checked.problems))
    elif checked.problems:
        _list(file, checked.problems)
    else:
        show(one_line(f"{file}: valid ({_counts(checked)})"))
    return 1 if checked.problems else 0


def _refuse(file: str, error: Exception, as_json: bool) -> int:
    if as_json:
        line = error.details.get("line") if isinstance(error, LionError) else None
        problem = FormFileProblem("", str(error), "a readable form file", None, line)
        show_json(_verdict(file, None, [problem]))
    log_error(str(error))
    return 1


def _verdict(file: str, title: str | None, problems: list[FormFileProblem]) -> dict[str, Any]:
    names = ("field", "value", "expected", "line", "message")
    rows = [{name: getattr(problem, name) for name in names} for problem in problems]
    return {"file": file, "valid": not problems, "title": title, "problems": rows}


def _list(file: str, problems: list[FormFileProblem]) -> None:
    count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''} in {file}"
    if on_terminal():
        from rich.console import Console

        Console().print(problem_table(problems, count))
        return
    for problem in problems:
        place = file if problem.line is None else f"{file}:{problem.line}"
        show(one_line(f"{place}: {problem.message}"))


def _counts(checked: CheckedForm) -> str:
    form = checked.form
    return f"{len(form.fields)} fields, {len(form.values)} values"


@form_command.command("new", short_help="Write a form file from a pydantic model.")
@click.argument("model", metavar="MODEL.py:CLASS")
@click.option("-o", "--output", metavar="FILE", help="Write there, not over an existing file, instead of printing.")
@json_option
def _new(model: str, output: str | None, as_json: bool) -> int:
    """Write a form file from a pydantic model class: its fields with type, default and description.

    The Python file is run to find the class.
    """
    try:
        model_class = load_model_class(model)
        form = WorkForm.from_model(model_class, constraints="drop")
        text = form.to_yaml(template=True)
        if output is not None:
            if Path(output).exists():
                raise ValidationError(f"{output} exists already; name another file")
            write_atomic(output, text, mode=0o644)
    except (OSError, ValueError, TypeError) as error:
        return _fail(error, as_json)
    if lost := model_constraints(model_class):
        log_warning(f"a form file holds types, not constraints; left out: {'; '.join(lost)}")
    if as_json:
        show_json({"file": output, "title": form.title, "fields": form.field_names(), "yaml": text})
    elif output is None:
        show(text, end="")
    else:
        show(one_line(f"{output}: {len(form.fields)} fields"))
    return 0


@form_command.command("schema", short_help="Print a form as JSON Schema.")
@click.argument("file")
@json_option
def _schema(file: str, as_json: bool) -> int:
    """Print the JSON Schema of the values that FILE asks for; values that FILE holds are not looked at."""
    try:
        checked = check_form(read_form_file(file), file)
        if checked.faults:
            raise ValidationError(f"form file {file}: {'; '.join(map(str, checked.faults))}")
        show_json(checked.form.to_json_schema())
    except (OSError, ValueError, TypeError) as error:
        return _fail(error, as_json)
    return 0


def _fail(error: Exception, as_json: bool) -> int:
    if as_json:
        show_json({"error": str(error)})
    log_error(str(error))
    return 1
