"""The only road to a tool: one request after the other, and how each ends."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import logging
import threading
from typing import Any

import pytest
from pydantic import BaseModel
from support.openai_server import tool_call as wire_call
from support.roads import Bench, Road, request, requests, structured, text, tool_call

from lionagi._errors import ConfigurationError
from lionagi.hooks.bus import Denial, HookBus
from lionagi.ln.calls import AlcallParams
from lionagi.operations._defaults import get_default_action_call
from lionagi.operations.act.act import act
from lionagi.operations.fields import ActionResponseModel, Instruct
from lionagi.operations.types import ActionParam, MorphParam
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.control import HookPoint, ToolInvocation
from lionagi.session.branch import Branch
from lionagi.session.session import Session
from lionagi.testing import TestBranch

EMPTY = "the cupboard is bare"
ON_OFF = pytest.mark.parametrize("suppress", [True, False])


class Wish(BaseModel):
    function: str
    arguments: dict[str, Any]


def output(response: Any) -> Any:
    return response.output


# -- parameters


@pytest.mark.record("0022-D4-01")
def test_action_param_is_frozen_slotted_and_keyword_only() -> None:
    param = ActionParam()
    assert isinstance(param, MorphParam)
    assert not hasattr(param, "__dict__")
    found = (param.action_call_params, param.tools, param.strategy, param.suppress_errors, param.verbose_action)
    assert found == (None, None, "concurrent", True, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        param.strategy = "sequential"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError):
        ActionParam("x")  # pyright: ignore[reportCallIssue]


@pytest.mark.record("0022-D4-13")
def test_default_call_of_actions_drops_none_and_says_nothing_else() -> None:
    assert get_default_action_call() == AlcallParams(output_dropna=True)


# -- requests


@pytest.mark.record("0022-D4-02")
@pytest.mark.parametrize("strategy", ["concurrent", "sequential"])
async def test_responses_come_in_request_order(bench: Bench, strategy: Any) -> None:
    found = await act(bench.branch, [request("safe", n=n) for n in range(9)], ActionParam(strategy=strategy))
    assert [type(each) for each in found] == [ActionResponseModel] * 9
    assert [each.output for each in found] == list(range(1, 10))


@pytest.mark.record("0022-D4-03")
@pytest.mark.parametrize(
    "asked",
    [
        request("safe", n=1),
        [request("safe", n=1)],
        Wish(function="safe", arguments={"n": 1}),
        [Wish(function="safe", arguments={"n": 1})],
    ],
    ids=["mapping", "list", "model", "list of models"],
)
async def test_mappings_and_models_are_executed(bench: Bench, asked: Any) -> None:
    assert [each.output for each in await act(bench.branch, asked, ActionParam())] == [2]


@pytest.mark.record("0022-D4-03")
async def test_an_action_request_message_is_executed(bench: Bench) -> None:
    asked = bench.branch.msgs.create_action_request(function="safe", arguments={"n": 1})
    assert [each.output for each in await act(bench.branch, asked, ActionParam())] == [2]


@ON_OFF
@pytest.mark.record("0022-D4-04")
@pytest.mark.parametrize("bad", [3, "safe()", None, 1.5, ["nested"]])
async def test_a_request_of_another_type_raises_before_any_tool(bench: Bench, bad: Any, suppress: bool) -> None:
    with pytest.raises(ValueError, match="action_request"):
        await act(bench.branch, [request("safe", n=1), bad], ActionParam(suppress_errors=suppress))
    assert bench.events == []


@pytest.mark.record("DEC-08-1", "0022-D4-21")
@pytest.mark.parametrize(
    "bad",
    [
        request("nosuch"),
        {"function": "echo", "arguments": {}},
        {"function": "safe", "arguments": {"n": "many"}},
        {"function": "safe", "arguments": None},
        {"function": "safe"},
        {"function": None, "arguments": {}},
    ],
    ids=["unknown", "missing", "invalid", "null", "absent", "no name"],
)
async def test_T1_a_malformed_request_is_an_error_of_its_own(bench: Bench, bad: Any) -> None:
    found = await act(bench.branch, [request("safe", n=1), bad, request("safe", n=2)], ActionParam())
    assert [found[0].output, found[2].output] == [2, 3]
    assert set(found[1].output) == {"error", "message"}
    assert sorted(bench.entered) == ["+1", "+2"]
    assert [record["status"] for record in bench.audit] == ["ok", "error", "ok"]


@pytest.mark.record("DEC-08-2")
@pytest.mark.parametrize(
    "bad",
    [
        request("nosuch"),
        {"function": "echo", "arguments": {}},
        {"function": "safe", "arguments": {"n": "many"}},
        {"function": "safe", "arguments": None},
    ],
    ids=["unknown", "missing", "invalid", "null"],
)
async def test_a_malformed_request_raises_where_errors_are_not_suppressed(bench: Bench, bad: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        await act(bench.branch, bad, ActionParam(suppress_errors=False))
    assert bench.events == []


@pytest.mark.record("DEC-08-4")
@pytest.mark.parametrize(("name", "fits"), [("safe", True), ("echo", False)])
async def test_an_empty_arguments_string_on_the_wire_means_no_arguments(
    bench: Bench, api_road: Road, name: str, fits: bool
) -> None:
    branch = api_road.branch(tools=list(bench.branch.tools.values()))
    api_road.server.script(wire_call(name, ""))
    result = await branch.operate(instruction="a", actions=True)
    assert (result.action_responses[0].output == 1) == fits
    assert bool(bench.events) == fits


@pytest.mark.parametrize(
    "raw", ['{"n": ', "n=1", "[1]", '"1"', "null", "{'n': 1, }}", '{"n": NaN}', '{"n": 1} {"n": 2}']
)
async def test_T7_a_broken_arguments_string_is_an_error_and_never_no_arguments(
    bench: Bench, api_road: Road, raw: str
) -> None:
    branch = api_road.branch(tools=list(bench.branch.tools.values()))
    api_road.server.script(wire_call("safe", raw))
    result = await branch.operate(instruction="a", actions=True)
    assert output(result.action_responses[0])["error"] == "ValidationError"
    assert bench.events == []  # though the tool could run without any


@pytest.mark.parametrize(
    ("function", "arguments", "field"),
    [("safe", {"n": "many"}, "'n'"), ("echo", {"words": 3}, "'words'"), ("echo", {}, "words"), ("safe", {"m": 1}, "m")],
    ids=str,
)
async def test_T7_the_response_names_the_field_and_the_tool_is_not_entered(
    road: Road, bench: Bench, function: str, arguments: Any, field: str
) -> None:
    branch = road.branch(requests(request(function, **arguments)), tools=list(bench.branch.tools.values()))
    result = await branch.operate(instruction="a", actions=True)
    assert output(result.action_responses[0])["error"] == "ValidationError"
    assert field in output(result.action_responses[0])["message"]
    assert bench.events == []


@pytest.mark.record("DEC-10-1")
async def test_two_equal_requests_run_twice(road: Road, bench: Bench) -> None:
    branch = road.branch(requests(request("safe", n=1), request("safe", n=1)), tools=list(bench.branch.tools.values()))
    result = await branch.operate(instruction="a", actions=True)
    assert [each.output for each in result.action_responses] == [2, 2]
    assert bench.entered == ["+1", "+1"]


# -- strategies


@pytest.mark.record("0022-D4-11")
async def test_sequential_finishes_each_before_the_next(bench: Bench) -> None:
    await act(bench.branch, [request("safe", n=n) for n in (3, 1, 2)], ActionParam(strategy="sequential"))
    assert bench.events == ["+3", "-3", "+1", "-1", "+2", "-2"]


@pytest.mark.record("0022-D4-10")
async def test_concurrent_interleaves_and_its_call_params_can_serialise_it(bench: Bench) -> None:
    asked = [request("safe", n=n) for n in (1, 2)]
    await act(bench.branch, asked, ActionParam())
    assert bench.events[:2] == ["+1", "+2"]
    bench.events.clear()
    await act(bench.branch, asked, ActionParam(action_call_params=AlcallParams(max_concurrent=1)))
    assert bench.events == ["+1", "-1", "+2", "-2"]


@pytest.mark.record("0022-D4-12")
async def test_another_strategy_raises_before_any_tool(bench: Bench) -> None:
    with pytest.raises(ConfigurationError, match="strategy"):
        await act(bench.branch, request("safe"), ActionParam(strategy="random"))
    assert bench.events == []


@pytest.mark.record("0022-D1-20", "DEC-0022-4-1")
@pytest.mark.parametrize("given", [{}, {"action_strategy": None}, {"action_strategy": "concurrent"}], ids=str)
@pytest.mark.filterwarnings("ignore:.*action_strategy:UserWarning")
async def test_the_facade_runs_concurrently_unless_it_lets_the_instruct_decide(
    road: Road, bench: Bench, given: Any
) -> None:
    branch = road.branch(requests(request("safe", n=1), request("safe", n=2)), tools=list(bench.branch.tools.values()))
    instruct = Instruct(instruction="a", actions=True, action_strategy="sequential")
    await branch.operate(instruct=instruct, **given)
    sequential = bench.events == ["+1", "-1", "+2", "-2"]
    assert sequential == (given == {"action_strategy": None})


# -- failures


@pytest.mark.parametrize("strategy", ["concurrent", "sequential"])
async def test_T1_of_ten_tools_every_subset_may_fail_and_harms_no_other(bench: Bench, strategy: Any) -> None:
    wrong: list[int] = []
    for failing in range(2**10):
        bench.branch.msgs.clear_messages()
        fails = [bool(failing >> n & 1) for n in range(10)]
        asked = [request("boom" if fail else "safe", n=n) for n, fail in enumerate(fails)]
        found = await act(bench.branch, asked, ActionParam(strategy=strategy))
        told = [{"error": "LookupError", "message": EMPTY} if fail else n + 1 for n, fail in enumerate(fails)]
        kept = [(wanted.arguments["n"], answer.output) for wanted, answer in bench.pairs]
        if [each.output for each in found] != told or kept != list(enumerate(told)):
            wrong.append(failing)
    assert wrong == []
    assert len(bench.entered) == len(bench.audit) == 2**10 * 10


@pytest.mark.record("DEC-07-1", "0022-D4-21")
async def test_a_suppressed_failure_is_logged_recorded_and_returned(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "lionagi"):
        (found,) = await act(bench.branch, request("boom", n=1), ActionParam())
    wanted = {"error": "LookupError", "message": EMPTY}
    assert found.output == wanted
    assert [answer.output for _, answer in bench.pairs] == [wanted]
    assert "the cupboard is bare" in caplog.text


@pytest.mark.record("0022-D4-22")
async def test_an_unsuppressed_failure_is_the_tools_own_exception(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    raised, heard = RuntimeError("mine"), []

    def fail() -> None:
        """Fail."""
        raise raised

    bench.branch.register_tools(fail)
    bench.branch.hooks = HookBus()
    bench.branch.hooks.on(HookPoint.TOOL_ERROR, lambda **facts: heard.append(facts["error"]))
    with caplog.at_level(logging.INFO, "lionagi"), pytest.raises(RuntimeError) as caught:
        await act(bench.branch, request("fail"), ActionParam(suppress_errors=False))
    assert caught.value is raised
    assert heard == [raised]
    assert "mine" in caplog.text
    assert [record["status"] for record in bench.audit] == ["error"]


@pytest.mark.record("DEC-07-2")
async def test_the_next_turn_reads_of_the_failure(road: Road, bench: Bench) -> None:
    branch = road.branch(requests(request("boom")), text("fine"), tools=list(bench.branch.tools.values()))
    await branch.operate(instruction="a", actions=True)
    await branch.operate(instruction="b")
    assert "the cupboard is bare" in repr(road.payloads[1]["messages"])


async def test_T3_a_tool_that_raises_cancelled_error_has_failed_and_no_more(bench: Bench) -> None:
    async def quit_it() -> None:
        """Give up."""
        raise asyncio.CancelledError

    bench.branch.register_tools(quit_it)
    found = await act(bench.branch, [request("quit_it"), request("safe", n=1)], ActionParam())
    assert found[0].output["error"] == "ExecutionError"
    assert "CancelledError" in found[0].output["message"]
    assert found[1].output == 2
    assert [record["status"] for record in bench.audit] == ["error", "ok"]


@pytest.mark.record("DEC-30-1")
@pytest.mark.parametrize("strategy", ["concurrent", "sequential"])
async def test_a_cancelled_turn_leaves_one_record_for_each_request(bench: Bench, strategy: Any) -> None:
    async def cancel() -> None:
        """Cancel the turn."""
        turn.cancel()

    bench.branch.register_tools(cancel)
    asked = [request("safe", n=1), request("cancel"), request("safe", n=2)]
    turn = asyncio.create_task(act(bench.branch, asked, ActionParam(strategy=strategy)))
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert [record["function"] for record in bench.audit] == ["safe", "cancel", "safe"]
    assert bench.audit[2]["status"] == "cancelled"
    assert len(bench.pairs) == 3


# -- selection and gates


@pytest.mark.record("DEC-09-1")
@pytest.mark.parametrize("name", ["echo", "Safe", "safe ", " safe", "ѕafe", "safe\n", "nosuch", ""])
async def test_A1_only_the_selected_tool_runs(road: Road, bench: Bench, name: str) -> None:
    branch = road.branch(
        requests(request(name, words="x"), request("safe", n=1)), tools=list(bench.branch.tools.values())
    )
    result = await branch.operate(instruction="a", actions=True, tools=["safe"])
    assert output(result.action_responses[0])["error"] == "denied"
    assert output(result.action_responses[1]) == 2
    assert bench.entered == ["+1"]
    assert [log.content["status"] for log in branch.logs if log.content["kind"] == "tool_call"] == ["denied", "ok"]


@pytest.mark.record("DEC-36-1")
@pytest.mark.parametrize("selector", [[], False], ids=str)
async def test_A1_an_empty_selection_publishes_and_runs_nothing(road: Road, bench: Bench, selector: Any) -> None:
    branch = road.branch(requests(request("safe", n=1)), tools=list(bench.branch.tools.values()))
    result = await branch.operate(instruction="a", actions=True, tools=selector)
    assert output(result.action_responses[0])["error"] == "denied"
    assert bench.events == []
    assert "Return the number plus one" not in road.sent


@pytest.mark.record("0022-D4-14", "0022-D4-09")
@pytest.mark.parametrize("own_middle", [False, True])
async def test_authorize_is_awaited_once_for_each_request(
    road: Road, bench: Bench, monkeypatch: pytest.MonkeyPatch, own_middle: bool
) -> None:
    asked = [request("safe", n="1"), request("echo", words="w")]
    branch = road.branch(requests(*asked), tools=list(bench.branch.tools.values()))
    seen: list[ToolInvocation] = []
    original = Branch.authorize

    async def spy(self: Branch, action: ToolInvocation) -> bool:
        assert len(bench.entered) <= len(seen)
        seen.append(action)
        return await original(self, action)

    async def middle(*_: Any, **__: Any) -> Any:
        return {"action_requests": asked}

    monkeypatch.setattr(Branch, "authorize", spy)
    await branch.operate(
        instruction="a", actions=True, action_strategy="sequential", middle=middle if own_middle else None
    )
    assert [(each.function, each.arguments, each.branch_id) for each in seen] == [
        ("safe", {"n": 1}, str(branch.id)),
        ("echo", {"words": "w"}, str(branch.id)),
    ]


async def allow_async(_: ToolInvocation) -> bool:
    return True


async def raises(_: ToolInvocation) -> bool:
    raise RuntimeError("gate broke")


async def hangs(_: ToolInvocation) -> bool:
    await asyncio.sleep(600)
    return True


hangs.deadline = 0.02  # pyright: ignore[reportFunctionMemberAccess]


@pytest.mark.record("DEC-11-1")
@pytest.mark.parametrize("gate", [lambda _: True, allow_async], ids=["sync", "async"])
async def test_a_gate_allows_by_returning_true(bench: Bench, gate: Any) -> None:
    bench.branch.gate = gate
    assert output((await act(bench.branch, request("safe", n=1), ActionParam()))[0]) == 2


@ON_OFF
@pytest.mark.record("DEC-11-1", "DEC-11-2", "0022-D4-15", "0022-D4-16", "DEC-07-1")
@pytest.mark.parametrize(
    "no",
    [lambda _: None, lambda _: False, lambda _: 1, lambda _: "yes", lambda _: [True], raises, hangs],
    ids=["none", "false", "one", "text", "list", "raises", "hangs"],
)
async def test_A2_a_gate_that_does_not_say_true_denies_that_request_alone(
    bench: Bench, no: Any, suppress: bool
) -> None:
    async def gate(invocation: ToolInvocation) -> Any:
        if invocation.function != "echo":
            return True
        answer = no(invocation)
        return await answer if asyncio.iscoroutine(answer) else answer

    gate.deadline = 0.02  # pyright: ignore[reportFunctionMemberAccess]
    bench.branch.gate = gate
    asked = [request("safe", n=1), request("echo", words="x"), request("safe", n=2)]
    found = await act(bench.branch, asked, ActionParam(suppress_errors=suppress))
    assert [found[0].output, found[2].output] == [2, 3]
    assert set(output(found[1])) == {"error", "message"}
    assert output(found[1])["error"] == "denied"
    assert sorted(bench.entered) == ["+1", "+2"]
    asked_message, answer = bench.pairs[1]
    assert (asked_message.function, answer.output["error"]) == ("echo", "denied")
    assert [record["status"] for record in bench.audit] == ["ok", "denied", "ok"]
    assert bench.audit[1]["decided_by"] == "gate"


@pytest.mark.record("DEC-11-4")
@pytest.mark.parametrize(("one", "other"), list(itertools.product([True, False], repeat=2)))
async def test_A2_both_gates_have_to_allow(bench: Bench, one: bool, other: bool) -> None:
    session = Session(default_branch=bench.branch)
    session.gate(lambda _: one)
    bench.branch.gate = lambda _: other
    await act(bench.branch, request("safe", n=1), ActionParam())
    assert bool(bench.events) == (one and other)


@pytest.mark.record("DEC-11-5")
async def test_a_synchronous_gate_runs_in_another_thread(bench: Bench) -> None:
    threads: list[int] = []

    def gate(_: ToolInvocation) -> bool:
        threads.append(threading.get_ident())
        return True

    bench.branch.gate = gate
    await act(bench.branch, request("safe"), ActionParam())
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


@pytest.mark.record("DEC-11-6")
@pytest.mark.parametrize(
    ("stop", "wanted"),
    [
        ("selection", []),
        ("arguments", []),
        ("gate", ["gate"]),
        ("hook", ["gate", "pre"]),
        (None, ["gate", "pre", "+1", "-1", "post"]),
    ],
)
async def test_each_request_passes_the_stations_in_order(bench: Bench, stop: str | None, wanted: list[str]) -> None:
    events, branch = bench.events, bench.branch

    async def gate(_: ToolInvocation) -> bool:
        events.append("gate")
        return stop != "gate"

    def pre(**_: Any) -> Any:
        events.append("pre")
        return Denial("no") if stop == "hook" else None

    branch.gate = gate
    branch.hooks = HookBus()
    branch.hooks.on(HookPoint.TOOL_PRE, pre)
    branch.hooks.on(HookPoint.TOOL_POST, lambda **_: events.append("post"))
    tools = ["echo"] if stop == "selection" else None
    await act(branch, request("safe", n="many" if stop == "arguments" else 1), ActionParam(tools=tools))
    assert events == wanted


@pytest.mark.record("DEC-11-7")
async def test_A4_what_the_gate_was_shown_is_what_runs(bench: Bench) -> None:
    got: list[Any] = []
    shown: list[Any] = []

    def send(to: str, parts: list[str]) -> None:
        """Send parts."""
        got.append((to, list(parts)))

    async def gate(invocation: ToolInvocation) -> bool:
        shown.append((invocation.arguments["to"], list(invocation.arguments["parts"])))
        invocation.arguments["to"] = "mallory"
        invocation.arguments["parts"].append("evil")
        return True

    asked = request("send", to="ana", parts=["a"])
    bench.branch.register_tools(send)
    bench.branch.gate = gate
    await act(bench.branch, asked, ActionParam())
    assert got == shown == [("ana", ["a"])]
    assert bench.audit[0]["arguments"] == {"to": "ana", "parts": ["a"]}


# -- hooks


@pytest.mark.record("0022-D4-17", "0022-D4-19")
@pytest.mark.parametrize("name", ["echo", "boom"])
async def test_hooks_hear_of_a_call_before_and_after(bench: Bench, name: str) -> None:
    heard: list[tuple[str, dict[str, Any]]] = []
    bus = bench.branch.hooks = HookBus()

    def listen(point: HookPoint) -> None:
        bus.on(point, lambda **facts: heard.append((point.name, {**facts, "entered": len(bench.entered)})))

    for point in (HookPoint.TOOL_PRE, HookPoint.TOOL_POST, HookPoint.TOOL_ERROR):
        listen(point)
    words = "w" * 5000
    asked = request("echo", words=words) if name == "echo" else request("boom")
    (found,) = await act(bench.branch, asked, ActionParam())
    assert [(point, facts["entered"]) for point, facts in heard] == [
        ("TOOL_PRE", 0),
        ("TOOL_POST" if name == "echo" else "TOOL_ERROR", 1),
    ]
    if name == "echo":
        assert found.output == words
        assert bench.entered == ["+5000"]
        assert len(heard[0][1]["args_summary"]) == len(heard[1][1]["result_summary"]) == 200


@pytest.mark.record("0022-D4-20")
async def test_verbose_action_shows_fifty_characters_of_the_arguments(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "lionagi"):
        await act(bench.branch, request("echo", words="w" * 400), ActionParam(verbose_action=True))
    shown = str({"words": "w" * 400})
    assert shown[:50] in caplog.text
    assert shown[:51] not in caplog.text
    assert bench.entered == ["+400"]


# -- records, deadlines and caps


@pytest.mark.record("0022-D4-18", "DEC-30-2")
async def test_a_call_leaves_a_log_an_event_and_a_pair(bench: Bench) -> None:
    session = Session(default_branch=bench.branch)
    seen: list[Any] = []
    session.observe(handler=seen.append)
    bench.branch.gate = allow_async
    await act(bench.branch, request("safe", n="1"), ActionParam())
    (record,) = bench.audit
    assert (record["function"], record["arguments"], record["status"]) == ("safe", {"n": 1}, "ok")
    assert record["decided_by"] == "allow_async"
    assert [event.content for event in seen] == [record]
    assert [(asked.function, answer.output) for asked, answer in bench.pairs] == [("safe", 2)]


@pytest.mark.record("DEC-28-1", "DEC-30-1")
@pytest.mark.parametrize("own", [True, False], ids=["Tool", "operate"])
async def test_a_deadline_ends_one_call_and_no_other(road: Road, bench: Bench, own: bool) -> None:
    async def slow() -> None:
        """Take long."""
        await asyncio.sleep(600)

    tools = [*bench.branch.tools.values(), Tool(func_callable=slow, timeout=0.03 if own else None)]
    branch = road.branch(requests(request("slow"), request("safe", n=1), words="w"), tools=tools)

    class Words(BaseModel):
        words: str

    more: dict[str, Any] = {} if own else {"tool_timeout": 0.03}
    result = await branch.operate(instruction="a", response_format=Words, actions=True, **more)
    assert result.words == "w"
    assert output(result.action_responses[0])["error"] == "timeout"
    assert output(result.action_responses[1]) == 2
    assert [log.content["status"] for log in branch.logs if log.content["kind"] == "tool_call"] == ["timeout", "ok"]


@pytest.mark.record("DEC-29-1", "DEC-30-1")
@pytest.mark.parametrize(("cap", "asked"), [(None, 65), (2, 4)])
async def test_requests_past_the_cap_are_recorded_refusals(
    road: Road, bench: Bench, cap: int | None, asked: int
) -> None:
    answer = requests(*(request("safe", n=n) for n in range(asked)))
    branch = road.branch(answer, tools=list(bench.branch.tools.values()))
    more: dict[str, Any] = {} if cap is None else {"max_tool_calls": cap}
    result = await branch.operate(instruction="a", actions=True, **more)
    allowed = cap or 64
    assert len(bench.entered) == allowed
    statuses = [log.content["status"] for log in branch.logs if log.content["kind"] == "tool_call"]
    assert statuses == ["ok"] * allowed + ["refused"] * (asked - allowed)
    assert all(output(each)["error"] == "refused" for each in result.action_responses[allowed:])


@pytest.mark.record("DEC-29-1")
async def test_the_cap_binds_a_direct_call_as_well(bench: Bench) -> None:
    found = await act(bench.branch, [request("safe", n=n) for n in range(4)], ActionParam(max_tool_calls=2))
    assert [each.output for each in found[:2]] == [1, 2]
    assert [output(each)["error"] for each in found[2:]] == ["refused", "refused"]


@pytest.mark.record("DEC-29-2")
@pytest.mark.parametrize("cap", [None, 3])
async def test_no_more_calls_are_in_flight_than_allowed(cap: int | None) -> None:
    now = most = 0

    async def work() -> None:
        """Work."""
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(4):
            await asyncio.sleep(0)
        now -= 1

    branch = TestBranch.from_text("never", tools=[work])
    more: dict[str, Any] = {} if cap is None else {"max_concurrent_tools": cap}
    await act(branch, [request("work")] * 40, ActionParam(**more))
    assert most == (cap or 16)


@pytest.mark.record("DEC-29-3")
async def test_long_output_is_clipped_in_the_history_and_whole_in_the_result(road: Road) -> None:
    def long() -> str:
        """Say a lot."""
        return "z" * 200_000

    branch = road.branch(requests(request("long")), text("fine"), tools=[long])
    result = await branch.operate(instruction="a", actions=True)
    await branch.operate(instruction="b")
    assert len(output(result.action_responses[0])) == 200_000
    sent = "".join(str(message["content"]) for message in road.payloads[1]["messages"])
    assert 60_000 < sent.count("z") <= 64 * 1024


@pytest.mark.record("DEC-29-4")
@pytest.mark.parametrize("retries", [None, 2])
async def test_explicit_retries_are_audited_one_by_one(bench: Bench, retries: int | None) -> None:
    calls = None if retries is None else AlcallParams(retry_attempts=retries, retry_initial_delay=0)
    (found,) = await act(bench.branch, [request("boom", n=1)], ActionParam(action_call_params=calls))
    assert [record["attempt"] for record in bench.audit] == list(range(1, (retries or 0) + 2))
    assert len(bench.entered) == len(bench.audit)
    assert output(found)["error"] == "LookupError"
    assert len(bench.pairs) == 1


# -- what holds requests


@pytest.mark.record("0022-D4-05", "0022-D4-26", "DEC-01-3")
async def test_a_mapping_is_enriched_in_place_with_the_runtimes_responses_only(bench: Bench) -> None:
    value: dict[str, Any] = {"a": 1, "action_requests": [request("safe", n=1)], "action_responses": ["invented"]}

    async def middle(*_: Any, **__: Any) -> Any:
        return value

    result = await bench.branch.operate(instruction="a", actions=True, middle=middle)
    assert result is value
    assert result["a"] == 1
    assert [each.output for each in result["action_responses"]] == [2]


@pytest.mark.record("0022-D4-05", "DEC-38-1", "DEC-38-2")
async def test_a_foreign_model_is_copied_for_enrichment(bench: Bench) -> None:
    class Foreign(BaseModel, extra="allow"):
        action_requests: list[dict[str, Any]]

    value = Foreign.model_validate({"action_requests": [request("safe", n=1)], "extra": 7})

    async def middle(*_: Any, **__: Any) -> Any:
        return value

    result = await bench.branch.operate(instruction="a", actions=True, middle=middle)
    assert result is not value
    assert not hasattr(value, "action_responses")
    assert result.extra == 7
    assert [each.output for each in result.action_responses] == [2]


@pytest.mark.record("0022-D4-06", "0022-D4-08")
@pytest.mark.parametrize("value", ["safe(n=1)", 3, None, {"a": 1}, {"action_requests": None}], ids=str)
async def test_values_without_requests_come_back_as_they_are(bench: Bench, value: Any) -> None:
    async def middle(*_: Any, **__: Any) -> Any:
        return value

    assert await bench.branch.operate(instruction="a", actions=True, middle=middle) is value
    assert bench.events == []


@pytest.mark.record("0022-D4-08", "0022-D4-23")
async def test_an_empty_list_adds_no_responses(bench: Bench) -> None:
    value: dict[str, Any] = {"action_requests": []}

    async def middle(*_: Any, **__: Any) -> Any:
        return value

    assert await bench.branch.operate(instruction="a", actions=True, middle=middle) is value
    assert value == {"action_requests": []}


@pytest.mark.record("0022-D4-07")
async def test_requests_without_an_action_param_run_nothing(bench: Bench) -> None:
    value = {"action_requests": [request("safe", n=1)]}

    async def middle(*_: Any, **__: Any) -> Any:
        return value

    assert await bench.branch.operate(instruction="a", middle=middle) is value
    assert bench.events == []
    assert value == {"action_requests": [request("safe", n=1)]}


@pytest.mark.record("DEC-01-2")
@pytest.mark.parametrize("asked", [[], [request("safe", n=1)]], ids=["none", "one"])
async def test_invented_responses_never_reach_the_result(road: Road, bench: Bench, asked: Any) -> None:
    invented = [{"function": "safe", "arguments": {}, "output": "forged"}]
    answer = structured(action_required=True, action_requests=asked, action_responses=invented)
    branch = road.branch(answer, tools=list(bench.branch.tools.values()))
    result = await branch.operate(instruction="a", actions=True)
    assert [each.output for each in result.action_responses or []] == [2] * len(asked)
    assert asked or result.action_responses is None


@pytest.mark.record("DEC-02-10")
async def test_a_native_tool_call_fills_the_generated_model(road: Road, bench: Bench) -> None:
    branch = road.branch(tool_call("safe", n=4), tools=list(bench.branch.tools.values()))
    result = await branch.operate(instruction="a", actions=True)
    assert [(each.function, each.arguments) for each in result.action_requests] == [("safe", {"n": 4})]
    assert [each.output for each in result.action_responses] == [5]


@pytest.mark.record("DEC-02-11")
async def test_a_tool_call_without_actions_runs_nothing_and_comes_back_as_a_mapping(road: Road, bench: Bench) -> None:
    branch = road.branch(tool_call("safe", n=4), tools=list(bench.branch.tools.values()))
    result = await branch.operate(instruction="a", tool_schemas=[branch.tools["safe"].tool_schema])
    assert result == {"action_requests": [request("safe", n=4)]}
    assert bench.events == []


@pytest.mark.record("0022-C-01")
async def test_both_roads_run_a_structured_call_alike(road: Road, bench: Bench) -> None:
    branch = road.branch(requests(request("safe", n=4)), tools=list(bench.branch.tools.values()))
    points: list[str] = []
    branch.hooks = HookBus()
    for point in (HookPoint.TOOL_PRE, HookPoint.TOOL_POST):
        branch.hooks.on(point, lambda call_id, point=point, **_: points.append(point.name))
    result = await branch.operate(instruction="a", actions=True)
    assert [each.output for each in result.action_responses] == [5]
    assert points == ["TOOL_PRE", "TOOL_POST"]
    assert [type(message).__name__ for message in branch.messages] == [
        "Instruction",
        "AssistantResponse",
        "ActionRequest",
        "ActionResponse",
    ]
