"""Filling and checking: which value wins, what is collected, and that nothing that came in is changed."""

from __future__ import annotations

import inspect
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lionagi.work
from lionagi._errors import ConfigurationError
from lionagi.work import FieldSpec, FormStatus, Rule, RuleSet, WorkForm, fill_form, validate_form

KINDS = ("str", "int", "float", "bool", "list", "dict")


def form_of(*specs: FieldSpec, **more: Any) -> WorkForm:
    return WorkForm(fields={spec.name: spec for spec in specs}, **more)


ORDER = form_of(
    FieldSpec(name="item"),
    FieldSpec(name="amount", type="int", default=1),
    FieldSpec(name="note", required=False),
    FieldSpec(name="tags", type="list", required=False, default=[]),
)


@pytest.mark.record("0052-D2-01")
@pytest.mark.parametrize(("function", "first"), [(fill_form, ["form", "values"]), (validate_form, ["form"])])
def test_the_signatures(function: Any, first: list[str]) -> None:
    parameters = inspect.signature(function).parameters
    assert list(parameters)[: len(first) + 1] == [*first, "ruleset"]
    rest = list(parameters.values())[len(first) :]
    assert {p.kind for p in rest} == {inspect.Parameter.KEYWORD_ONLY}
    assert parameters["ruleset"].default is None


values = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d", "x", "y"]),
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5),
        st.sampled_from(["7", "yes", "1.5"]), st.lists(st.integers(), max_size=2),
        st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    ),
    max_size=6,
)  # fmt: skip
DEFAULTS: dict[str, Any] = {"str": "s", "int": 3, "float": 0.5, "bool": True, "list": [1], "dict": {"k": [1]}}


@st.composite
def forms(draw: st.DrawFn) -> WorkForm:
    specs: list[FieldSpec] = []
    for name in draw(st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True)):
        kind: Any = draw(st.sampled_from(KINDS))
        default = deepcopy(DEFAULTS[kind]) if draw(st.booleans()) else None
        specs.append(FieldSpec(name=name, type=kind, required=draw(st.booleans()), default=default))
    status: Any = draw(st.sampled_from(get_args(FormStatus)))
    return form_of(*specs, values=draw(values), status=status, validation_errors=["old"])


RULES = RuleSet(
    [
        Rule(rule_id="1", field="a", check="required"),
        Rule(rule_id="2", field="b", check="type", params={"type": "int"}),
        Rule(rule_id="3", field="x", check="range", params={"min": 0}),
        Rule(rule_id="4", field="c", check="pattern", params={"pattern": "s"}, enabled=False),
        Rule(rule_id="5", field="d", check="custom", params={"callable": lambda v: v is None}),
    ]
)


def facts(form: WorkForm) -> Any:
    """Everything of a form that could be changed, copied."""
    return deepcopy((form.id, form.title, form.values, form.status, form.validation_errors, form.issues,
                     [(n, s.type, s.required, s.default) for n, s in form.fields.items()]))  # fmt: skip


@pytest.mark.record("0052-D2-02")
@given(forms(), values)
def test_neither_the_form_nor_the_values_are_changed(form: WorkForm, given: dict[str, Any]) -> None:
    before, kept = facts(form), deepcopy(given)
    fill_form(form, given, ruleset=RULES, undeclared="reject")
    validate_form(form, ruleset=RULES)
    assert facts(form) == before
    assert given == kept
    assert list(given) == list(kept)


@pytest.mark.record("0052-D2-03", "0052-D2-04", "0052-D2-05")
@given(forms(), values)
def test_which_values_there_are_and_in_which_order(form: WorkForm, given: dict[str, Any]) -> None:
    filled = fill_form(form, given)
    declared = [n for n, s in form.fields.items() if n in given or s.default is not None]
    assert list(filled.values) == [*declared, *(n for n in given if n not in form.fields)]
    for name, spec in form.fields.items():
        if name not in given and spec.default is not None:
            assert filled.values[name] == spec.default


@pytest.mark.record("0052-D2-03")
def test_what_the_form_held_before_is_not_taken_over() -> None:
    held = form_of(FieldSpec(name="a", required=False), values={"a": "old", "z": 1})
    assert fill_form(held, {}).values == {}


