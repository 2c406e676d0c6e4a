"""A form as the text of a form file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError as SchemaError

from lionagi._errors import ValidationError

from ._exact import exact_yaml
from ._files import first_problem
from ._form_file import (
    FIELD_KEYS,
    FormFileData,
    declaration_problems,
    number_problems,
    parse_form_text,
    read_form_file,
    structure_problems,
)
from .fill import fill_form

if TYPE_CHECKING:
    from .form import FieldSpec, WorkForm

__all__ = ("form_text", "read_form")

F = TypeVar("F", bound="WorkForm")


def form_text(form: WorkForm, template: bool) -> str:
    """Return the text of the file that holds a form's title, fields and values.

    Raises:
        ValidationError: The gate would refuse it, or it would not read back as it was; it is a ValueError.
    """
    data: dict[str, Any] = {"title": form.title, "fields": {n: _declaration(n, s) for n, s in form.fields.items()}}
    if form.values and not template:
        data["values"] = dict(form.values)
    text, read = exact_yaml(data, "the form", parse_form_text)
    problems = [str(each) for each in structure_problems(read)] + _misfits(form, read, template)
    if problems:
        raise ValidationError(f"li agent --form would refuse the form: {'; '.join(problems)}")
    return text


def _declaration(name: str, spec: FieldSpec) -> dict[str, Any]:
    if name != spec.name:
        raise ValidationError(f"the field {spec.name!r} stands under the name {name!r}; use one name for both")
    given: dict[str, Any] = {key: getattr(spec, key) for key in FIELD_KEYS}
    try:
        type(spec)(name=name, **given)  # a field can have been assigned to
    except SchemaError as error:
        raise ValidationError(f"the field {name!r} is none any more: {first_problem(error)}") from None
    usual = {"default": None, "description": ""}
    return {key: value for key, value in given.items() if key not in usual or value != usual[key]}


def _misfits(form: WorkForm, read: FormFileData, template: bool) -> list[str]:
    if template:
        return [str(each) for each in number_problems(read, {n: s.default for n, s in form.fields.items()})]
    if not form.fields:
        return []
    filled = fill_form(form, form.values)
    return [*filled.validation_errors, *(str(each) for each in number_problems(read, filled.values))]


def read_form(form_class: type[F], field_class: type[FieldSpec], path: str | Path) -> F:
    """Return the form of a form file, as a draft.

    Raises:
        FileNotFoundError: Nothing is there.
        ValidationError: The file, its text, its structure or a declaration is refused; it is a ValueError.
        ParseError: It is neither YAML nor JSON.
    """
    data = read_form_file(path)
    fields: dict[str, Any] = data.get("fields") or {}
    problems = structure_problems(data)
    if not problems:
        problems = [each for name, row in fields.items() for each in declaration_problems(data, name, row)]
    if problems:
        raise ValidationError(f"form file {path}: {'; '.join(map(str, problems))}")
    try:
        made = {name: field_class(name=name, **row) for name, row in fields.items()}
    except SchemaError as error:
        raise ValidationError(f"form file {path}: {first_problem(error)}") from None
    return form_class(title=data.get("title") or "", fields=made, values=dict(data.get("values") or {}))
