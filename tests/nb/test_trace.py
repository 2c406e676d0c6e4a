"""The trace view: stages inside stages, and why the later ones did not run."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from pydantic import BaseModel
from support.nb_views import read
from traitlets.config import Config

import lionagi
import lionagi_nb as nb
from lionagi import Branch
from lionagi.ln.trace import Span, Trace, is_tracing, set_trace_sink
from lionagi.testing import TestBranch
from lionagi_nb._trace.ring import KEPT

REQUESTS = [{"function": "weather", "arguments": {"city": "x"}}]
ASKS = {"city": "Paris", "action_required": True, "action_requests": REQUESTS}


class City(BaseModel):
    """The answer asked for."""

    city: str


def weather(city: str) -> str:
    """Return the weather of a city."""
    return "sunny"


def branch(answers: int = 1) -> Branch:
    return TestBranch.from_responses([{"type": "structured", "data": ASKS}] * answers, tools=[weather], name="trip")


async def ask(held: Branch, **how: Any) -> Any:
    return await held.operate(instruction="go", response_format=City, actions=True, **how)


@pytest.fixture
def shell() -> Iterator[Any]:
    """A shell with the extension."""
    shell: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    nb.load_ipython_extension(shell)
    yield shell
    nb.unload_ipython_extension(shell)
    InteractiveShell.clear_instance()


async def test_the_stages_of_one_call_stand_in_order_and_depth() -> None:
    with lionagi.trace() as seen:
        await ask(branch())
    view = nb.trace(seen)
    stages = [(row["depth"], row["name"]) for row in view.data()["stages"]]
    assert stages[0] == (0, "operate")
    names = [name for _, name in stages]
    wanted = ["prepare", "render", "model call", "parse", "validate", "tool", "authorize", "enrich"]
    assert [name for name in names if name in wanted] == wanted
    assert all(depth > 0 for depth, name in stages if name in wanted)
    text = view.text()
    assert text.startswith("Trace operate: ✓ ok\n")
    assert "tool weather" in text
    assert "1 response added" in text


async def test_an_early_return_says_which_stages_never_ran_and_why() -> None:
    with lionagi.trace() as seen, pytest.warns(UserWarning, match="skip_validation"):
        await ask(branch(), skip_validation=True)
    view = nb.trace(seen)
    assert view.text().startswith("Trace operate: ✓ early return\n")
    left = {r["name"]: r["what"] for r in view.data()["stages"] if r["status"] == "not run"}
    assert set(left) == {"actions", "enrich"}
    assert "skip_validation" in left["actions"]
    page = " ".join(read(view.html()).words)
    assert "2 not run" in page


async def test_a_failure_shows_its_error() -> None:
    with lionagi.trace() as seen, pytest.raises(Exception, match="exhausted"):
        await branch(0).communicate("hi")
    view = nb.trace(seen)
    assert view.text().startswith("Trace communicate: ✗ error")
    assert "ScriptExhaustedError" in view.text()


@pytest.mark.parametrize(("gate", "city", "mark"), [(True, "nowhere", "✗ error"), (False, "Paris", "⊘ denied")])
async def test_a_tool_that_gave_nothing_does_not_look_fine(gate: bool, city: str, mark: str) -> None:
    def weather(city: str) -> str:
        """Return the weather of a city."""
        raise LookupError(city)

    data = {**ASKS, "action_requests": [{"function": "weather", "arguments": {"city": city}}]}
    held = TestBranch.from_responses([{"type": "structured", "data": data}], tools=[weather])
    held.gate = lambda call: gate
    with lionagi.trace() as seen:
        await ask(held)
    (line,) = [line for line in nb.trace(seen).text().splitlines() if "tool weather" in line]
    assert mark in line
    assert mark.replace(" ", "\u00a0") in " ".join(read(nb.trace(seen).html()).words).replace(" \u00a0", "\u00a0")


def test_what_changes_from_run_to_run_is_not_in_the_text() -> None:
    call = Span("model call", {"usage": {"prompt_tokens": 1412, "completion_tokens": 434}}, 0.1, 1.84, "ok")
    view = nb.trace(Trace([Span("operate", {}, 0.0, 2.0, "ok", children=[call])]))
    assert "1,412" not in view.text()
    assert "1.84" not in view.text()
    page = " ".join(read(view.html()).words)
    assert "1,412 tokens in, 434 out" in page
    assert "1.84\u00a0s" in page


def test_a_stage_that_still_runs_says_so() -> None:
    assert "● running" in nb.trace(Trace([Span("operate")])).text()


def test_an_empty_trace_says_so() -> None:
    assert nb.trace(Trace()).text() == "Trace: no stages\nNothing was traced here."


def test_a_long_trace_ends_with_how_many_are_left() -> None:
    view = nb.trace(Trace([Span("parse", {}, n / 10, 0.1, "ok") for n in range(250)]))
    assert view.text().endswith("50 more stages")
    assert "50 more rows" in " ".join(read(view.html()).words)


async def test_a_branch_is_looked_up_among_the_kept_traces(shell: Any) -> None:
    one, two = branch(), branch()
    await ask(one)
    await two.communicate("hi")
    assert nb.trace(one).subject == "operate"
    assert nb.trace(two).subject == "communicate"
    assert nb.trace().subject == "communicate"
    assert shell.run_line_magic("trace", "None").subject == "communicate"


@pytest.mark.record("DEC-B-5")
async def test_the_last_200_traces_are_kept_and_hold_no_result(shell: Any) -> None:
    first, rest = branch(), branch(KEPT + 5)
    result = await ask(first)
    gone = weakref.ref(result)
    del result
    gc.collect()
    assert gone() is None
    assert nb.trace(first).subject == "operate"
    for _ in range(KEPT - 1):
        await ask(rest)
    assert nb.trace(first).subject == "operate"
    await ask(rest)
    with pytest.raises(LookupError, match="no trace is kept"):
        nb.trace(first)


def test_unloading_stops_the_tracing_and_puts_back_what_was_there() -> None:
    seen: list[Trace] = []
    before = set_trace_sink(seen.append)
    shell: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    nb.load_ipython_extension(shell)
    with lionagi.trace():
        pass
    nb.unload_ipython_extension(shell)
    InteractiveShell.clear_instance()
    assert len(seen) == 1
    assert set_trace_sink(before) == seen.append
    assert not is_tracing()
    with pytest.raises(LookupError):
        nb.trace()


def test_something_else_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="a trace or a branch, not int"):
        nb.trace(3)