def test_a_default_is_copied_and_never_shared() -> None:
    filled = fill_form(ORDER, {"item": "x"})
    filled.values["tags"].append("mine")
    assert ORDER.fields["tags"].default == []
    assert fill_form(ORDER, {"item": "x"}).values["tags"] == []


@pytest.mark.record("DEC-25-2")
def test_an_explicit_none_beats_a_default() -> None:
    assert fill_form(ORDER, {"item": "x", "tags": None}).values["tags"] is None
    failed = fill_form(ORDER, {"item": "x", "amount": None})
    assert [issue.field for issue in failed.issues] == ["amount"]


@pytest.mark.record("0052-D2-05", "0052-D2-09")
@pytest.mark.parametrize("given", [{}, {"a": None}])
@pytest.mark.parametrize("required", [True, False])
def test_a_missing_value_is_one_problem_where_it_is_required(given: dict[str, Any], required: bool) -> None:
    form = form_of(FieldSpec(name="a", required=required))
    filled = fill_form(form, given)
    assert len(filled.validation_errors) == int(required)
    assert filled.status == ("error" if required else "validated")
    assert filled.values == given
    assert all("'a'" in text for text in filled.validation_errors)


@pytest.mark.record("0052-D2-06", "DEC-0052-3-1")
def test_undeclared_keys_stay_unless_they_are_rejected() -> None:
    given = {"item": "x", "z": object(), "y": 1}
    ways: list[dict[str, Any]] = [{}, {"undeclared": "keep"}]
    for undeclared in ways:
        kept = fill_form(ORDER, given, **undeclared)
        assert (kept.status, kept.validation_errors) == ("validated", [])
        assert kept.values["z"] is given["z"]
    assert validate_form(kept).values["z"] is given["z"]
    rejected = fill_form(ORDER, given, undeclared="reject")
    assert rejected.status == "error"
    assert [(i.field, i.kind, i.value) for i in rejected.issues] == [
        ("z", "undeclared", given["z"]), ("y", "undeclared", 1)
    ]  # fmt: skip
    assert [("'z'" in text) or ("'y'" in text) for text in rejected.validation_errors] == [True, True]
    assert [i.kind for i in validate_form(kept, undeclared="reject").issues] == ["undeclared", "undeclared"]


@pytest.mark.record("0052-D2-07", "0052-D2-08", "0052-D1-19")
@pytest.mark.parametrize("status", get_args(FormStatus))
def test_the_status_comes_from_this_check_alone(status: Any) -> None:
    form = form_of(FieldSpec(name="a", type="int"), status=status, values={"a": "x"}, validation_errors=["old"])
    good, bad, checked = fill_form(form, {"a": 1}), fill_form(form, {"a": "x"}), validate_form(form)
    assert (good.status, good.validation_errors) == ("validated", [])
    assert (bad.status, checked.status) == ("error", "error")
    assert "old" not in bad.validation_errors + checked.validation_errors
    assert len(bad.validation_errors) == 1


@pytest.mark.record("0052-D1-19")
def test_no_code_of_the_package_makes_a_form_submitted_or_completed() -> None:
    """Only the table of transitions, the literal of statuses and the readiness check know the two words."""
    folder = Path(str(lionagi.work.__file__)).parent
    places = {
        path.name: [
            line.strip() for line in path.read_text().splitlines() if '"submitted"' in line or '"completed"' in line
        ]
        for path in sorted(folder.glob("*.py"))
    }
    assert {name for name, lines in places.items() if lines} == {"form.py"}
    assert not [line for line in places["form.py"] if "status =" in line or "status=" in line or '"status"' in line]


@pytest.mark.record("0052-D2-10", "0052-D2-11")
def test_values_are_converted_and_what_cannot_be_stays_with_a_problem() -> None:
    form = form_of(FieldSpec(name="a", type="int"), FieldSpec(name="b", type="int"))
    rules = RuleSet([Rule(rule_id="r", field="a", check="range", params={"min": 5})])
    filled = fill_form(form, {"a": "7", "b": "many"}, ruleset=rules)
    assert filled.values == {"a": 7, "b": "many"}
    with pytest.raises(TypeError) as caught:
        form.fields["b"].coerce("many")
    assert filled.validation_errors == [str(caught.value)]


