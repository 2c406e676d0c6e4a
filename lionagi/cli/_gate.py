"""The gate: a form file is read once, all of it is checked, and each problem has its field and its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError as SchemaError

from lionagi._errors import short_repr
from lionagi.work._form_file import (
    FormFileData,
    FormFileProblem,
    declaration_problems,
    number_problems,
    read_form_file,
    structure_problems,
)
from lionagi.work.fill import FieldIssue, fill_form
from lionagi.work.form import FieldSpec, WorkForm

__all__ = ("CheckedForm", "check_form", "read_form_file")


@dataclass(frozen=True, slots=True)
class CheckedForm:
    """What the gate found.

    Attributes:
        form: The filled form; of a faulty file, the part that could be built.
        faults: What is wrong with the file's structure and declarations.
        misfits: Values that do not fit their declaration, and missing ones.
    """

    form: WorkForm
    faults: list[FormFileProblem]
    misfits: list[FormFileProblem]

    @property
    def problems(self) -> list[FormFileProblem]:
        """All of them, faults first."""
        return [*self.faults, *self.misfits]


def check_form(data: Mapping[str, Any], path: str) -> CheckedForm:
    """Build and fill the form of a file, and return it with every problem in one pass; without fields it is a draft.

    Args:
        data: What :func:`read_form_file` returned.
        path: The title of a form that has none.
    """
    faults = structure_problems(data)
    fields: dict[str, FieldSpec] = {}
    for name, declaration in _mapping(data.get("fields")).items():
        found = declaration_problems(data, name, declaration) or _add_field(data, name, declaration, fields)
        faults += found
    title = data.get("title")
    form = WorkForm(title=title if isinstance(title, str) else path, fields=fields)
    values = {name: value for name, value in _mapping(data.get("values")).items() if name in fields}
    if not fields or not isinstance(data.get("values"), Mapping | None):
        return CheckedForm(form, faults, [])
    form, misfits = _checked(data, fill_form(form, values))
    return CheckedForm(form, faults, misfits)


def _mapping(section: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", section) if isinstance(section, Mapping) else {}


def _add_field(
    data: Mapping[str, Any], name: str, declaration: Mapping[str, Any], fields: dict[str, FieldSpec]
) -> list[FormFileProblem]:
    try:
        fields[name] = FieldSpec(name=name, **declaration)
    except SchemaError as error:
        return [_refused(data, name, each) for each in error.errors()]
    return []


# What each key of a declaration holds; the library that refuses it words that differently from release to release.
_EXPECTED = {
    "type": "str, int, float, bool, list or dict",
    "required": "true or false",
    "description": "a string",
}


def _refused(data: Mapping[str, Any], name: str, error: Any) -> FormFileProblem:
    key = next((str(part) for part in error["loc"]), "")
    value = name if key == "name" else _mapping(_mapping(data.get("fields"))[name]).get(key)
    expected = _EXPECTED.get(key)
    if expected is None:
        expected = "a field name" if key == "name" else "a default of the declared type"
        problem = str(error["msg"]).removeprefix("Value error, ")
    else:
        problem = f"'{key}' must be {expected}, not {short_repr(value)}"
    line = _line(data, "fields", name, key)
    return FormFileProblem(name, f"invalid field {short_repr(name)}: {problem}", expected, value, line)


def _checked(data: Mapping[str, Any], form: WorkForm) -> tuple[WorkForm, list[FormFileProblem]]:
    """Return the form with the gate's own problems and the lines in it, and all of them."""
    misfits = [_misfit(data, form, issue) for issue in form.issues]
    numbers = number_problems(data, form.values)
    issues = [
        *(issue.model_copy(update={"message": str(found)}) for issue, found in zip(form.issues, misfits, strict=True)),
        *(FieldIssue(field=each.field, kind="type", message=str(each), value=each.value) for each in numbers),
    ]
    texts = [issue.message for issue in issues]
    status = "error" if issues else form.status
    checked = form.model_copy(update={"issues": issues, "validation_errors": texts, "status": status})
    return checked, misfits + numbers


def _misfit(data: Mapping[str, Any], form: WorkForm, issue: FieldIssue) -> FormFileProblem:
    given = issue.field in _mapping(data.get("values"))
    line = _line(data, "values" if given else "fields", issue.field)
    message = issue.message.removesuffix(".")  # several stand on one line
    return FormFileProblem(issue.field, message, _wanted(form.fields.get(issue.field)), issue.value, line)


def _wanted(spec: FieldSpec | None) -> str:
    return "" if spec is None else f"{spec.type}, required" if spec.required else spec.type


def _line(data: Mapping[str, Any], *path: str) -> int | None:
    return data.line(*path) if isinstance(data, FormFileData) else None
