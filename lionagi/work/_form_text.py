"""A form as the text of a form file, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from lionagi._errors import ValidationError, short_repr
from lionagi.ln.yamls import dump_yaml

from ._form_file import FormFileData, declaration_problems, number_problems, parse_form_text, structure_problems
from .fill import fill_form

if TYPE_CHECKING:
    from .form import FieldSpec, WorkForm

__all__ = ("form_text", "read_form_text")

F = TypeVar("F", bound="WorkForm")


def form_text(form: WorkForm, template: bool) -> str:
    """Return the text of the file that holds a form's title, fields and values.

    Raises:
        ValidationError: The gate would refuse it, or it would not read back as it was; it is a ValueError.
    """
    data: dict[str, Any] = {"title": form.title, "fields": {n: _declaration(n, s) for n, s in form.fields.items()}}
    if form.values and not template:
        data["values"] = dict(form.values)
    _plain(data, "the form")
    text = dump_yaml(data)
    read = parse_form_text(text)
    if not _same(dict(read), data):
        raise ValidationError("the form cannot be written so that it reads back exactly; look for unusual texts in it")
    problems = [str(each) for each in structure_problems(read)] + _misfits(form, read, template)
    if problems:
        raise ValidationError(f"li agent --form would refuse the form: {'; '.join(problems)}")
    return text


def _declaration(name: str, spec: FieldSpec) -> dict[str, Any]:
    if name != spec.name:
        raise ValidationError(f"the field {spec.name!r} stands under the name {name!r}; use one name for both")
    given = {"type": spec.type, "required": spec.required, "default": spec.default, "description": spec.description}
    usual = {"default": None, "description": ""}
    return {key: value for key, value in given.items() if key not in usual or value != usual[key]}


def _misfits(form: WorkForm, read: FormFileData, template: bool) -> list[str]:
    if template:
        return [str(each) for each in number_problems(read, {n: s.default for n, s in form.fields.items()})]
    if not form.fields:
        return []
    filled = fill_form(form, form.values)
    return [*filled.validation_errors, *(str(each) for each in number_problems(read, filled.values))]


def _plain(value: Any, place: str) -> None:
    """Refuse what YAML would turn into something else."""
    if type(value) is dict:
        for key, member in cast("dict[Any, Any]", value).items():
            if type(key) is not str:
                raise ValidationError(f"{place} has a key that is no text: {short_repr(key)}")
            _plain(member, f"{place} under {short_repr(key)}")
    elif type(value) is list:
        for member in cast("list[Any]", value):
            _plain(member, place)
    elif value is not None and type(value) not in (str, int, float, bool):
        raise ValidationError(
            f"{place} holds {short_repr(value)} of type {type(value).__name__}, which no file can hold"
        )


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        first, second = cast("dict[str, Any]", a), cast("dict[str, Any]", b)
        return list(first) == list(second) and all(_same(first[key], second[key]) for key in first)
    if isinstance(a, list):
        ours, theirs = cast("list[Any]", a), cast("list[Any]", b)
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return a == b


def read_form_text(form_class: type[F], field_class: type[FieldSpec], text: bytes) -> F:
    """Return the form of a form file's text, as a draft.

    Raises:
        ValidationError: Its text or structure is refused; it is a ValueError.
        ParseError: It is neither YAML nor JSON.
    """
    data = parse_form_text(text)
    fields: dict[str, Any] = data.get("fields") or {}
    problems = structure_problems(data)
    if not problems:
        problems = [each for name, row in fields.items() for each in declaration_problems(data, name, row)]
    if problems:
        raise ValidationError("; ".join(map(str, problems)))
    made = {name: field_class(name=name, **row) for name, row in fields.items()}
    return form_class(title=data.get("title") or "", fields=made, values=dict(data.get("values") or {}))
