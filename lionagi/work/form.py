"""Typed forms: what a task needs to be told, and the values it was told. Nothing here schedules or runs work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from pydantic import BaseModel, Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from lionagi._errors import ValidationError, short_repr
from lionagi.protocols.generic.element import Element

from ._bridge import declarations_of, json_schema_of, model_of
from ._form_text import form_text, read_form
from .fill import FieldIssue, coerce_value, fill_form, fits, validate_form

__all__ = (
    "VALID_TRANSITIONS",
    "Constraints",
    "FieldOutline",
    "FieldSpec",
    "FieldType",
    "FormStatus",
    "WorkForm",
    "fill_form",
    "validate_form",
)

FieldType = Literal["str", "int", "float", "bool", "list", "dict"]
"""The types that a field can have, by Python's names."""

FormStatus = Literal["draft", "filled", "validated", "error", "submitted", "completed"]
"""Where a form stands. Submitted and completed are reserved: nothing in this package acts on them."""

Constraints = Literal["refuse", "drop"]
"""What becomes of a model's constraints, which no form can hold."""

VALID_TRANSITIONS: dict[str, frozenset[str]] = {
    "draft": frozenset({"filled"}),
    "filled": frozenset({"validated", "error"}),
    "validated": frozenset({"submitted", "error"}),
    "error": frozenset({"draft"}),
    "submitted": frozenset({"completed", "error"}),
    "completed": frozenset(),
}
"""From each status, the statuses that `WorkForm.transition_to` goes to."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class FieldSpec(Element):
    """A declared field.

    Attributes:
        name: ASCII letters, digits and underscores, no digit first.
        type: The type of its values.
        required: Whether None is a problem.
        default: Used where no value is supplied; None for none. It must have the type already, or be an int for float.
        description: What the field is, for people and models.
    """

    name: str
    type: FieldType = "str"
    required: bool = True
    default: Any = None
    description: str = ""

    @field_validator("name")
    @classmethod
    def _check_name(cls, value: str) -> str:
        if _NAME.fullmatch(value) is None:
            raise ValueError(
                f"the field name {short_repr(value)} must start with a letter or underscore and go on with letters, "
                "digits and underscores"
            )
        return value

    @field_validator("default")
    @classmethod
    def _check_default(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("type")  # absent where the type itself was refused
        if kind is not None and value is not None and not fits(kind, value):
            raise ValueError(
                f"the default {short_repr(value)} is not compatible with declared type {kind!r}; "
                f"give one of that type, or none"
            )
        return value

    def coerce(self, value: Any) -> Any:
        """Return the value as the field's type: what people type ("7", "yes") is read, None stays None.

        Raises:
            TypeError: It cannot be read as that type; the text shows the field, both types and the value.
        """
        return coerce_value(self.name, self.type, value)


class FieldOutline(NamedTuple):
    """A declared field as a view shows it.

    Attributes:
        name: The name that values go by.
        label: The name in words: "due_date" is "Due date".
        type: The name of the type.
        required: Whether None is a problem.
        default: Used where nothing is supplied, None for none.
        description: What the field is, "" where that is not said.
        value: What the form holds, None for nothing.
        problem: All that is wrong with it by the form's last check, "" for nothing.
    """

    name: str
    label: str
    type: FieldType
    required: bool
    default: Any
    description: str
    value: Any
    problem: str


class WorkForm(Element):
    """Declared fields and the values given for them.

    `lionagi.work.fill_form` and `lionagi.work.validate_form` return filled and checked copies; the form itself is never
    changed by them.

    Attributes:
        title: What the form is about.
        fields: The declarations by name, in order.
        values: What is known; `fill_form` keeps undeclared keys here unless told otherwise.
        status: Where the form stands.
        validation_errors: Every problem of the last check, as texts.
        issues: The same problems as records, one for one.
    """

    title: str = ""
    fields: dict[str, FieldSpec] = Field(default_factory=dict[str, FieldSpec])
    values: dict[str, Any] = Field(default_factory=dict[str, Any])
    status: FormStatus = "draft"
    validation_errors: list[str] = Field(default_factory=list[str])
    issues: list[FieldIssue] = Field(default_factory=list[FieldIssue])
    # What `fill_form` was given, so that a view can say what was converted; not part of dumps.
    _supplied: dict[str, Any] | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _pair_issues(self) -> Self:
        if [issue.message for issue in self.issues] != self.validation_errors:
            made = [FieldIssue(field="", kind="unknown", message=text) for text in self.validation_errors]
            object.__getattribute__(self, "__dict__")["issues"] = made
        return self

    @property
    def form_id(self) -> str:
        """The id as text."""
        return str(self.id)

    @property
    def supplied(self) -> dict[str, Any] | None:
        """A copy of the values that `fill_form` was given, None for a form that it did not make."""
        return None if self._supplied is None else dict(self._supplied)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value by name."""
        return self.values.get(name, default)

    def field_names(self) -> list[str]:
        """Return the names of the declared fields, in order."""
        return list(self.fields)

    def describe(self) -> list[FieldOutline]:
        """Return what a view shows of each declared field, in order; ``issues`` has the problems of other keys too."""
        problems: dict[str, list[str]] = {}
        for issue in self.issues:
            problems.setdefault(issue.field, []).append(issue.message)
        return [
            FieldOutline(
                name=name,
                label=_label(name),
                type=spec.type,
                required=spec.required,
                default=spec.default,
                description=spec.description,
                value=self.values.get(name),
                problem=" ".join(problems.get(name, ())),
            )
            for name, spec in self.fields.items()
        ]

    def is_complete(self) -> bool:
        """Return whether the form can be used: it is validated, or completed."""
        return self.status in ("validated", "completed")

    def transition_to(self, new_status: FormStatus) -> WorkForm:
        """Return a copy in a new status; only the table of transitions is looked at, not the values.

        Raises:
            ValueError: The table has no such step; the text lists those it has.
        """
        allowed = VALID_TRANSITIONS.get(self.status, frozenset())
        if new_status not in allowed:
            steps = ", ".join(sorted(allowed)) or "none, it is the last status"
            raise ValidationError(
                f"a form in status {self.status!r} cannot become {short_repr(new_status)}; allowed: {steps}"
            )
        return self.model_copy(update={"status": new_status})

    @classmethod
    def from_model(
        cls, model: type[BaseModel], *, title: str | None = None, constraints: Constraints = "refuse"
    ) -> Self:
        """Return the form that asks for the fields of a pydantic model: types, required, defaults, descriptions.

        Field types are str, int, float, bool, list and dict, the last two with any members, and each of them or None,
        which makes the field optional. Bounds, patterns and other constraints of the model are no part of a form;
        `lionagi.work.RuleSet.from_model` makes rules of them.

        Args:
            model: The model class.
            title: The form's title; by default the one of the model's configuration, or the class's name.
            constraints: "refuse" makes a constraint an error, so that none is lost by accident; "drop" leaves it out.

        Raises:
            TypeError: `model` is no pydantic model class, or a field has another type, a constraint, or a default that
                is not always the same one; the text names it.
            ConfigurationError: `constraints` is neither.
        """
        fields = {d["name"]: FieldSpec(**d) for d in declarations_of(model, constraints)}
        if title is None:
            title = model.model_config.get("title") or model.__name__
        return cls(title=title, fields=fields)

    def to_model(self, name: str | None = None) -> type[BaseModel]:
        """Return a pydantic model class of the declared fields; it refuses undeclared ones.

        Args:
            name: The class's name; made of the title by default.

        Raises:
            ValueError: A field's name cannot be one of a pydantic model (it begins with an underscore, or is taken).
        """
        return model_of(name, self.title, list(self.fields.values()))

    def to_json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema (draft 2020-12) of the values that the form asks for."""
        return json_schema_of(self.title, list(self.fields.values()))

    def to_yaml(self, *, template: bool = False) -> str:
        """Return the form as the text of a file for ``li agent --form``; it reads back with the same title and content.

        Args:
            template: Leave the values out and let them be filled in later: required ones may then be missing.

        Raises:
            ValueError: The gate would refuse the file, or it would not hold the values exactly; the text says why.
        """
        return form_text(self, template)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Return the form of a file, in status "draft" with the values as they are written there.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: Its text or structure is refused, as the gate of ``li agent --form`` refuses it.
        """
        return read_form(cls, FieldSpec, path)


def _label(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:] or name
