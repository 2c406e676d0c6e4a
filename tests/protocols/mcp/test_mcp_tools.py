"""Tools of a real MCP server over standard input and output."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.mcp_lab import Watched, children, described

from lionagi._errors import ConfigurationError, ExecutionError, MissingExtraError, NotFoundError, ValidationError
from lionagi.protocols.action.manager import ActionManager
from lionagi.protocols.generic.event import EventStatus
from lionagi.protocols.mcp import McpServer, McpTool, close_mcp_servers, load_mcp_tools

PNG = {"type": "image", "data": "AAAA", "mimeType": "image/png"}


@pytest.fixture(scope="module")
def manager() -> Iterator[ActionManager]:
    """A manager with the tools of a server that all tests of this module share."""
    manager = ActionManager()
    asyncio.run(manager.register_mcp_server({"lab": described(env={"TOKEN": "sesame"})}))
    yield manager
    asyncio.run(manager.close_mcp_servers())


async def call(manager: ActionManager, name: str, **arguments: Any) -> Any:
    event = await manager.invoke({"function": name, "arguments": arguments})
    if event.status != EventStatus.COMPLETED:
        raise event.execution.error  # pyright: ignore[reportGeneralTypeIssues]
    return event.response


def test_every_page_of_the_listing_is_registered_with_the_servers_own_schema(manager: ActionManager) -> None:
    assert {"add", "echo", "die"} <= set(manager.registry)
    function = (manager.registry["paint"].tool_schema or {})["function"]
    assert function["description"] == "Choose a colour."
    assert function["parameters"]["properties"] == {"colour": {"type": "string", "enum": ["red", "green"]}}
    assert manager.registry["add"].required_fields == {"a", "b"}


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("add", {"a": 1.5, "b": 2}, {"sum": 3.5}),
        ("none", {}, {"value": None}),
        ("echo", {"words": "a\nb"}, "a\nb"),
        ("several", {}, ["one", "two"]),
        ("nothing", {}, None),
        ("picture", {}, PNG),
    ],
)
async def test_results_are_plain_values(
    manager: ActionManager, name: str, arguments: dict[str, Any], expected: Any
) -> None:
    assert await call(manager, name, **arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("add", {"a": "x", "b": 1}, "'a': 'x' is not of type 'number'"),
        ("add", {"a": 1, "b": -1}, "'b': -1 is less than the minimum"),
        ("add", {"a": 1}, "'b' is a required property"),
        ("echo", {"words": "a", "loud": True}, "'loud' was unexpected"),
        ("paint", {"colour": "blue"}, "'colour': 'blue' is not one of"),
    ],
)
async def test_arguments_that_do_not_fit_the_servers_schema_never_reach_it(
    manager: ActionManager, name: str, arguments: dict[str, Any], problem: str
) -> None:
    before = int(await call(manager, "count"))
    with pytest.raises(ValidationError, match=f"function schema of '{name}': .*{problem}"):
        await call(manager, name, **arguments)
    assert int(await call(manager, "count")) == before + 1


def test_arguments_are_a_mapping(manager: ActionManager) -> None:
    with pytest.raises(ValidationError, match="must be a mapping"):
        manager.registry["echo"].validate_arguments("words")


async def test_a_failure_that_the_server_reports_is_the_calls_error(manager: ActionManager) -> None:
    with pytest.raises(ExecutionError, match="tool 'fail' failed: the cupboard is bare"):
        await call(manager, "fail")


async def test_a_protocol_error_is_the_calls_error_and_the_session_goes_on(manager: ActionManager) -> None:
    pid = await call(manager, "pid")
    with pytest.raises(ExecutionError, match="MCP server 'lab' refused 'refuse'"):
        await call(manager, "refuse")
    assert await call(manager, "pid") == pid


async def test_a_call_has_the_deadline_of_its_tool_and_the_session_goes_on(manager: ActionManager) -> None:
    pid = await call(manager, "pid")
    tool = manager.registry["hang"].model_copy(update={"timeout": 0.05})
    event = await ActionManager(tool).invoke({"function": "hang", "arguments": {}})
    assert "deadline of 0.05 s" in str(event.execution.error)
    assert await call(manager, "pid") == pid


async def test_cancelling_a_call_leaves_the_session_as_it_is(manager: ActionManager) -> None:
    pid = await call(manager, "pid")
    hanging = asyncio.create_task(call(manager, "hang"))
    await call(manager, "count")
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert await call(manager, "pid") == pid


def test_several_loops_share_one_process(manager: ActionManager) -> None:
    found: list[str] = []

    def elsewhere() -> None:
        found.append(asyncio.run(call(manager, "pid")))

    threads = [threading.Thread(target=elsewhere) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elsewhere()
    assert len(found) == 4
    assert len(set(found)) == 1


async def test_many_calls_at_once_get_each_its_own_answer(manager: ActionManager) -> None:
    answers = await asyncio.gather(*(call(manager, "echo", words=str(number)) for number in range(50)))
    assert answers == [str(number) for number in range(50)]


async def test_a_server_that_dies_fails_the_call_with_its_last_words_and_is_started_anew(
    manager: ActionManager,
) -> None:
    watched = Watched(int(await call(manager, "pid")))
    with pytest.raises(ExecutionError, match=r"(?s)MCP server 'lab' ended during 'die'.*the roof fell in"):
        await call(manager, "die")
    assert watched.ended()
    assert int(await call(manager, "pid")) != watched.pid


async def test_closing_ends_the_process_and_the_next_call_starts_another(manager: ActionManager) -> None:
    watched = Watched(int(await call(manager, "pid")))
    await manager.close_mcp_servers()
    assert watched.ended(0)
    assert watched.pid not in children()
    assert int(await call(manager, "pid")) != watched.pid


async def test_the_server_gets_its_environment_and_not_this_processs_secrets(
    manager: ActionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    await manager.close_mcp_servers()
    environment = await call(manager, "environment")
    assert "sesame" in environment
    assert "sk-secret" not in environment


def test_what_is_shown_of_a_tool_holds_no_value_of_the_environment(manager: ActionManager) -> None:
    data = manager.registry["echo"].to_dict()
    assert data["function"] == "echo"
    assert data["mcp_config"]["lab"]["env"] == {"TOKEN": "***"}
    assert "sesame" not in repr(data)
    assert "sesame" not in repr(manager.registry["echo"])


async def test_a_server_that_nothing_refers_to_is_ended() -> None:
    tools = await load_mcp_tools({"lab": described()}, tools=["pid"])
    watched = Watched(int(await tools[0].call({})))
    tools.clear()
    gc.collect()
    assert watched.ended()


def test_the_end_of_the_program_ends_the_server(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import asyncio\n"
        "from lionagi import load_mcp_tools\n"
        f"tools = asyncio.run(load_mcp_tools({{'lab': {described()!r}}}, tools=['pid']))\n"
        "print(asyncio.run(tools[0].call({})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)], capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not Path(f"/proc/{int(done.stdout)}").exists()


async def test_a_name_that_providers_refuse_is_made_fit_and_called_by_its_own() -> None:
    tools = await load_mcp_tools({"odd": described("odd")}, tools=["files/read.all"], prefix=True)
    try:
        assert tools[0].function == "odd_files_read_all"
        assert await tools[0].call({"path": "a"}) == "a"
    finally:
        await close_mcp_servers(tools)


async def test_a_schema_that_is_none_is_refused_by_name_and_nothing_is_left_running() -> None:
    before = children()
    with pytest.raises(ValidationError, match="tool 'bad' of MCP server 'odd' has no valid JSON schema"):
        await load_mcp_tools({"odd": described("odd")})
    assert children() <= before


def test_a_schema_that_refers_to_the_network_is_not_followed() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://example.invalid/schema"}}}
    tool = McpTool.of(McpServer("odd", {"command": "never", "args": []}), {"name": "far", "inputSchema": schema})
    with pytest.raises(ValidationError, match="refers to what it does not hold"):
        tool.validate_arguments({"a": 1})


@pytest.mark.parametrize(
    ("config", "options", "error", "text"),
    [
        (described("broken"), {}, ExecutionError, "(?s)'lab' .* did not start.*it wrote: .*no configuration found"),
        (described("mute"), {"start_timeout": 0.1}, TimeoutError, "did not answer within 0.1 s"),
        ({"command": "/no/such/program"}, {}, ExecutionError, "(?s)did not start.*No such file"),
        (described("endless"), {}, ValidationError, "lists its tools on more than 100 pages"),
    ],
    ids=["broken", "mute", "missing", "endless"],
)
async def test_a_server_that_does_not_start_says_why_and_leaves_no_process(
    config: dict[str, Any], options: dict[str, Any], error: type[Exception], text: str
) -> None:
    before = children()
    manager = ActionManager()
    with pytest.raises(error, match=text):
        await manager.register_mcp_server({"lab": config}, **options)
    assert manager.registry == {}
    assert children() <= before


async def test_a_listing_has_a_deadline_too() -> None:
    server = McpServer("lab", described("silent"))
    await server.call_tool("fail", {})  # it has started; the SDK lists the tools after a call that succeeds
    server.start_timeout = 0.05
    with pytest.raises(TimeoutError, match="MCP server 'lab' did not list its tools within"):
        await server.list_tools()
    await server.aclose()


async def test_a_name_that_is_taken_registers_nothing(manager: ActionManager) -> None:
    def echo(words: str) -> str:
        return words

    other = ActionManager(echo)
    before = children()
    with pytest.raises(ConfigurationError, match="Tool echo is already registered"):
        await other.register_mcp_server({"lab": described()}, tools=["pid", "echo"])
    assert list(other.registry) == ["echo"]
    assert children() <= before
    names = await other.load_mcp_config({"mcpServers": {"lab": described()}}, tools=["echo"], prefix=True)
    assert names == {"lab": ["lab_echo"]}
    assert await call(other, "lab_echo", words="b") == "b"
    await other.close_mcp_servers()


@pytest.mark.parametrize(
    ("chosen", "text"),
    [({"servers": ["other"]}, "MCP server 'other' is unknown"), ({"tools": ["other"]}, "MCP tool 'other' is unknown")],
    ids=["server", "tool"],
)
async def test_an_unknown_name_is_refused(chosen: dict[str, Any], text: str) -> None:
    before = children()
    with pytest.raises(NotFoundError, match=text):
        await load_mcp_tools({"lab": described()}, **chosen)
    assert children() <= before


@pytest.mark.parametrize("package", ["mcp", "jsonschema"])
async def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=f"extra 'mcp'; not installed: {package}"):
        await ActionManager().register_mcp_server({"lab": described()})


def test_a_server_given_to_register_tools_is_pointed_to_the_way() -> None:
    with pytest.raises(ConfigurationError, match="register_mcp_server"):
        ActionManager().register_tools({"lab": described()})
