"""What a form file is: its caps, its three sections, and every fault of it that is found without building the form.

The module knows nothing of :class:`~lionagi.work.form.WorkForm`, so that the form's own ``to_yaml`` and the gate of
``li agent --form`` can share it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lionagi._errors import LionError, ParseError, ValidationError, short_repr
from lionagi.ln._json_read import TOKEN, loads_json
from lionagi.ln.yamls import load_yaml_lines
from lionagi.work._files import FILE_MAX_BYTES, read_file

__all__ = (
    "FIELD_KEYS",
    "FORM_FILE_KEYS",
    "FORM_FILE_MAX_BYTES",
    "FORM_FILE_MAX_DEPTH",
    "FormFileData",
    "FormFileProblem",
    "declaration_problems",
    "number_problems",
    "parse_form_text",
    "read_form_file",
    "structure_problems",
)

FORM_FILE_KEYS = frozenset({"title", "fields", "values"})
FIELD_KEYS = ("type", "required", "default", "description")
FORM_FILE_MAX_BYTES = FILE_MAX_BYTES
FORM_FILE_MAX_DEPTH = 64

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FormFileProblem:
    """One fault of a form file.

    Attributes:
        field: The field it is about, or the section, "" for the file as a whole.
        message: What is wrong, on one line, without path and line number.
        expected: What would be right.
        value: What is there, None where nothing is.
        line: Where, counted from 1; None where unknown.
    """

    field: str
    message: str
    expected: str
    value: Any = None
    line: int | None = None

    def __str__(self) -> str:
        """Return the message with its line in front."""
        return self.message if self.line is None else f"line {self.line}: {self.message}"


class FormFileData(dict[str, Any]):
    """The mapping in a form file, which remembers the line (from 1) of each key by its path of keys."""

    def __init__(self, data: Mapping[str, Any], lines: dict[KeyPath, int]) -> None:
        super().__init__(data)
        self.lines = lines

    def line(self, *path: str | int) -> int | None:
        """Return the line of a key, or of the nearest key around it; None where there is none."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


def read_form_file(path: str | Path) -> FormFileData:
    """Return the mapping in a form file, which is opened once and never waited for.

    Raises:
        FileNotFoundError: Nothing is there.
        ValueError: It is no regular file, cannot be read, or its text is refused; the message names path and line.
    """
    text = read_file(path, "form file")
    try:
        return parse_form_text(text)
    except LionError as error:
        kind = ParseError if isinstance(error, ParseError) else ValidationError
        raise kind(f"form file {path}: {error.message}", details={**error.details, "path": str(path)}) from None


def parse_form_text(text: str | bytes) -> FormFileData:
    """Read the text of a form file, YAML or else JSON, within the caps of 1 MiB and 64 levels.

    Raises:
        ParseError: It is neither YAML nor JSON.
        ValidationError: It is, and a cap or a rule refuses it, or it is no mapping. ``details["line"]`` says where.
    """
    try:
        data, lines = load_yaml_lines(text, max_bytes=FORM_FILE_MAX_BYTES, max_depth=FORM_FILE_MAX_DEPTH)
    except ParseError as not_yaml:
        source = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        try:
            data = loads_json(source, unique_keys=True, max_depth=FORM_FILE_MAX_DEPTH)
        except ParseError as not_json:
            raise _neither(source, not_yaml, not_json) from None
        lines = _json_lines(source)
    if not isinstance(data, dict):
        message = f"the top level must be a YAML/JSON mapping, not {_kind(data)}"
        raise ValidationError(message, details={"line": 1})
    return FormFileData(cast("dict[str, Any]", data), lines)


def _neither(source: str, not_yaml: ParseError, not_json: ParseError) -> ParseError:
    if not source.lstrip().startswith("{"):  # nobody meant it as JSON
        return ParseError(f"could not parse: {not_yaml.message}", details=not_yaml.details)
    problem = not_json.message.partition("; the text there")[0]
    return ParseError(f"could not parse: {problem} ({not_yaml.message})", details=not_json.details)


def _kind(value: object) -> str:
    names: dict[type, str] = {
        type(None): "nothing",
        str: "text",
        bool: "true or false",
        list: "a list",
        dict: "a mapping",
    }
    return names.get(type(value), "a number")


