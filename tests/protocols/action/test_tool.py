from __future__ import annotations

import asyncio
import functools
import threading
import time
from typing import Any

import pydantic
import pytest
from pydantic import BaseModel

from lionagi._errors import ExecutionError, ValidationError
from lionagi.protocols.action import tool as tool_module
from lionagi.protocols.action.tool import Tool


class Point(BaseModel):
    x: int
    label: str = "l"


class Holder:
    def method(self, a: int) -> int:
        return a + 1

    def __call__(self, a: int) -> int:
        return a


def plain(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


async def coroutine(a: int) -> int:
    await asyncio.sleep(0)
    return a + 1


def returns_awaitable(a: int) -> Any:
    return coroutine(a)


def positional(a: int, /, b: int = 0, **more: int) -> Any:
    return a, b, more


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (plain, {"a": 1}, 2),
        (plain, {"a": "1", "b": 2.0}, 3),
        (coroutine, {"a": 1}, 2),
        (returns_awaitable, {"a": 1}, 2),
        (Holder().method, {"a": 1}, 2),
        (functools.partial(plain, b=10), {"a": 1}, 11),
        (functools.partial(coroutine, 4), {}, 5),
        (positional, {"a": 1, "b": 2, "c": 3}, (1, 2, {"c": 3})),
        (lambda: 7, {}, 7),
    ],
    ids=str,
)
async def test_every_kind_of_function_runs(function: Any, arguments: dict[str, Any], result: Any):
    tool = Tool(func_callable=function)
    assert await tool.call(tool.validate_arguments(arguments)) == result


def test_models_are_passed_as_instances():
    def tool(p: Point, ps: list[Point]): ...

    checked = Tool(func_callable=tool).validate_arguments({"p": {"x": 1}, "ps": [{"x": "2"}]})
    assert checked == {"p": Point(x=1), "ps": [Point(x=2)]}
    point = Point(x=1)
    assert Tool(func_callable=tool).validate_arguments({"p": point, "ps": []})["p"] is point


@pytest.mark.record("DEC-08-3")
@pytest.mark.parametrize("arguments", [None, [], "", "{}", 5])
def test_T7_what_is_no_mapping_is_never_taken_for_an_empty_one(arguments: Any):
    def tool(): ...

    with pytest.raises(ValidationError, match="must be a mapping"):
        Tool(func_callable=tool).validate_arguments(arguments)


@pytest.mark.record("DEC-08-3")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "'a' is missing"),
        ({"a": "many"}, r"'a': .*integer.*got 'many'"),
        ({"a": 1, "c": 2}, r"'c' \(=2\) is unknown"),
        ({"a": 1, "b": None}, r"'b': .*got None"),
    ],
)
def test_T7_the_error_names_the_field_and_the_value(arguments: dict[str, Any], message: str):
    with pytest.raises(ValidationError, match=message):
        Tool(func_callable=plain).validate_arguments(arguments)


def test_an_error_inside_a_model_names_the_path():
    def tool(p: Point): ...

    with pytest.raises(ValidationError, match=r"'p\.x': .*got 'y'"):
        Tool(func_callable=tool).validate_arguments({"p": {"x": "y"}})


def test_values_of_extra_names_are_checked():
    with pytest.raises(ValidationError, match="'c'"):
        Tool(func_callable=positional).validate_arguments({"a": 1, "c": "x"})


@pytest.mark.record("DEC-15-4")
def test_the_validator_is_built_at_the_first_call(monkeypatch: pytest.MonkeyPatch):
    built: list[Any] = []
    adapter_of = tool_module.adapter_of

    def counting(annotation: Any) -> Any:
        built.append(annotation)
        return adapter_of(annotation)

    monkeypatch.setattr(tool_module, "adapter_of", counting)

    def function(a: int): ...

    tool = Tool(func_callable=function)
    assert built == []
    tool.validate_arguments({"a": 1})
    Tool(func_callable=function).validate_arguments({"a": 2})
    assert built == [int]


