"""Form files at random: valid ones, and ones that are certainly invalid."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable
from typing import Any

from lionagi.ln.yamls import dump_yaml

__all__ = ("invalid_form", "valid_form")

Form = dict[str, Any]

_GOOD: dict[str, list[Any]] = {
    "str": ["", "x", "a: b", "\x1b[2J", "line\nline", "\u202e", "[red]"],
    "int": [0, -7, "12", " 7 ", True],
    "float": [0.5, 3, "1e3"],
    "bool": [True, False, "yes", "0"],
    "list": [[], [1, "two", None], [[["deep"]]]],
    "dict": [{}, {"a": {"b": 1}}],
}
_BAD: dict[str, list[Any]] = {
    "str": [5, [], {}, True, 0.5],
    "int": ["seven", "7.0", 1.5, [], {}, "9" * 5000],
    "float": ["x", [], {}, "nan", "-inf", "Infinity", "1e400"],
    "bool": ["maybe", 2, [], {}],
    "list": ["x", 1, {"a": 1}],
    "dict": ["x", 1, [1]],
}


def _name(rng: random.Random) -> str:
    return rng.choice(string.ascii_letters + "_") + "".join(
        rng.choices(string.ascii_lowercase + "_0", k=rng.randrange(8))
    )


def valid_form(rng: random.Random) -> Form:
    """Return a form file's mapping that the gate accepts, with at least one field."""
    fields: Form = {}
    values: Form = {}
    for name in {_name(rng) for _ in range(rng.randrange(1, 6))}:
        kind = rng.choice(list(_GOOD))
        fields[name] = {"type": kind}
        if rng.random() < 0.3:
            fields[name]["description"] = rng.choice(_GOOD["str"])
        if rng.random() < 0.3:
            fields[name]["required"] = False
        if fields[name].get("required", True) or rng.random() < 0.5:
            values[name] = rng.choice(_GOOD[kind])
    form: Form = {"fields": fields}
    if values or rng.random() < 0.5:
        form["values"] = values
    if rng.random() < 0.5:
        form["title"] = rng.choice(_GOOD["str"])
    return form


def _a_field(rng: random.Random, form: Form) -> str:
    return rng.choice(sorted(form["fields"]))


def _unknown_section(rng: random.Random, form: Form) -> None:
    form[rng.choice(["rules", "status", "field", "Title", "", "values ", "\x1b[31m"])] = rng.choice([None, {}, [], 1])


def _section_of_another_type(rng: random.Random, form: Form) -> None:
    form[rng.choice(["fields", "values"])] = rng.choice([[], [1], "x", 0, False, 1.5])


def _title_of_another_type(rng: random.Random, form: Form) -> None:
    form["title"] = rng.choice([1, [], {}, True])


def _undeclared(rng: random.Random, form: Form) -> None:
    form.setdefault("values", {})[f"{_name(rng)}_undeclared"] = rng.choice([None, 1, "x"])


def _no_fields(rng: random.Random, form: Form) -> None:
    form["values"] = {"a": 1}
    form["fields"] = rng.choice([None, {}])


def _no_mapping(rng: random.Random, form: Form) -> None:
    form["fields"][_a_field(rng, form)] = rng.choice([None, "int", ["int"], 1, True])


def _bad_declaration(rng: random.Random, form: Form) -> None:
    faults = {"type": ["integer", None, 1], "required": ["perhaps", []], "description": [5, []], "name": ["x"]}
    unknown = {"id": ["x"], "metadata": [{}], "defalt": [1], "": [None]}
    key, values = rng.choice(list({**faults, **unknown}.items()))
    value = rng.choice(values)
    form["fields"][_a_field(rng, form)][key] = value


def _bad_default(rng: random.Random, form: Form) -> None:
    kind, default = rng.choice([("int", "3"), ("str", 3), ("list", {}), ("dict", []), ("bool", 1), ("float", "1.5")])
    form["fields"][_a_field(rng, form)].update(type=kind, default=default)


def _bad_name(rng: random.Random, form: Form) -> None:
    form["fields"][rng.choice(["1a", "a-b", "a b", "", "a\n", "а", "a.b"])] = {"type": "int"}


def _bad_value(rng: random.Random, form: Form) -> None:
    kind = rng.choice(list(_BAD))
    form["fields"]["misfit"] = {"type": kind}
    form.setdefault("values", {})["misfit"] = rng.choice(_BAD[kind])


def _missing(rng: random.Random, form: Form) -> None:
    form["fields"]["wanted"] = {"type": rng.choice(list(_GOOD))}
    if rng.random() < 0.5:
        form.setdefault("values", {})["wanted"] = None


_FAULTS: list[Callable[[random.Random, Form], None]] = [
    _unknown_section,
    _section_of_another_type,
    _title_of_another_type,
    _undeclared,
    _no_fields,
    _no_mapping,
    _bad_declaration,
    _bad_default,
    _bad_name,
    _bad_value,
    _missing,
]

_BROKEN_TEXTS: list[Callable[[str], str]] = [
    lambda text: f"{text}\n{text}",
    lambda text: f"{text}\n---\na: 1\n",
    lambda text: f"x: &x 1\n{text}",
    lambda text: f"1: 2\n{text}",
    lambda text: f"x: .nan\n{text}",
    lambda text: f"x: {'[' * 80}{']' * 80}\n{text}",
    lambda text: f"x: !!python/name:os.system\n{text}",
    lambda text: f"{text}\n\0",
    lambda text: f"- {text}",
    lambda text: "",
    lambda text: f"\t{text}",
    lambda text: f'"{text}',
]


def invalid_form(rng: random.Random) -> str:
    """Return the text of a form file that the gate refuses."""
    form = valid_form(rng)
    if rng.random() < 0.2:
        return rng.choice(_BROKEN_TEXTS)(dump_yaml(form))
    rng.choice(_FAULTS)(rng, form)
    if rng.random() < 0.5:
        return dump_yaml(form)
    return json.dumps(form, indent=rng.choice([None, 1, "\t"]), ensure_ascii=rng.random() < 0.5)
