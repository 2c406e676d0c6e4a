"""The form view: what each field holds and where it came from, what is wrong, which rules passed."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic import ValidationError as SchemaError
from support.nb_views import read

import lionagi_nb as nb
from lionagi.work import FieldSpec, Rule, RuleSet, WorkForm, fill_form, validate_form

DECLARED: dict[str, dict[str, Any]] = {
    "ticket_id": {}, "order_id": {}, "amount": {"type": "float"}, "urgency": {"type": "int"},
    "vip": {"type": "bool", "required": False}, "channel": {"required": False, "default": "email"},
    "tags": {"type": "list", "required": False}, "notes": {"required": False},
}  # fmt: skip
INTAKE = WorkForm(title="Ticket intake", fields={n: FieldSpec(name=n, **k) for n, k in DECLARED.items()})
RULES = RuleSet(
    [
        Rule(rule_id="ticket_format", field="ticket_id", check="pattern", params={"pattern": r"^T-\d{4}$"}),
        Rule(rule_id="order_format", field="order_id", check="pattern", params={"pattern": r"^A-\d{4}$"}),
        Rule(rule_id="urgency_range", field="urgency", check="range", params={"min": 1, "max": 5}, message="at most 5"),
        Rule(rule_id="refund_cap", field="amount", check="custom", params={"callable": lambda v: v <= 200}),
        Rule(rule_id="weekend_only", field="channel", check="custom", enabled=False),
    ]
)
ANSWERS = {
    "ticket_id": "T-4182", "amount": "59,90", "urgency": "9", "vip": "yes", "tags": ["invoice"], "priority": "high"
}  # fmt: skip
TEXT = r"""Form Ticket intake: ✗ error
8 fields, 4 problems in 3 fields, 1 undeclared key, allowed next: draft

field      value                            expected        problem
---------  -------------------------------  --------------  ----------------------------------------
ticket_id  "T-4182"                         str required    ✓ ok
order_id   – no value                       str required    ✗ error required, and there is no value
amount     "59,90"                          float required  ✗ error cannot be read as the expected
                                                            type
                                                            ✗ error rule refund_cap: raised
                                                            TypeError: '<=' not supported between
                                                            instances of 'str' and 'int'.
urgency    "9" → 9 (coerced from str)       int required    ✗ error rule urgency_range: at most 5
vip        "yes" → True (coerced from str)  bool optional   ✓ ok
channel    "email" (default)                str optional    ✓ ok
tags       ['invoice']                      list optional   ✓ ok
notes      – no value                       str optional    ✓ ok

rule           check              field      result
-------------  -----------------  ---------  -------------------------------------------------------
ticket_format  pattern ^T-\d{4}$  ticket_id  ✓ ok
order_format   pattern ^A-\d{4}$  order_id   – skipped no value
urgency_range  range 1 to 5       urgency    ✗ failed at most 5
refund_cap     custom             amount     ✗ raised TypeError: '<=' not supported between
                                             instances of 'str' and 'int'.
weekend_only   custom             channel    – off disabled

undeclared  value   what happens
----------  ------  -----------------------------------------------------
priority    "high"  kept in values; li agent --form would reject the file"""


def failed(**how: Any) -> WorkForm:
    return fill_form(INTAKE, ANSWERS, ruleset=RULES, **how)


def test_the_text_form() -> None:
    assert nb.errors(failed(), ruleset=RULES).text() == TEXT


def test_a_rejected_key_says_so() -> None:
    text = nb.errors(failed(undeclared="reject")).text()
    assert "5 problems" in text
    assert "refused; declare a field of that name, or leave it out" in text


def test_a_valid_form_is_its_header_and_one_fold() -> None:
    view = nb.errors(fill_form(INTAKE, {"ticket_id": "T-1", "order_id": "A-1", "amount": "1", "urgency": 3}))
    assert view.text() == "Form Ticket intake: ✓ validated\n8 fields, no problems, allowed next: error, submitted"
    page = read(view.html())
    assert page.elements.count("details") == 1
    assert "8 fields · 1 coerced · 1 default" in " ".join(page.words)


def test_a_draft_shows_its_fields() -> None:
    text = nb.errors(INTAKE).text()
    assert text.startswith("Form Ticket intake: ○ draft\n8 fields, allowed next: filled")
    assert "ticket_id" in text


def test_a_form_that_was_only_validated_claims_no_conversions() -> None:
    form = validate_form(WorkForm(fields={"a": FieldSpec(name="a", type="int")}, values={"a": "x"}))
    assert "coerced" not in nb.errors(form).text()


def test_the_data_form_has_every_row() -> None:
    data = nb.errors(failed(), ruleset=RULES).data()
    assert [row["name"] for row in data["fields"]] == list(DECLARED)
    assert [row["status"] for row in data["rules"]] == ["ok", "skipped", "failed", "raised", "off"]
    assert data["undeclared"] == [{"name": "priority", "value": '"high"', "refused": False}]
    assert (data["status"], data["allowed_next"]) == ("error", ["draft"])


class Model(BaseModel):
    """Something that pydantic refuses."""

    a: int
    b: list[int]
    c: str


def test_pydantics_error_has_a_row_for_each_place() -> None:
    with pytest.raises(SchemaError) as caught:
        Model(a="x", b=[1, "y"])  # pyright: ignore[reportCallIssue, reportArgumentType]
    view = nb.errors(caught.value)
    assert view.text().startswith("Errors Model: ✗ error\n3 fields, 3 problems")
    assert [row["name"] for row in view.data()["fields"]] == ["a", "b.1", "c"]
    assert '"y"' in view.text()
    assert "– no value" in view.text()


def test_something_else_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="a form or a pydantic ValidationError, not dict"):
        nb.errors({})


def test_L7_a_form_of_2000_fields_shows_200_and_how_many_more() -> None:
    form = fill_form(WorkForm(fields={f"f{n}": FieldSpec(name=f"f{n}") for n in range(2_000)}), {})
    began = time.process_time()
    view = nb.errors(form)
    html = view.html()
    took = time.process_time() - began
    assert "1,800 more rows" in " ".join(read(html).words)
    assert view.text().endswith("1,800 more fields")
    assert took < 1.5  # the figure is 0.3 s on an idle machine