@pytest.mark.record("DEC-41-3")
def test_function_and_server_cannot_both_be_set():
    with pytest.raises(ValueError, match="cannot both be set"):
        Tool(func_callable=plain, mcp_config={"server": {}})
    with pytest.raises(ValueError, match="exactly one entry"):
        Tool(mcp_config={})


@pytest.mark.record("DEC-41-3")
def test_a_callable_object_has_no_name():
    with pytest.raises(pydantic.ValidationError, match="Function must have a name"):
        Tool(func_callable=Holder())


def test_what_cannot_be_called_is_refused():
    with pytest.raises(pydantic.ValidationError, match="not callable"):
        Tool(func_callable=5)


def test_the_fields_of_the_schema():
    tool = Tool(func_callable=plain)
    assert (tool.function, tool.required_fields, tool.minimum_acceptable_fields) == ("plain", {"a"}, {"a"})
    assert tool.to_dict("json")["function"] == "plain"
    with pytest.raises(NotImplementedError):
        Tool.from_dict({})


def test_a_schema_of_the_callers_is_kept():
    schema = {"type": "function", "function": {"name": "other", "parameters": {"required": ["a", "b"]}}}
    tool = Tool(func_callable=plain, tool_schema=schema)
    assert (tool.function, tool.required_fields, tool.minimum_acceptable_fields) == ("other", {"a", "b"}, {"a"})


def test_a_strict_tool_takes_exactly_its_required_arguments():
    tool = Tool(func_callable=plain, strict_func_call=True)
    assert tool.validate_arguments({"a": 1}) == {"a": 1}
    with pytest.raises(ValidationError, match="exactly"):
        tool.validate_arguments({"a": 1, "b": 2})


def test_request_options_are_applied_first():
    def tool(x: int, label: str = "other"): ...

    checked = Tool(func_callable=tool, request_options=Point).validate_arguments({"x": "3"})
    assert checked == {"x": 3}
    with pytest.raises(ValidationError, match="'x'"):
        Tool(func_callable=tool, request_options=Point).validate_arguments({"x": "three"})


async def test_pre_and_postprocessor_are_part_of_the_call():
    def before(arguments: dict[str, Any], by: int) -> dict[str, Any]:
        return {**arguments, "a": arguments["a"] + by}

    async def after(result: int) -> str:
        return f"={result}"

    tool = Tool(func_callable=plain, preprocessor=before, preprocessor_kwargs={"by": 5}, postprocessor=after)
    assert await tool.call({"a": 1}) == "=7"


async def test_a_preprocessors_arguments_are_checked():
    tool = Tool(func_callable=plain, preprocessor=lambda arguments: None)
    with pytest.raises(ValidationError, match="must be a mapping"):
        await tool.call({"a": 1})


async def test_T3_a_function_that_raises_cancelled_error_has_failed():
    def sync() -> None:
        raise asyncio.CancelledError

    async def asynchronous() -> None:
        raise asyncio.CancelledError

    for function in (sync, asynchronous):
        with pytest.raises(ExecutionError, match="CancelledError"):
            await Tool(func_callable=function).call({})


async def test_T2_a_real_cancellation_passes():
    async def hanging() -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(Tool(func_callable=hanging).call({}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_T4_a_synchronous_function_does_not_hold_up_the_loop():
    release = threading.Event()
    task = asyncio.create_task(Tool(func_callable=lambda: release.wait(5)).call({}))
    worst = 0.0
    for _ in range(20):
        start = time.perf_counter()
        await asyncio.sleep(0.001)
        worst = max(worst, time.perf_counter() - start)
    release.set()
    assert await task
    assert worst < 0.05


def test_L2_redefining_a_function_leaves_nothing_behind():
    import gc

    before = len(tool_module._facts)  # pyright: ignore[reportPrivateUsage]
    for _ in range(50):

        def function(a: int): ...

        Tool(func_callable=function).validate_arguments({"a": 1})
        del function
    gc.collect()
    assert len(tool_module._facts) <= before + 1  # pyright: ignore[reportPrivateUsage]
