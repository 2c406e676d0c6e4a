"""Approvals in a real JupyterLab: allowed, denied with a reason, left alone, and safe at the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.lab import Lab, LabPage, write_notebook

pytestmark = pytest.mark.browser

SETUP = """
import lionagi_nb as nb
from lionagi.testing import TestBranch

ran = []

def refund(order: str, note: str = "") -> str:
    "Pay back."
    ran.append(order)
    return "re_01"
"""
ASK = """
NOTE = "twice\\u202e<img src=x onerror='window.owned=1'>"
asked = [{"function": "refund", "arguments": {"order": "A-1093", "note": NOTE}}]
data = {"action_required": True, "action_requests": asked}
branch = TestBranch.from_responses([{"type": "structured", "data": data}], tools=[refund])
branch.gate = nb.approval(timeout=TIMEOUT)
result = await branch.operate(instruction="go", actions=True, reason=True)
print("ran", ran, branch.gate.history[-1].verdict, "|", branch.gate.history[-1].reason)
"""


def start(lab: Lab, open_notebook: Callable[[Path], LabPage], name: str, timeout: str) -> tuple[LabPage, Any]:
    path = write_notebook(lab.notebooks / name, [SETUP, ASK.replace("TIMEOUT", timeout)])
    opened = open_notebook(path)
    opened.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    panel = opened.page.locator(".l-panel")
    panel.wait_for()
    return opened, panel


def said(opened: LabPage, words: str) -> None:
    opened.page.get_by_text(words).wait_for(timeout=15_000)


def test_an_approved_call_runs_once_and_its_view_stays(lab: Lab, open_notebook: Callable[[Path], LabPage]) -> None:
    opened, panel = start(lab, open_notebook, "approve.ipynb", "60")
    assert "A-1093" in panel.inner_text()
    assert "\\u202e" in panel.inner_text()
    assert "hidden characters" in panel.inner_text()
    assert "denied by itself in" in panel.inner_text()
    for dark in (False, True):
        opened.set_theme(dark)
        opened.screenshot(f"approval_{'dark' if dark else 'light'}")
    panel.get_by_role("button", name="Approve once", exact=True).click()
    said(opened, "ran ['A-1093'] approved")
    assert opened.page.locator(".l-panel").count() == 0
    assert "approved" in opened.page.locator(".jp-OutputArea-output .lnb").inner_text()
    assert opened.page.evaluate("() => window.owned") is None


def test_a_denied_call_does_not_run_and_tells_why(lab: Lab, open_notebook: Callable[[Path], LabPage]) -> None:
    opened, panel = start(lab, open_notebook, "deny.ipynb", "60")
    panel.get_by_label("Reason").fill("Ask for the bank reference first.")
    panel.get_by_role("button", name="Deny", exact=True).click()
    said(opened, "ran [] denied | Ask for the bank reference first.")
    assert "denied" in opened.page.locator(".jp-OutputArea-output .lnb").inner_text()


def test_A3_no_answer_is_a_no(lab: Lab, open_notebook: Callable[[Path], LabPage]) -> None:
    opened, _ = start(lab, open_notebook, "late.ipynb", "2")
    said(opened, "ran [] no answer | no answer in 2 s")
    assert "Nobody answered in time" in opened.page.locator(".jp-OutputArea-output .lnb").inner_text()


def test_N9_typing_on_a_control_deletes_nothing(lab: Lab, open_notebook: Callable[[Path], LabPage]) -> None:
    opened, panel = start(lab, open_notebook, "keys.ipynb", "60")
    cells = opened.page.locator(".jp-Notebook-cell").count()
    assert opened.page.evaluate("() => document.activeElement?.closest('.l-panel') === null")
    for control in panel.locator("button, input").all():
        control.focus()
        opened.page.keyboard.type("dd")
        opened.page.keyboard.type("0")
    assert opened.page.locator(".jp-Notebook-cell").count() == cells
    panel.get_by_role("button", name="Deny", exact=True).focus()
    opened.page.keyboard.press("Enter")
    said(opened, "ran [] denied")
