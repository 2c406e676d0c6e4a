"""Context providers: what they add to a call, and what they hear of its tools."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
from typing import Any

import pytest
from pydantic import BaseModel
from support.roads import Bench, Road, request, requests, structured, text

from lionagi._errors import ConfigurationError, ExistsError
from lionagi.ln.trace import trace
from lionagi.protocols.messages.instruction import Instruction
from lionagi.session.branch import Branch
from lionagi.session.context import ContextProviderRegistry, ProviderReport
from lionagi.testing import TestBranch


class Report(BaseModel):
    city: str


class Memory:
    """Says what it is told to say, and notes what it hears."""

    def __init__(self, says: Any = None, kept: Any = None) -> None:
        self.says = says
        self.kept = kept
        self.asked: list[tuple[Any, Any]] = []
        self.heard: list[list[Any]] = []

    async def provide(self, branch: Branch, instruction: Instruction) -> Any:
        self.asked.append((branch, instruction))
        if isinstance(self.says, Exception | asyncio.CancelledError):
            raise self.says
        return self.says

    async def writeback(self, branch: Branch, action_responses: list[Any]) -> Any:
        self.heard.append(list(action_responses))
        if isinstance(self.kept, Exception):
            raise self.kept
        action_responses.clear()
        return self.kept


class Hanging:
    """Never answers, in whichever of its two methods."""

    calls = 0

    async def provide(self, branch: Branch, instruction: Instruction) -> str:
        self.calls += 1
        await asyncio.Event().wait()
        return "never"

    writeback = provide


VERBS = ["chat", "communicate", "operate", "interpret", "run"]


async def ask(branch: Branch, verb: str) -> None:
    if verb == "run":
        async for _ in branch.run("QUESTION"):
            pass
    elif verb == "operate":
        await branch.operate(instruction="QUESTION")
    else:
        await getattr(branch, verb)("QUESTION")


@pytest.mark.parametrize("verb", VERBS)
async def test_what_a_provider_knows_is_sent_behind_the_system_message_and_not_recorded(road: Road, verb: str) -> None:
    branch = road.branch(text("fine"), system="SYSTEM")
    memory = Memory("KNOWLEDGE")
    branch.providers.register(memory)
    await ask(branch, verb)
    head = road.payloads[0]["messages"][0]
    assert (head["role"], head["content"]) == ("system", f"{branch.system and branch.system.rendered}\n\nKNOWLEDGE")
    assert "KNOWLEDGE" not in repr([message.rendered for message in branch.messages])
    assert memory.asked[0][0] is branch
    assert isinstance(memory.asked[0][1], Instruction)
    assert branch.last_context_report == ProviderReport(injected=("Memory",))


async def test_a_model_without_a_system_role_gets_it_before_the_first_guidance(road: Road) -> None:
    branch = road.branch(text("one"), text("two"), system="SYSTEM")
    endpoint = branch.chat_model.endpoint
    endpoint.capabilities = dataclasses.replace(endpoint.capabilities, system_role=False)
    memory = Memory("KNOWLEDGE")
    branch.providers.register(memory)
    await branch.communicate("first")
    memory.says = None
    await branch.communicate("second")
    first, second = (payload["messages"][0] for payload in road.payloads)
    assert first["role"] == second["role"] == "user"
    assert first["content"].index("SYSTEM") < first["content"].index("KNOWLEDGE") < first["content"].index("first")
    assert "KNOWLEDGE" not in repr(road.payloads[1])


async def test_a_reformatting_call_is_not_given_any_context(road: Road) -> None:
    branch = road.branch(text("no json"), structured(city="Oslo"), system="SYSTEM")
    memory = Memory("KNOWLEDGE")
    branch.providers.register(memory)
    result = await branch.operate(instruction="a", response_format=Report)
    assert result.city == "Oslo"
    assert len(memory.asked) == 1
    assert ["KNOWLEDGE" in repr(payload) for payload in road.payloads] == [True, False]


async def test_without_a_system_message_nobody_is_asked_and_the_report_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    branch, memory = TestBranch.from_text(["one", "two"]), Memory("KNOWLEDGE")
    branch.providers.register(memory)
    await branch.communicate("a")
    await branch.communicate("b")
    assert memory.asked == []
    assert branch.last_context_report == ProviderReport(skipped={"Memory": "the branch has no system message"})
    assert [record.message for record in caplog.records].count(
        "context providers are not asked: the branch has no system message"
    ) == 1


async def test_texts_stand_in_the_order_of_registration_and_those_of_high_priority_win_the_budget() -> None:
    branch = TestBranch.from_text("fine", system="SYSTEM")
    registry = branch.providers
    registry.budget = 10
    registry.register(Memory("a" * 16), name="low")
    registry.register(Memory("b" * 20), name="high", priority=2)
    registry.register(Memory("c" * 13), name="own", priority=3, max_tokens=3)
    registry.register(Memory("d" * 17), name="middle", priority=1)
    registry.register(Memory(None), name="silent", priority=9)
    await branch.communicate("a")
    sent = TestBranch.calls(branch)[0].payload["messages"][0]["content"]
    assert sent.endswith("SYSTEM\n\n" + "b" * 20 + "\n\n" + "d" * 17)
    report = branch.last_context_report
    assert report is not None
    assert report.injected == ("high", "middle")
    assert report.skipped == {
        "own": "4 tokens are more than its own 3",
        "low": "4 tokens do not fit into the 0 that are left of 10",
    }


@pytest.mark.parametrize(
    "fault", [ValueError("broken"), asyncio.CancelledError(), TimeoutError(), 5], ids=lambda fault: type(fault).__name__
)
async def test_T10_a_provider_that_fails_breaks_no_call_and_is_logged_once(
    road: Road, fault: Any, caplog: pytest.LogCaptureFixture
) -> None:
    branch = road.branch(text("one"), text("two"), system="SYSTEM")
    branch.providers.register(Memory(fault), name="bad")
    branch.providers.register(Memory("KNOWLEDGE"), name="good")
    assert [await branch.communicate("a"), await branch.communicate("b")] == ["one", "two"]
    assert "KNOWLEDGE" in repr(road.payloads[1])
    assert branch.last_context_report == ProviderReport(injected=("good",), failed=("bad",))
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == 1


async def test_T10_a_provider_that_hangs_costs_its_deadline_once_and_breaks_no_turn(
    road: Road, bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    asked = requests(request("safe", n=1))
    branch = road.branch(asked, asked, system="SYSTEM", tools=list(bench.branch.tools.values()))
    hanging = Hanging()
    branch.providers.deadline = 0.01
    branch.providers.register(hanging)
    for _ in range(2):
        result = await branch.operate(instruction="a", actions=True)
        assert result.action_responses[0].output == 2
    assert hanging.calls == 2
    assert branch.providers.stats["failed"] == branch.providers.stats["writeback_failed"] == 2
    warned = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warned) == 2


async def test_plain_functions_are_called_in_a_thread(road: Road) -> None:
    threads: list[Any] = []

    class Plain:
        def provide(self, branch: Branch, instruction: Instruction) -> str:
            threads.append(threading.current_thread())
            return "KNOWLEDGE"

    branch = road.branch(text("fine"), system="SYSTEM")
    branch.providers.register(Plain())
    await branch.communicate("a")
    assert "KNOWLEDGE" in road.sent
    assert threads[0] is not threading.current_thread()


async def test_cancelling_the_caller_cancels_the_provider() -> None:
    branch, begun = TestBranch.from_text("never", system="SYSTEM"), asyncio.Event()

    class Slow:
        async def provide(self, branch: Branch, instruction: Instruction) -> str:
            begun.set()
            await asyncio.Event().wait()
            return ""

    branch.providers.register(Slow())
    task = asyncio.create_task(branch.communicate("a"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [message.role for message in branch.messages] == ["system"]


@pytest.mark.record("0022-D4-24")
async def test_every_provider_is_offered_all_responses_before_the_result_is_enriched(road: Road, bench: Bench) -> None:
    asked = requests(request("safe", n=1), request("boom", n=2), request("echo", words="a"), request("safe", n="x"))
    branch = road.branch(asked, requests(), structured(note="a"), text("b"), tools=list(bench.branch.tools.values()))
    branch.gate = lambda invocation: invocation.function != "echo"
    seen: list[Any] = []
    given: dict[str, Any] = {}

    class Witness(Memory):
        async def writeback(self, branch: Branch, action_responses: list[Any]) -> Any:
            seen.append(given["answer"].get("action_responses", "not enriched"))
            return await super().writeback(branch, action_responses)

    async def middle(branch: Branch, *_: Any, **__: Any) -> Any:
        given["answer"] = {"action_requests": [request("safe", n=5)]}
        return given["answer"]

    memories = [Memory(kept=1), Witness(kept=2), Memory(kept=None)]
    for number, memory in enumerate(memories):
        branch.providers.register(memory, name=str(number))
    given["answer"] = {}
    result = await branch.operate(instruction="a", actions=True)
    outputs = [response.output for response in result.action_responses]
    assert [output if isinstance(output, int) else output["error"] for output in outputs] == [
        2, "LookupError", "denied", "ValidationError",
    ]  # fmt: skip
    for memory in memories:
        assert [[response.output for response in offered] for offered in memory.heard] == [outputs]
    assert branch.providers.stats["writeback_records"] == 3
    seen.clear()
    enriched = await branch.operate(instruction="a", actions=True, middle=middle)
    assert seen == ["not enriched"]
    assert enriched["action_responses"][0].output == 6
    for _ in range(3):  # an empty list of requests, none at all, and plain text
        await branch.operate(instruction="a", actions=True)
    assert [len(memory.heard) for memory in memories] == [2, 2, 2]


async def test_T10_a_writeback_that_fails_changes_nothing(
    road: Road, bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    branch = road.branch(requests(request("safe", n=1)), tools=list(bench.branch.tools.values()))
    branch.providers.register(Memory(kept=ValueError("full")), name="bad")
    good = Memory(kept=1)
    branch.providers.register(good, name="good")
    result = await branch.operate(instruction="a", actions=True)
    assert result.action_responses[0].output == 2
    assert len(good.heard) == 1
    assert (branch.providers.stats["writeback_failed"], branch.providers.stats["writeback_records"]) == (1, 1)


async def test_a_provider_cannot_change_the_result_through_what_it_is_offered(road: Road, bench: Bench) -> None:
    branch = road.branch(requests(request("safe", n=1)), tools=list(bench.branch.tools.values()))
    branch.providers.register(Memory(kept=1))  # clears its list
    result = await branch.operate(instruction="a", actions=True)
    assert len(result.action_responses) == 1


async def test_a_trace_shows_what_became_of_the_providers() -> None:
    branch = TestBranch.from_text("fine", system="SYSTEM")
    branch.providers.register(Memory("KNOWLEDGE"), name="good")
    branch.providers.register(Memory(ValueError("x")), name="bad")
    with trace() as seen:
        await branch.communicate("a")
    (stage,) = seen.find("context")
    assert (stage.attributes["injected"], stage.attributes["failed"]) == (["good"], ["bad"])


async def test_stats_count_calls_texts_and_faults() -> None:
    branch = TestBranch.from_text(["a", "b"], system="SYSTEM")
    memory = Memory("KNOWLEDGE")
    branch.providers.register(memory)
    await branch.communicate("a")
    memory.says = ValueError("x")
    await branch.communicate("b")
    counts = branch.providers.stats
    assert (counts["recall_turns"], counts["blocks_injected"]) == (2, 1)
    assert (counts["failed"], counts["degraded_turns"]) == (1, 1)


def test_names_are_unique_and_a_provider_can_be_removed() -> None:
    registry = ContextProviderRegistry()
    assert not registry
    assert registry.register(Memory()) == "Memory"
    with pytest.raises(ExistsError, match="'Memory'"):
        registry.register(Memory())
    registry.register(Memory(), name="other")
    assert (registry.names, len(registry)) == (["Memory", "other"], 2)
    assert registry.unregister("Memory")
    assert not registry.unregister("Memory")
    assert registry.names == ["other"]


def test_what_cannot_provide_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="5 is no context provider"):
        ContextProviderRegistry().register(5)


def test_a_branch_has_no_registry_before_its_first_use_and_copies_have_their_own() -> None:
    branch = TestBranch.from_text("a")
    assert branch.context_providers is None
    assert branch.last_context_report is None
    branch.providers.register(Memory())
    assert branch.context_providers is branch.providers
    assert branch.clone().context_providers is None
    assert Branch.from_dict(branch.to_dict("json")).context_providers is None