def _json_lines(source: str) -> dict[KeyPath, int]:
    """Return the line of each key of a valid JSON text, those inside arrays left out."""
    lines: dict[KeyPath, int] = {}
    keys: list[str | None] = []
    previous, line, counted_to = "", 1, 0
    for token in TOKEN.finditer(source):
        mark = token.group()
        if mark in "{[":
            keys.append(None)
        elif mark in "}]":
            keys.pop()
        elif mark == ":":
            keys[-1] = json.loads(previous)
            if None not in keys:
                lines[tuple(key for key in keys if key is not None)] = line
        else:
            line += source.count("\n", counted_to, token.start())
            counted_to = token.start()
            previous = mark
    return lines


def structure_problems(data: Mapping[str, Any]) -> list[FormFileProblem]:
    """Return what is wrong with the sections, in the order in which a reader would mend it.

    That is: unknown sections, the types of the sections, values without fields, undeclared values.
    """
    fields, values = data.get("fields"), data.get("values")
    sections = ", ".join(sorted(FORM_FILE_KEYS))
    problems = [
        _problem(data, (key,), str(key), f"unknown top-level key(s) {short_repr(key)}; allowed: {sections}", sections)
        for key in data
        if key not in FORM_FILE_KEYS
    ]
    for section in ("fields", "values"):
        if not isinstance(value := data.get(section), Mapping | None):
            message = _must_be(f"'{section}'", "a mapping", value)
            problems.append(_problem(data, (section,), section, message, "a mapping"))
    if not isinstance(title := data.get("title"), str | None):
        problems.append(_problem(data, ("title",), "title", _must_be("'title'", "a string", title), "a string"))
    if isinstance(values, Mapping) and values and isinstance(fields, Mapping | None):
        problems += _undeclared(data, cast("Mapping[str, Any]", fields or {}), cast("Mapping[str, Any]", values))
    return problems


def _must_be(what: str, right: str, value: Any) -> str:
    return f"{what} must be {right}, not {_kind(value)}"


def _undeclared(data: Mapping[str, Any], fields: Mapping[str, Any], values: Mapping[str, Any]) -> list[FormFileProblem]:
    if not fields:
        message = "'values' are declared but 'fields' is absent or empty"
        return [_problem(data, ("values",), "values", message, "a declaration for each value")]
    return [
        _problem(data, ("values", key), key, f"values contain undeclared key(s) {short_repr(key)}", "a declared field")
        for key in values
        if key not in fields
    ]


def declaration_problems(data: Mapping[str, Any], name: str, declaration: Any) -> list[FormFileProblem]:
    """Return what is wrong with the outline of one field's declaration: no mapping, or keys that no field has."""
    if not isinstance(declaration, Mapping):
        message = _must_be(f"field {short_repr(name)}", "a mapping", declaration)
        return [_problem(data, ("fields", name), name, message, "a mapping")]
    keys, allowed = cast("Mapping[str, Any]", declaration), ", ".join(FIELD_KEYS)
    return [
        _problem(data, ("fields", name, key), name, f"{_unknown(name, key)}; allowed: {allowed}", allowed)
        for key in keys
        if key not in FIELD_KEYS
    ]


def _unknown(name: str, key: str) -> str:
    return f"invalid field {short_repr(name)}: unknown key {short_repr(key)}"


def _problem(
    data: Mapping[str, Any], path: tuple[str, ...], field: str, message: str, expected: str
) -> FormFileProblem:
    value: Any = data
    for key in path:
        value = value[key]
    line = data.line(*path) if isinstance(data, FormFileData) else None
    return FormFileProblem(field, message, expected, value, line)


def number_problems(data: Mapping[str, Any], values: Mapping[str, Any]) -> list[FormFileProblem]:
    """Return a problem for each value that is a float and not finite, such as one coerced from the text "nan".

    Args:
        data: The form file, which knows the lines.
        values: The form's values after coercion.
    """
    return [
        FormFileProblem(
            name,
            f"Field {name!r} must be a finite number, got {value!r}",
            "a finite number",
            value,
            data.line("values", name) if isinstance(data, FormFileData) else None,
        )
        for name, value in values.items()
        if isinstance(value, float) and not math.isfinite(value)
    ]
