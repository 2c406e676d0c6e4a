"""A short way through many rules: most values pass, and that is seen without a call for each rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ._checks import CHECKS, REGEX_MAX_INPUT_LENGTH
from ._patterns import PATTERN_ERRORS, finder

if TYPE_CHECKING:
    from .form import WorkForm
    from .rules import Rule

__all__ = ("Plan",)

_NUMBERS = frozenset({int, float, bool})
# The types whose instances certainly pass a rule of type; None passes each.
_PASSING: dict[str, frozenset[type]] = {
    "str": frozenset({str, type(None)}),
    "int": frozenset({int, bool, type(None)}),
    "float": frozenset({float, int, bool, type(None)}),
    "bool": frozenset({bool, type(None)}),
    "list": frozenset({list, type(None)}),
    "dict": frozenset({dict, type(None)}),
}
_PLAIN = frozenset({str, int, float, bool})


class Plan:
    """Rules arranged by their check; it holds until an attribute of a rule is assigned to.

    Args:
        rules: In order.
        plain: The class whose ``apply`` is known here; a rule of another class is asked itself.
    """

    def __init__(self, rules: Iterable[Rule], plain: type[Rule]) -> None:
        self._rules = list(rules)
        self._others: list[tuple[Rule, str, Callable[[Rule, Any], str | None] | None]] = []
        self._params: list[dict[str, Any]] = []
        self._required: list[str] = []
        self._types: list[tuple[str, frozenset[type]]] = []
        self._ranges: list[tuple[str, float, float]] = []
        self._patterns: list[tuple[str, Callable[[str], object]]] = []
        for rule in self._rules:
            if type(rule).apply is not plain.apply:
                self._others.append((rule, rule.field, None))
            elif rule.enabled and not self._arrange(rule):
                self._others.append((rule, rule.field, CHECKS[rule.check]))
        self._known = [dict(each) for each in self._params]

    def _arrange(self, rule: Rule) -> bool:
        """Return whether the rule is one that can be seen to pass."""
        params, field = rule.params, rule.field
        if rule.check == "required":
            self._required.append(field)
            return True
        if any(type(each) not in _PLAIN for each in params.values()):
            return False
        if rule.check == "type" and (passing := _PASSING.get(params.get("type", "str"))) is not None:
            self._types.append((field, passing))
        elif rule.check == "range" and str not in map(type, params.values()):
            self._ranges.append((field, params.get("min", float("-inf")), params.get("max", float("inf"))))
        elif rule.check == "pattern" and (find := _found(params)) is not None:
            self._patterns.append((field, find))
        else:
            return False
        self._params.append(params)
        return True

    def failures(self, form: WorkForm) -> list[tuple[Rule, str]]:
        """Return each rule that fails with its text, in order."""
        get = form.values.get
        if self._params == self._known and self._pass(get):
            return [
                (rule, text)
                for rule, field, check in self._others
                if (text := check(rule, get(field)) if check else rule.apply(form)) is not None
            ]
        return [(rule, text) for rule in self._rules if (text := rule.apply(form)) is not None]

    def _pass(self, get: Callable[[str], Any]) -> bool:
        """Return whether all but the others are seen to pass; where they are not, they may pass still."""
        numbers = _NUMBERS
        for field, passing in self._types:
            if type(get(field)) not in passing:
                return False
        for field, low, high in self._ranges:
            value = get(field)
            if not (type(value) in numbers and low <= value <= high) and value is not None:
                return False
        for field, find in self._patterns:
            value = get(field)
            if value is not None and not (
                type(value) is str and len(value) <= REGEX_MAX_INPUT_LENGTH and find(value) is not None
            ):
                return False
        return None not in map(get, self._required)


def _found(params: dict[str, Any]) -> Callable[[str], object] | None:
    try:
        return finder(params)
    except PATTERN_ERRORS:
        return None
