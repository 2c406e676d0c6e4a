"""Declarative rules: what a form's values must be beyond their types."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, Field
from pydantic import ValidationError as SchemaError

from lionagi._errors import ParseError, ValidationError, short_repr
from lionagi.ln.yamls import load_yaml

from ._checks import CHECKS, REGEX_MAX_INPUT_LENGTH
from ._constraints import rules_of
from ._exact import exact_yaml
from ._files import FILE_MAX_BYTES, first_problem, read_file
from ._plan import Plan

if TYPE_CHECKING:
    from .form import WorkForm

__all__ = ("REGEX_MAX_INPUT_LENGTH", "CheckKind", "Rule", "RuleSet")

CheckKind = Literal["required", "type", "range", "pattern", "custom"]
"""What a rule checks."""

_edition = 0
"""Grows with every assignment to an attribute of a rule, so that sets notice that a rule of theirs has changed."""


class Rule(BaseModel):
    """One check of one field. A value of None passes every check but "required" and "custom".

    Attributes:
        rule_id: Its name, unique in a `RuleSet`.
        field: The field that it looks at, declared or not.
        check: What it checks.
        params: ``type``: "type", one of the field types. ``range``: "min" and "max", both inclusive. ``pattern``:
            "pattern", found anywhere in the text; "flags", an int such as ``re.I``; "engine", "re" or "re2", which
            takes time linear in the text and is in the extra re2. ``custom``: "callable", which gets the value and
            returns whether it passes, and "error", the text where it does not.
        message: What to say instead of the rule's own text.
        enabled: A disabled rule never fails.
    """

    rule_id: str
    field: str
    check: CheckKind
    params: dict[str, Any] = Field(default_factory=dict[str, Any])
    message: str | None = None
    enabled: bool = True

    def apply(self, form: WorkForm) -> str | None:
        """Return what is wrong with the form's value, None where nothing is; it raises nothing."""
        return CHECKS[self.check](self, form.values.get(self.field)) if self.enabled else None

    def __setattr__(self, name: str, value: Any) -> None:
        global _edition
        super().__setattr__(name, value)
        _edition += 1


class RuleSet:
    """Rules in the order in which they were added; all of them are always applied.

    Args:
        rules: The first of them.

    Raises:
        ValueError: Two rules have one id.
    """

    __slots__ = ("_edition", "_plan", "_rules")

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules: dict[str, Rule] = {}
        self._plan: Plan | None = None
        self._edition = 0
        for rule in rules:
            self.add(rule)

    def __len__(self) -> int:
        return len(self._rules)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rules(),)

    def __repr__(self) -> str:
        return f"RuleSet({', '.join(self._rules)})"

    def add(self, rule: Rule) -> RuleSet:
        """Add a rule at the end and return this set.

        Raises:
            ValueError: There is a rule of that id already.
        """
        if rule.rule_id in self._rules:
            raise ValidationError(f"the set already has a rule {rule.rule_id!r}; remove it first, or choose another id")
        self._rules[rule.rule_id] = rule
        self._plan = None
        return self

    def remove(self, rule_id: str) -> bool:
        """Remove a rule; return whether it was there."""
        self._plan = None
        return self._rules.pop(rule_id, None) is not None

    def get(self, rule_id: str) -> Rule | None:
        """Return a rule by its id, or None."""
        return self._rules.get(rule_id)

    def rules(self) -> list[Rule]:
        """Return the rules in order, in a list of the caller's own."""
        return list(self._rules.values())

    def apply_all(self, form: WorkForm) -> list[str]:
        """Return what is wrong with the form, one text for each rule that fails, in order."""
        return [text for _, text in self.failures(form)]

    def failures(self, form: WorkForm) -> list[tuple[Rule, str]]:
        """Return each rule that fails with its text, in order."""
        if self._plan is None or self._edition != _edition:
            self._edition = _edition
            self._plan = Plan(self._rules.values(), Rule)
        return self._plan.failures(form)

    @classmethod
    def from_model(cls, model: type[BaseModel]) -> RuleSet:
        """Return the rules that say what a pydantic model asks of its fields beyond their types.

        They go with the form of `lionagi.work.WorkForm.from_model`. Inclusive bounds and patterns are rules of these
        kinds, which a file can hold; other constraints, and the types of members, are a custom rule of each field.

        Raises:
            TypeError: A function of the model validates a field or the whole; the text names it.
        """
        return cls(Rule(**each) for each in rules_of(model))

    def to_yaml(self) -> str:
        """Return the rules as YAML: a list of mappings.

        Raises:
            ValueError: A rule is a custom check, which needs Python, or its params are not what a file can hold.
        """
        rows: list[dict[str, Any]] = []
        for rule in self._rules.values():
            if rule.check == "custom":
                raise ValidationError(f"rule {rule.rule_id!r} is a custom check, which only Python can hold; remove it")
            row = rule.model_dump(exclude_defaults=True)
            if isinstance(flags := rule.params.get("flags"), int):  # re.I is a class of its own
                row["params"]["flags"] = int(flags)
            rows.append(row)
        return exact_yaml(rows, "the rules", load_yaml)[0]

    @classmethod
    def from_yaml(cls, path: str | Path) -> RuleSet:
        """Return the rules of a YAML file: a list of mappings with the fields of `Rule`.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The file is no list of rules, a rule is refused, is a custom check, or repeats an id; the text
                names the file and the rule.
        """
        text = read_file(path, "rule file")
        try:
            rows = load_yaml(text, max_bytes=FILE_MAX_BYTES)
        except (ParseError, ValidationError) as error:
            raise ValidationError(f"rule file {path}: {error.message}", details=error.details) from None
        if not isinstance(rows, list):
            raise ValidationError(f"{path} must be a list of rules, not {short_repr(rows)}")
        made = cls()
        for number, row in enumerate(cast("list[Any]", rows), 1):
            try:
                made.add(_read_rule(row))
            except SchemaError as error:
                raise ValidationError(f"{path}: rule {number} is refused: {first_problem(error)}") from None
            except ValueError as error:
                raise ValidationError(f"{path}: rule {number}: {error}") from None
        return made


def _read_rule(row: Any) -> Rule:
    rule = Rule.model_validate(row)
    if unknown := [key for key in row if key not in Rule.model_fields]:
        allowed = ", ".join(Rule.model_fields)
        raise ValidationError(f"{short_repr(unknown[0])} is no part of a rule; use {allowed}")
    if rule.check == "custom":
        raise ValidationError(f"{rule.rule_id!r} is a custom check, which needs Python; add it there")
    return rule
