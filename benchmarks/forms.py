"""What filling and checking a form costs beside pydantic validating a model of the same shape, in one run.

Both have the same fields and types, and one constraint on each: a bound, a pattern, a type, a function, or that it
is there. Run it with ``python benchmarks/forms.py``; only the ratios mean anything, machines differ by the minute.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError, create_model

from lionagi.work import FieldSpec, Rule, RuleSet, WorkForm, fill_form

BAR = 3.0
TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list[Any],
    "dict": dict[str, Any],
}
# field type, a value of it, one that its rule or type refuses, check, the rule's parameters
SHAPES: tuple[tuple[str, Any, Any, str, dict[str, Any]], ...] = (
    ("str", "value of it", "no", "pattern", {"pattern": "^v"}),
    ("int", 5, 99, "range", {"min": 0, "max": 10}),
    ("list", [1, "two"], "no list", "required", {}),
    ("bool", True, "perhaps", "type", {"type": "bool"}),
    ("str", "even", "", "custom", {}),
    ("str", "2026-01-31", "31.1.26", "pattern", {"pattern": r"^\d{4}-\d\d-\d\d$"}),
    ("float", 0.5, -0.5, "range", {"min": 0}),
    ("dict", {"a": 1}, "no dict", "required", {}),
    ("int", 7, "seven", "type", {"type": "int"}),
    ("int", 12, -1, "custom", {}),
)
TEXTS = {"5": "5", "0.5": "0.5", "7": "7", "12": "12", "True": "yes"}


@dataclass(frozen=True)
class Pair:
    """A form with its rules, the model of the same shape, and values for both: good ones, typed as text, bad ones."""

    form: WorkForm
    rules: RuleSet
    model: type[BaseModel]
    good: dict[str, Any]
    typed: dict[str, Any]
    bad: dict[str, Any]


def passes(value: Any) -> bool:
    return value == "even" or value == 12


def must_pass(value: Any) -> Any:
    if not passes(value):
        raise ValueError("it does not pass")
    return value


def constraint(check: str, params: dict[str, Any]) -> list[Any]:
    if check == "range":
        return [Field(ge=params.get("min"), le=params.get("max"))]
    if check == "pattern":
        return [Field(pattern=params["pattern"])]
    return [AfterValidator(must_pass)] if check == "custom" else [Field()]


def build(size: int) -> Pair:
    """Return both with that many fields, and as many rules as fields."""
    specs: dict[str, FieldSpec] = {}
    rules, good, bad = RuleSet(), dict[str, Any](), dict[str, Any]()
    columns: dict[str, Any] = {}
    for number in range(size):
        kind, value, wrong, check, params = SHAPES[number % len(SHAPES)]
        name = f"field_{number}"
        specs[name] = FieldSpec(name=name, type=kind)  # pyright: ignore[reportArgumentType]
        given = {"callable": passes} if check == "custom" else dict(params)
        rules.add(Rule(rule_id=f"rule_{number}", field=name, check=check, params=given))  # pyright: ignore[reportArgumentType]
        good[name], bad[name] = value, wrong
        columns[name] = (Annotated[TYPES[kind], *constraint(check, params)], ...)
    typed = {name: TEXTS.get(repr(value), value) for name, value in good.items()}
    return Pair(WorkForm(fields=specs), rules, create_model("Shape", **columns), good, typed, bad)


def refused(model: type[BaseModel], values: dict[str, Any]) -> int:
    """Return how many problems pydantic lists."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        return len(error.errors())
    return 0


def best(work: Callable[[], Any], rounds: int) -> float:
    """Return the seconds of the fastest round."""
    fastest = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def measure(size: int, rounds: int) -> dict[str, float]:
    """Return microseconds and ratios: valid values, half of them as text, and refused ones."""
    pair = build(size)
    assert fill_form(pair.form, pair.good, ruleset=pair.rules).validation_errors == []
    assert fill_form(pair.form, pair.typed, ruleset=pair.rules).values == pair.good
    assert len(fill_form(pair.form, pair.bad, ruleset=pair.rules).validation_errors) >= refused(pair.model, pair.bad)
    found: dict[str, float] = {"fields": size}
    for name, values in (("valid", pair.good), ("typed", pair.typed), ("refused", pair.bad)):
        ours, theirs = float("inf"), float("inf")
        for _ in range(5):  # in turns, so that a slow moment of the machine meets both
            theirs = min(theirs, best(lambda values=values: refused(pair.model, values), rounds))
            ours = min(ours, best(lambda values=values: fill_form(pair.form, values, ruleset=pair.rules), rounds))
        found |= {f"{name}_form_us": ours * 1e6, f"{name}_pydantic_us": theirs * 1e6, f"{name}_ratio": ours / theirs}
    return found


def main() -> int:
    found = measure(1000, 40)
    print(json.dumps({name: round(figure, 2) for name, figure in found.items()}, indent=2))
    return 0 if found["valid_ratio"] <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
