"""The views in a real JupyterLab: shown in both themes, inert, and still there when an untrusted notebook is opened."""

from __future__ import annotations

from collections.abc import Callable

import nbformat
import pytest
from support.lab import Lab, LabPage, write_notebook

pytestmark = pytest.mark.browser

SETUP = """
import lionagi
import lionagi_nb as nb
from lionagi.testing import TestBranch
from lionagi.work import FieldSpec, Rule, RuleSet, WorkForm, fill_form
from pydantic import BaseModel, Field

class Triage(BaseModel):
    summary: str = Field(max_length=2_000)
    urgency: int = Field(ge=1, le=5)

def lookup_order(order_id: str) -> dict:
    "Look up an order."
    return {"order_id": order_id, "total": 59.9, "note": NOTE}

NOTE = ""
"""
RUN = """
asked = [{"function": "lookup_order", "arguments": {"order_id": "A-1093"}}, {"function": "close", "arguments": {}}]
branch = TestBranch.from_responses(
    [{"type": "structured", "data": {"summary": "twice" + NOTE, "urgency": 4, "action_requests": asked}},
     {"type": "text", "content": "unused" + NOTE, "when": {"prompt_contains": "never" + NOTE}}],
    tools=[lookup_order], name="triage" + NOTE)
with lionagi.trace() as stages:
    result = await branch.operate(instruction="sort it" + NOTE, response_format=Triage, actions=True)
other = TestBranch.from_responses([{"type": "text", "content": "another answer" + NOTE}], name="triage" + NOTE)
await other.communicate("sort it" + NOTE)
rules = RuleSet([Rule(rule_id="short", field="amount", check="range", params={"max": 5}, message="too much" + NOTE)])
fields = {name: FieldSpec(name=name, type=kind) for name, kind in (("item", "str"), ("amount", "int"))}
form = fill_form(WorkForm(title="Order" + NOTE, fields=fields), {"amount": "9", "note": NOTE}, ruleset=rules)
"""
SHOW = (
    "nb.actions(branch)",
    "nb.timeline(branch)",
    "nb.schema(result)",
    "nb.schema(Triage, reason=True, actions=branch)",
    "nb.transcript(branch)",
    "nb.compare(branch, other)",
    "nb.errors(form, ruleset=rules)",
    "nb.trace(stages)",
)
ATTACKS = (
    "<script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    "</style></pre></code></td></table><svg onload='window.owned = 1'>",
    '<iframe srcdoc=\\"<script>parent.owned = 1</script>\\"></iframe>',
)


def test_views_are_shown_in_light_and_dark(lab: Lab, open_notebook: Callable[..., LabPage]) -> None:
    path = write_notebook(lab.notebooks / "views.ipynb", [SETUP, RUN, *SHOW])
    opened = open_notebook(path)
    opened.run_all()
    views = opened.page.locator(".jp-OutputArea-output .lnb")
    views.nth(len(SHOW) - 1).wait_for()
    assert views.count() == len(SHOW)
    colours = set()
    for dark in (False, True):
        opened.set_theme(dark)
        colours.add(opened.page.locator(".lnb .l-ok").first.evaluate("e => getComputedStyle(e).color"))
        for number, shown in enumerate(views.all()):
            opened.screenshot(f"view_{number}_{'dark' if dark else 'light'}", shown)
    assert colours == {"rgb(0, 95, 150)", "rgb(108, 192, 240)"}


def test_N3_model_text_is_inert_in_a_real_page(lab: Lab, open_notebook: Callable[..., LabPage]) -> None:
    attack = f'NOTE = "{"".join(ATTACKS)}"'
    path = write_notebook(lab.notebooks / "hostile.ipynb", [SETUP, attack, RUN, *SHOW])
    opened = open_notebook(path)
    opened.run_all()
    views = opened.page.locator(".jp-OutputArea-output .lnb")
    views.nth(len(SHOW) - 1).wait_for()
    assert views.count() == len(SHOW)
    assert opened.page.evaluate("() => window.owned") is None
    assert opened.page.locator(".lnb :is(script, img, svg, iframe)").count() == 0


def test_N4_an_untrusted_notebook_still_shows_every_view(lab: Lab, open_notebook: Callable[..., LabPage]) -> None:
    path = write_notebook(lab.notebooks / "trusted.ipynb", [SETUP, RUN, *SHOW])
    opened = open_notebook(path)
    opened.run_all()
    opened.page.locator(".jp-OutputArea-output .lnb").nth(len(SHOW) - 1).wait_for()
    opened.save()
    saved = nbformat.read(path, as_version=4)
    saved.cells[0].source += "\n# another notebook, which nobody has signed"
    nbformat.write(saved, lab.notebooks / "untrusted.ipynb")
    stranger = open_notebook(lab.notebooks / "untrusted.ipynb", height=4_000)  # so that no cell waits to be scrolled to
    cells = stranger.page.locator(".jp-OutputArea-output table")
    cells.first.wait_for()
    words = stranger.page.locator(".jp-Notebook").inner_text()
    assert stranger.page.locator(".jp-OutputArea-output style").count() == 0
    for phrase in (
        "✓ ok",
        "✗ error",
        "lookup_order",
        "hidden from the model",
        "Unused entries",
        "no such step",
        "coerced from str",
        "enrich",
    ):
        assert phrase in words.replace("\u00a0", " ")
    stranger.screenshot("views_untrusted")
