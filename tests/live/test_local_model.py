"""The whole road on the real local model. What it says is never asserted, only that it has the asked-for shape."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

import pydantic
import pytest

from lionagi import Branch, iModel
from lionagi._errors import (
    ConfigurationError,
    ExecutionError,
    ProviderConnectionError,
    ProviderContextError,
    ProviderError,
    ProviderStreamError,
)
from lionagi.providers import local_child
from lionagi.providers.local_model import BUNDLED_MODEL, model_file
from lionagi.service.connections.subprocess import spawn
from lionagi.service.types import StreamChunk

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

CITY_SCHEMA = {
    "type": "object",
    "properties": {"city": {"enum": ["Paris", "Tokyo", "Rome"]}, "country": {"type": "string", "maxLength": 20}},
    "required": ["city", "country"],
    "additionalProperties": False,
}


class City(pydantic.BaseModel):
    """A city, bounded as the small model needs it."""

    name: Literal["Paris", "Tokyo", "Rome"]
    country: str = pydantic.Field(max_length=30)


def ask(text: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], **more}


def server_pid() -> int:
    """Return the process of the bundled model's server."""
    settings = local_child.LocalServerSettings(model_file(BUNDLED_MODEL))
    address = local_child.local_server(settings).address
    assert address is not None
    return address.pid


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def text_of(model: iModel, **request: Any) -> str:
    """Ask and return the answer's text; a failed call is raised."""
    call = await model.invoke(**request)
    if isinstance(call.execution.error, BaseException):
        raise call.execution.error
    return model.endpoint.decode(call.execution.response).text


async def city(model: iModel) -> dict[str, Any]:
    request = ask("What is the capital of France?", **model.endpoint.schema_payload("City", CITY_SCHEMA))
    return json.loads(await text_of(model, **request))


@pytest.fixture
async def model() -> AsyncIterator[iModel]:
    model = iModel(provider="local")
    yield model
    await model.close()


# -- the model