def expected(form: WorkForm, given: dict[str, Any]) -> list[str]:
    """The problems in their order, written from the description."""
    found: list[str] = []
    read = dict(given)
    for name, spec in form.fields.items():
        value = given.get(name, spec.default)
        read[name] = value
        if value is None:
            found += [f"required {name}"] * spec.required
        else:
            try:
                read[name] = spec.coerce(value)
            except TypeError:
                found.append(f"type {name}")
    for rule in RULES.rules():
        if rule.apply(WorkForm(values=read)) is not None:
            found.append(f"{rule.check} {rule.field} {rule.rule_id}")
    return found


@pytest.mark.record("0052-D2-12", "DEC-24-1", "DEC-24-2")
@given(forms(), values)
def test_all_problems_are_collected_in_order_with_a_record_each(form: WorkForm, given: dict[str, Any]) -> None:
    filled = fill_form(form, given, ruleset=RULES)
    told = [f"{i.kind} {i.field} {i.rule_id}" if i.rule_id else f"{i.kind} {i.field}" for i in filled.issues]
    assert told == expected(form, given)
    assert [issue.message for issue in filled.issues] == filled.validation_errors
    assert filled.status == ("error" if told else "validated")


@given(forms(), values)
def test_checking_again_changes_nothing(form: WorkForm, given: dict[str, Any]) -> None:
    once = fill_form(form, given, ruleset=RULES)
    again = validate_form(once, ruleset=RULES)
    refilled = fill_form(form, once.values, ruleset=RULES)
    for other in (again, refilled):
        assert (other.values, other.status, other.validation_errors) == (
            once.values,
            once.status,
            once.validation_errors,
        )


def test_what_was_supplied_is_remembered_for_views() -> None:
    given = {"item": "x", "amount": "3"}
    filled = fill_form(ORDER, given)
    assert filled.supplied == given
    assert filled.supplied is not given
    assert ORDER.supplied is None


def test_a_form_without_fields_takes_anything() -> None:
    assert fill_form(WorkForm(), {"a": object()}).status == "validated"


@pytest.mark.parametrize("wrong", [None, [("a", 1)], "a"])
def test_values_that_are_no_mapping_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="mapping of field names to values"):
        fill_form(ORDER, wrong)


def test_an_unknown_way_with_undeclared_keys_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'keep' or 'reject', not 'drop'"):
        fill_form(ORDER, {}, undeclared="drop")  # pyright: ignore[reportArgumentType]


@pytest.mark.record("0052-C-01")
def test_the_modules_and_their_names() -> None:
    import lionagi.cli.agent
    import lionagi.work.form
    import lionagi.work.rules

    assert lionagi.work.form.WorkForm is lionagi.work.WorkForm
    assert lionagi.work.rules.RuleSet is lionagi.work.RuleSet
    assert lionagi.cli.agent.__name__ == "lionagi.cli.agent"
    for name in ("FieldSpec", "WorkForm", "fill_form", "validate_form", "Rule", "RuleSet"):
        assert getattr(lionagi.work, name)


def test_each_name_is_where_its_record_puts_it() -> None:
    form, rules = import_module("lionagi.work.form"), import_module("lionagi.work.rules")
    homes = {
        form: ("FieldSpec", "FieldType", "FormStatus", "VALID_TRANSITIONS", "WorkForm", "fill_form", "validate_form"),
        rules: ("CheckKind", "REGEX_MAX_INPUT_LENGTH", "Rule", "RuleSet"),
    }
    for module, names in homes.items():
        assert set(names) <= set(module.__all__) & set(lionagi.work.__all__)
        assert [name for name in names if getattr(module, name) is not getattr(lionagi.work, name)] == []
    assert set(lionagi.work.__all__) <= set(dir(lionagi.work))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        lionagi.work.Nothing  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
