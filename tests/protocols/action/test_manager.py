from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from lionagi._errors import ConfigurationError
from lionagi.protocols.action.manager import ActionManager
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.generic.event import EventStatus
from lionagi.protocols.messages import ActionRequest


class Request(BaseModel):
    function: str
    arguments: dict[str, Any]


def add(a: int, b: int = 1) -> int:
    return a + b


def shout(text: str) -> str:
    return text.upper()


def test_tools_and_functions_are_registered_and_found():
    manager = ActionManager(add, Tool(func_callable=shout), None)
    assert list(manager.registry) == ["add", "shout"]
    assert add in manager
    assert "add" in manager
    assert manager.registry["add"] in manager
    assert 5 not in manager


@pytest.mark.record("DEC-41-3")
def test_a_name_is_registered_once():
    manager = ActionManager(add)
    with pytest.raises(ValueError, match="Tool add is already registered"):
        manager.register_tool(add)
    manager.register_tools([add, shout], update=True)
    assert len(manager.schema_list) == 2


@pytest.mark.record("DEC-41-3")
def test_other_things_are_no_tools():
    with pytest.raises(TypeError, match="Must provide a `Tool` object"):
        ActionManager().register_tool(5)
    with pytest.raises(ConfigurationError, match="MCP"):
        ActionManager().register_tool({"server": {}})


@pytest.mark.parametrize(
    "request_",
    [
        {"function": "add", "arguments": {"a": 1}},
        Request(function="add", arguments={"a": 1}),
        ActionRequest(content={"function": "add", "arguments": {"a": 1}}),
    ],
    ids=["mapping", "model", "message"],
)
async def test_every_form_of_request_runs(request_: Any):
    assert (await ActionManager(add).invoke(request_)).response == 2


@pytest.mark.record("DEC-41-3")
def test_requests_that_cannot_be_matched_raise():
    manager = ActionManager(add)
    with pytest.raises(TypeError, match="Unsupported type"):
        manager.match_tool(5)
    with pytest.raises(KeyError):
        manager.match_tool({"function": "add"})


@pytest.mark.record("DEC-41-3")
@pytest.mark.parametrize("name", ["nothing", " add", "add ", "ADD", "аdd", "", None])
def test_A1_only_the_exact_name_of_a_registered_tool_matches(name: Any):
    with pytest.raises(ValueError, match="is not registered"):
        ActionManager(add).match_tool({"function": name, "arguments": {"a": 1}})


async def test_what_a_tool_raises_stays_in_the_event():
    def failing() -> None:
        raise ValueError("no")

    call = await ActionManager(failing).invoke({"function": "failing", "arguments": {}})
    assert call.status is EventStatus.FAILED


def names(manager: ActionManager, tools: Any) -> list[str]:
    shown = manager.get_tool_schema(tools)["tools"]
    return [one["function"]["name"] for one in (shown if isinstance(shown, list) else [shown])]


@pytest.mark.record("DEC-36-1")
@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (None, ["add", "shout"]),
        (True, ["add", "shout"]),
        (False, []),
        ([], []),
        ("add", ["add"]),
        (["shout"], ["shout"]),
        (("shout", add), ["shout", "add"]),
    ],
)
def test_a_selection_names_all_none_or_some(tools: Any, expected: list[str]):
    manager = ActionManager(add, shout)
    assert names(manager, tools) == expected
    assert [tool.function for tool in manager.select(tools)] == expected


def test_a_function_is_registered_by_selecting_it_unless_that_is_forbidden():
    manager = ActionManager()
    with pytest.raises(ValueError, match="Tool add is not registered"):
        manager.get_tool_schema(add, auto_register=False)
    assert names(manager, [add]) == ["add"]
    assert add in manager
    with pytest.raises(ValueError, match="Tool nothing is not registered"):
        manager.get_tool_schema("nothing")


def test_another_function_of_a_known_name_does_not_take_its_place_unseen():
    def other(a: int) -> int:
        return a

    other.__name__ = "add"
    manager = ActionManager(add)
    with pytest.raises(ValueError, match="already registered"):
        manager.get_tool_schema(other)
    manager.get_tool_schema(other, update=True)
    assert manager.registry["add"].func_callable is other


def test_ready_schemas_pass_as_they_are():
    schema = {"type": "function", "function": {"name": "x"}}
    manager = ActionManager(add)
    assert manager.get_tool_schema(schema) == {"tools": schema}
    assert manager.get_tool_schema(["add", schema])["tools"][1] is schema


@pytest.mark.record("DEC-41-3")
def test_other_selections_are_refused():
    with pytest.raises(TypeError, match="Unsupported type"):
        ActionManager(add).get_tool_schema(5)