@pytest.mark.record("DEC-B-1")
async def test_a_structured_answer_comes_from_a_child_process_without_a_key(model: iModel) -> None:
    answer = await city(model)
    assert set(answer) == {"city", "country"}
    assert answer["city"] in CITY_SCHEMA["properties"]["city"]["enum"]
    assert server_pid() != os.getpid()
    assert Path(f"/proc/{server_pid()}/stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid())


@pytest.mark.record("DEC-B-1")
async def test_the_server_has_no_socket_beyond_loopback(model: iModel) -> None:
    await city(model)
    folder = Path(f"/proc/{server_pid()}/fd")
    own = {link for each in folder.iterdir() if (link := os.readlink(each)).startswith("socket:")}
    assert own
    found = 0
    for family, loopback in (("tcp", "0100007F"), ("tcp6", "0" * 24 + "01000000"), ("udp", None), ("udp6", None)):
        for line in Path(f"/proc/net/{family}").read_text().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in own:
                found += 1
                assert fields[1].split(":")[0] == loopback
    assert found


async def test_a_union_over_one_tool_is_answered_with_that_tool(model: iModel) -> None:
    tool = {
        "type": "object",
        "properties": {
            "function": {"const": "weather"},
            "arguments": {
                "type": "object",
                "properties": {"city": {"type": "string", "maxLength": 20}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
        "required": ["function", "arguments"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"action_requests": {"type": "array", "maxItems": 1, "items": {"anyOf": [tool]}}},
        "required": ["action_requests"],
        "additionalProperties": False,
    }
    request = ask("Call weather for the city Oslo.", **model.endpoint.schema_payload("Requests", schema))
    requests = json.loads(await text_of(model, **request))["action_requests"]
    assert len(requests) <= 1
    for each in requests:
        assert each["function"] == "weather"
        assert isinstance(each["arguments"]["city"], str)


async def test_a_stream_adds_up_to_its_answer(model: iModel) -> None:
    chunks = [chunk async for chunk in model.stream(**ask("Write a sentence about the sea.", max_tokens=12))]
    assert {chunk.type for chunk in chunks[:-1]} == {"text"}
    assert chunks[-1].type == "result"
    raw = chunks[-1].metadata["raw"]
    assert "".join(chunk.content or "" for chunk in chunks[:-1]) == raw["choices"][0]["message"]["content"]
    assert chunks[-1].metadata["usage"]["completion_tokens"] == 12


async def test_two_calls_at_once_share_one_server(model: iModel) -> None:
    local_child.stop_local_servers()
    answers = await asyncio.gather(city(model), city(iModel("local")))
    assert all(set(answer) == {"city", "country"} for answer in answers)
    assert [server.address.pid for server in local_child._servers.values() if server.address] == [server_pid()]


async def test_leaving_a_stream_frees_the_only_slot() -> None:
    async with iModel("local", n_parallel=1, n_ctx=8192) as model:
        await text_of(model, **ask("Hello.", max_tokens=1))
        endless = ask("Write about the sea.", max_tokens=8000, ignore_eos=True)
        for _ in range(3):
            async with aclosing(model.stream(**endless)) as chunks:
                async for _chunk in chunks:
                    break
        async with asyncio.timeout(40):  # the three answers would take minutes
            assert isinstance(await text_of(model, **ask("Hello.", max_tokens=1)), str)


async def test_cancelling_a_call_frees_the_only_slot() -> None:
    async with iModel("local", n_parallel=1, n_ctx=8192) as model:
        await text_of(model, **ask("Hello.", max_tokens=1))
        call = asyncio.create_task(text_of(model, **ask("Write about the sea.", max_tokens=8000, ignore_eos=True)))
        await asyncio.sleep(1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(40):
            assert isinstance(await text_of(model, **ask("Hello.", max_tokens=1)), str)


async def test_a_request_above_the_context_is_a_context_error(model: iModel) -> None:
    with pytest.raises(ProviderContextError):
        await text_of(model, **ask("word " * 3000))


async def test_a_server_killed_in_a_stream_is_an_error_and_the_next_call_works(model: iModel) -> None:
    await city(model)
    pid, seen = server_pid(), list[str]()

    async def read() -> None:
        async for chunk in model.stream(**ask("Write about the sea.", max_tokens=1500, ignore_eos=True)):
            if not seen:
                os.kill(pid, signal.SIGKILL)
            seen.append(chunk.content or "")

    with pytest.raises(ProviderStreamError, match="ended before its answer did") as caught:
        await read()
    assert caught.value.partial_text == "".join(seen) != ""
    assert set(await city(model)) == {"city", "country"}
    assert server_pid() != pid


async def test_a_server_killed_in_a_blocking_call_is_a_connection_error(model: iModel) -> None:
    await city(model)
    once = iModel("local", max_retries=1)
    call = asyncio.create_task(text_of(once, **ask("Write about the sea.", max_tokens=1500, ignore_eos=True)))
    await asyncio.sleep(1)
    os.kill(server_pid(), signal.SIGKILL)
    with pytest.raises(ProviderConnectionError, match="ended before its answer did"):
        await call
    assert set(await city(once)) == {"city", "country"}


# -- files and ports


async def test_a_copy_of_the_model_works_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.symlink_to(model_file(BUNDLED_MODEL))
    async with iModel(provider="local", model=str(path), max_tokens=512, temperature=0) as model:
        assert set(await city(model)) == {"city", "country"}
    local_child.stop_local_servers()


@pytest.mark.parametrize("size", [100_000, 50_000_000])
async def test_a_truncated_model_is_an_error_with_the_reason(tmp_path: Path, size: int) -> None:
    path = tmp_path / "cut.gguf"
    with model_file(BUNDLED_MODEL).open("rb") as whole:
        path.write_bytes(whole.read(size))
    with pytest.raises(ProviderError, match=r"could not load .*cut\.gguf.*check that the file is a complete GGUF") as e:
        await city(iModel(provider="local", model=str(path)))
    assert "\n" not in str(e.value)


async def test_a_model_file_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no model file"):
        await city(iModel(provider="local", model=str(tmp_path / "none.gguf")))


async def test_a_taken_port_is_an_error() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port} is taken"):
            await city(iModel(provider="local", port=port))


# -- the process

PARENT = """
import asyncio, os, signal, sys, threading, time
from lionagi import iModel
from lionagi.providers import local_child
def report():
    while not (servers := [s for s in local_child._servers.values() if s._child]): time.sleep(0.005)
    print(servers[0]._child.pid, flush=True)
    if sys.argv[1] == "loading": time.sleep(0.3); os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=report, daemon=True).start()
async def main():
    await iModel("local").invoke(messages=[{"role": "user", "content": "Hello."}], max_tokens=1)
    if sys.argv[1] == "fork" and os.fork() == 0: time.sleep(60); os._exit(0)
    if sys.argv[1] != "exit": os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


@pytest.mark.parametrize("ending", ["exit", "kill", "loading", "fork"])
def test_the_server_is_gone_within_six_seconds_of_its_parent(ending: str) -> None:
    parent = spawn([sys.executable, "-c", PARENT, ending])
    try:
        pid = int(parent.read_line(120) or 0)
        while parent.returncode is None:
            time.sleep(0.02)
        deadline = time.monotonic() + 6
        while not is_gone(pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert is_gone(pid), parent.stderr_tail
        assert ending != "exit" or (parent.returncode == 0 and not parent.stderr_tail)
    finally:
        parent.stop()


# -- the verbs


def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


async def test_operate_answers_with_the_callers_class() -> None:
    answer = await Branch(chat_model="local").operate(instruction="Name the capital of France.", response_format=City)
    assert isinstance(answer, City)


@pytest.mark.record("DEC-02-4")
async def test_the_schema_goes_natively_and_not_into_the_prompt() -> None:
    branch = Branch(chat_model="local")
    sent: list[dict[str, Any]] = []
    endpoint = branch.chat_model.endpoint
    create = endpoint.create_payload

    def noting(request: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        payload, headers = create(request, *args, **kwargs)
        sent.append(payload)
        return payload, headers

    endpoint.create_payload = noting
    await branch.operate(instruction="Name the capital of France.", response_format=City)
    assert sent[0]["response_format"]["json_schema"]["schema"]["properties"]["name"]["enum"] == [
        "Paris",
        "Tokyo",
        "Rome",
    ]
    prompt = json.dumps(sent[0]["messages"])
    assert "maxLength" not in prompt
    assert "Tokyo" not in prompt


async def test_operate_runs_the_one_tool() -> None:
    branch = Branch(chat_model="local", tools=[weather])
    answer = await branch.operate(instruction="Call weather for the city Oslo.", actions=True, max_tool_calls=1)
    assert len(answer.action_requests) <= 1
    assert [each.function for each in answer.action_requests] == [each.function for each in answer.action_responses]
    for request, response in zip(answer.action_requests, answer.action_responses, strict=True):
        assert response.output == f"sunny in {request.arguments['city']}"


async def test_system_text_reaches_the_first_user_message_of_every_turn() -> None:
    branch = Branch(chat_model="local", system="Answer about cities.")
    for _ in range(2):
        await branch.operate(instruction="Name the capital of France.", response_format=City)
    calls = [log.content for log in branch.logs if log.content["kind"] == "model_call"]
    for call in calls:
        first = call["messages"][0]
        assert first["role"] == "user"
        assert "Answer about cities." in first["content"]


async def test_run_streams_an_exchange_into_the_history() -> None:
    branch = Branch(chat_model="local")
    seen = [each async for each in branch.run(instruction="Write a sentence about the sea.", max_tokens=12)]
    assert [type(each).__name__ for each in seen] == ["Instruction", "AssistantResponse"]
    assert len(branch.messages) == 2


async def test_two_turns_at_once_on_one_branch() -> None:
    branch = Branch(chat_model="local")
    answers = await asyncio.gather(
        *(branch.operate(instruction=f"Name the capital of {country}.", response_format=City) for country in "FI")
    )
    assert all(isinstance(answer, City) for answer in answers)
    assert len(branch.messages) == 4


async def test_a_cancelled_turn_leaves_a_branch_that_works() -> None:
    branch = Branch(chat_model="local")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await branch.communicate(instruction="Write about the sea.", max_tokens=1500, ignore_eos=True)
    assert len(branch.messages) == 0
    assert isinstance(await branch.operate(instruction="Name the capital of Italy.", response_format=City), City)


async def test_a_server_killed_in_a_turn_leaves_a_branch_that_works() -> None:
    killed: list[int] = []

    def kill(chunk: StreamChunk) -> None:
        if not killed:
            killed.append(server_pid())
            os.kill(killed[0], signal.SIGKILL)

    branch = Branch(chat_model=iModel("local", streaming_process_func=kill))
    with pytest.raises(ExecutionError, match="API call failed") as caught:
        async for _ in branch.run(instruction="Write about the sea.", max_tokens=1500, ignore_eos=True):
            pass
    assert isinstance(caught.value.__cause__, ProviderStreamError)
    assert caught.value.__cause__.partial_text
    assert len(branch.messages) == 0
    assert isinstance(await branch.operate(instruction="Name the capital of Italy.", response_format=City), City)
