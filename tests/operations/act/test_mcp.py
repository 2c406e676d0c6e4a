"""MCP tools are called like all others: selected, checked, authorized, timed, recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from support.mcp_lab import described
from support.roads import Bench, Road, request, requests

from lionagi.protocols.mcp import McpTool, close_mcp_servers, load_mcp_tools
from lionagi.session.branch import Branch


@pytest.fixture(scope="module")
def mcp_tools() -> Iterator[list[McpTool]]:
    """The tools of a real server, started once."""
    tools = asyncio.run(load_mcp_tools({"lab": described()}))
    yield tools
    asyncio.run(close_mcp_servers(tools))


async def calls_so_far(tools: list[McpTool]) -> int:
    """Return how many calls reached the server before this one."""
    (counter,) = (tool for tool in tools if tool.function == "count")
    return int(await counter.call({})) - 1


def turn(branch: Branch, **more: Any) -> Any:
    return branch.operate(instruction="go", actions=True, **more)


async def test_a_model_reaches_the_server_and_the_call_is_recorded(road: Road, mcp_tools: list[McpTool]) -> None:
    branch = road.branch(requests(request("add", a=1, b=2)), tools=mcp_tools)
    result = await turn(branch)
    assert result.action_responses[0].output == {"sum": 3}
    (audit,) = Bench(branch, []).audit
    assert (audit["function"], audit["arguments"], audit["status"]) == ("add", {"a": 1, "b": 2}, "ok")
    (pair,) = Bench(branch, []).pairs
    assert pair[1].output == {"sum": 3}
    assert "Choose a colour." in road.sent


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"asked": request("add", a="x", b=2)}, "error"),
        ({"asked": request("echo", words="a"), "gate": lambda _: False}, "denied"),
        ({"asked": request("echo", words="a"), "tools": ["add"]}, "denied"),
        ({"asked": request("echo", words="a"), "max_tool_calls": 0}, "refused"),
    ],
    ids=["arguments", "gate", "selection", "cap"],
)
async def test_what_is_refused_on_the_way_never_reaches_the_server(
    road: Road, mcp_tools: list[McpTool], given: dict[str, Any], status: str
) -> None:
    branch = road.branch(requests(given["asked"]), tools=mcp_tools)
    branch.gate = given.get("gate")
    before = await calls_so_far(mcp_tools)
    await turn(branch, **{key: given[key] for key in ("tools", "max_tool_calls") if key in given})
    assert [audit["status"] for audit in Bench(branch, []).audit] == [status]
    assert await calls_so_far(mcp_tools) == before + 1


async def test_a_gate_is_asked_about_the_arguments_as_they_are_sent(road: Road, mcp_tools: list[McpTool]) -> None:
    asked: list[Any] = []

    def gate(invocation: Any) -> bool:
        asked.append((invocation.function, invocation.arguments))
        return True

    branch = road.branch(requests(request("echo", words="a")), tools=mcp_tools)
    branch.gate = gate
    result = await turn(branch)
    assert asked == [("echo", {"words": "a"})]
    assert result.action_responses[0].output == "a"


async def test_a_deadline_ends_one_call_and_the_others_go_on(road: Road, mcp_tools: list[McpTool]) -> None:
    branch = road.branch(requests(request("hang"), request("echo", words="a")), tools=mcp_tools)
    branch.tools["echo"] = branch.tools["echo"].model_copy(update={"timeout": 50})
    result = await turn(branch, tool_timeout=0.05)
    hung, answered = (response.output for response in result.action_responses)
    assert (hung["error"], answered) == ("timeout", "a")


@pytest.mark.parametrize(
    ("name", "said"), [("fail", "the cupboard is bare"), ("refuse", "refused 'refuse'")], ids=["result", "protocol"]
)
async def test_a_failure_of_the_server_is_a_failed_call(
    road: Road, mcp_tools: list[McpTool], name: str, said: str
) -> None:
    branch = road.branch(requests(request(name), request("echo", words="a")), tools=mcp_tools)
    result = await turn(branch)
    failed, answered = (response.output for response in result.action_responses)
    assert failed["error"] == "ExecutionError"
    assert said in failed["message"]
    assert answered == "a"
