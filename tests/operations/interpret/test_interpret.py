"""interpret: a person's words as a clear prompt."""

from __future__ import annotations

import pytest
from support.openai_server import Faults
from support.roads import Road, text

from lionagi._errors import ExecutionError
from lionagi.ln.trace import trace
from lionagi.operations.interpret.interpret import interpret, prepare_interpret_kw
from lionagi.testing import TestBranch


async def test_the_answer_is_returned_and_nothing_is_recorded(road: Road) -> None:
    branch = road.branch(text("List three fruits."), system="SYSTEM")
    assert await branch.interpret("fruits pls, 3") == "List three fruits."
    assert [message.role for message in branch.messages] == ["system"]


async def test_the_request_holds_the_words_the_domain_the_style_and_the_sample(road: Road) -> None:
    branch = road.branch(text("fine"))
    await branch.interpret("fruits pls", "botany", "formal", sample_writing="Kindly enumerate.")
    asked = str(road.payloads[0]["messages"][-1]["content"])
    for words in ("User input: fruits pls", "Domain: botany. Style: formal.", "Kindly enumerate."):
        assert words in asked


async def test_domain_and_style_have_defaults(road: Road) -> None:
    branch = road.branch(text("fine"))
    await branch.interpret("fruits pls")
    assert "Domain: general. Style: concise." in road.sent
    assert "sample" not in road.sent


@pytest.mark.parametrize(("given", "sent"), [({}, 0.1), ({"temperature": 0.7}, 0.7)], ids=["default", "own"])
async def test_the_temperature_is_low_unless_given(api_road: Road, given: dict[str, float], sent: float) -> None:
    branch = api_road.branch(text("fine"))
    await branch.interpret("fruits pls", **given)  # pyright: ignore[reportArgumentType]
    assert api_road.payloads[0]["temperature"] == sent


async def test_a_model_for_one_call_leaves_the_branchs_own(road: Road) -> None:
    branch, other = TestBranch.from_text("never"), road.model(text("fine"))
    own = branch.chat_model
    assert await branch.interpret("fruits pls", interpret_model=other) == "fine"
    assert branch.chat_model is own
    assert TestBranch.calls(branch) == []


async def test_a_failing_call_reaches_the_caller(api_road: Road) -> None:
    api_road.server.default = Faults.status(400, '{"error": {"message": "no"}}')
    with pytest.raises(ExecutionError, match="API call failed"):
        await api_road.branch().interpret("fruits pls")


async def test_the_verb_is_a_stage_of_its_own_and_named_in_the_log() -> None:
    branch = TestBranch.from_text("fine")
    with trace() as seen:
        await interpret(branch, **prepare_interpret_kw(branch, "fruits pls"))
    assert [span.name for span in seen.spans] == ["interpret"]
    assert [log.content["verb"] for log in branch.logs] == ["interpret"]
