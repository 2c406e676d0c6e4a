"""A model's constraints: no form loses them by accident, and rules say the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Optional

import pytest
from annotated_types import Interval
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, create_model, field_validator, model_validator
from pydantic import ValidationError as SchemaError

from lionagi.work import Rule, RuleSet, WorkForm, fill_form


def must_be_even(value: int) -> int:
    if value % 2:
        raise ValueError("odd")
    return value


class Order(BaseModel):
    """A model with a constraint of each sort."""

    code: str = Field(pattern="^T-")
    amount: int = Field(ge=1, le=5)
    above: float = Field(1, gt=0)
    short: Annotated[str, Field(max_length=3)] = ""
    pair: int = Field(2, ge=0)
    even: Annotated[int, AfterValidator(must_be_even)] = 2
    maybe: Annotated[int, Field(ge=0)] | None = None
    part: Annotated[float, Interval(ge=0, le=1)] = 0.5
    marks: list[int] = Field(default_factory=list, max_length=2)
    facts: dict[str, Any] = Field(default_factory=dict)


FORM = WorkForm.from_model(Order, constraints="drop")
RULES = RuleSet.from_model(Order)


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (Annotated[int, Field(ge=0)], "Ge"),
        (Optional[Annotated[int, Field(ge=0)]], "Ge"),  # noqa: UP045
        (Annotated[str, Field(pattern="x")], "pattern='x'"),
        (Annotated[float, Interval(gt=0)], "Gt"),
        (Annotated[int, Field(strict=True)], "Strict"),
        (Annotated[int, AfterValidator(must_be_even)], "AfterValidator"),
    ],
)
def test_a_constraint_is_refused_by_field_unless_it_is_dropped(kind: Any, named: str) -> None:
    model = create_model("Odd", good=(int, 1), bad=(kind, ...))
    with pytest.raises(TypeError, match=f"Odd.bad: .*{re.escape(named)}.*RuleSet.from_model"):
        WorkForm.from_model(model)
    assert WorkForm.from_model(model, constraints="drop").field_names() == ["good", "bad"]


def test_what_is_no_constraint_is_not_refused() -> None:
    described = Field(1, description="x", title="T", examples=[1], json_schema_extra={"a": 1})
    model = create_model("Fine", a=(int, described), b=(Annotated[str, "in words"], ...), c=(list[int], ...))
    assert WorkForm.from_model(model).field_names() == ["a", "b", "c"]


def test_an_unknown_way_with_constraints_is_refused() -> None:
    with pytest.raises(ValueError, match="'refuse' or 'drop', not 'lose'"):
        WorkForm.from_model(Order, constraints="lose")  # pyright: ignore[reportArgumentType]


def test_which_rules_a_model_gives() -> None:
    assert [rule.rule_id for rule in RULES.rules()] == [
        "code.pattern", "amount.range", "above.custom", "short.custom", "pair.range", "even.custom", "maybe.range",
        "part.range", "marks.custom",
    ]  # fmt: skip
    assert RULES.get("amount.range") == Rule(
        rule_id="amount.range", field="amount", check="range", params={"min": 1, "max": 5}
    )


NUMBERS = st.integers(-2, 7)
VALUES = st.fixed_dictionaries(
    {"code": st.sampled_from(["T-1", "T-", "X"]), "amount": NUMBERS},
    optional={
        "above": st.floats(-1, 1),
        "short": st.text(max_size=5),
        "pair": NUMBERS,
        "even": NUMBERS,
        "maybe": st.none() | NUMBERS,
        "part": st.floats(-1, 2),
        "marks": st.lists(NUMBERS | st.sampled_from(["7", "x"]), max_size=4),
        "facts": st.dictionaries(st.text(max_size=2), NUMBERS, max_size=2),
    },
)


@given(VALUES)
def test_form_and_rules_accept_what_the_model_accepts(values: dict[str, Any]) -> None:
    try:
        Order.model_validate(values)
        accepted = True
    except SchemaError:
        accepted = False
    assert (fill_form(FORM, values, ruleset=RULES).status == "validated") is accepted


def test_a_custom_rule_names_its_field_and_constraint() -> None:
    filled = fill_form(FORM, {"code": "T-1", "amount": 1, "short": "too long", "marks": ["x"]}, ruleset=RULES)
    assert [(issue.field, issue.kind) for issue in filled.issues] == [("short", "custom"), ("marks", "custom")]
    assert "max_length=3" in filled.validation_errors[0]


def test_a_compiled_pattern_keeps_its_flags() -> None:
    rules = RuleSet.from_model(create_model("Odd", a=(str, Field(pattern=re.compile("^t", re.I)))))
    assert rules.apply_all(WorkForm(values={"a": "Text"})) == []
    assert len(rules.apply_all(WorkForm(values={"a": "ext"}))) == 1


def test_bounds_and_patterns_can_be_written(tmp_path: Path) -> None:
    model = create_model("Plain", a=(int, Field(ge=0)), b=(str, Field(pattern="^x")))
    rules = RuleSet.from_model(model)
    path = tmp_path / "rules.yaml"
    path.write_text(rules.to_yaml())
    assert RuleSet.from_yaml(path).rules() == rules.rules()


class ByField(BaseModel):
    """Validated by a function of one field."""

    a: int

    @field_validator("a")
    @classmethod
    def check_a(cls, value: int) -> int:
        return value


class AsAWhole(BaseModel):
    """Validated by a function of the whole."""

    a: int

    @model_validator(mode="after")
    def check_all(self) -> AsAWhole:
        return self


@pytest.mark.parametrize(
    ("model", "words"), [(ByField, r"ByField\.a.*'check_a'"), (AsAWhole, r"AsAWhole\.\*.*'check_all'")]
)
def test_a_validating_function_is_refused_by_name(model: type[BaseModel], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        WorkForm.from_model(model)
    with pytest.raises(TypeError, match=words):
        RuleSet.from_model(model)
    assert WorkForm.from_model(model, constraints="drop").field_names() == ["a"]
