"""The block of record() and replay(): its modes, its matching, its three ways of use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel
from support.openai_server import Faults, OpenAIServer, text
from support.source import ROOT

from lionagi._errors import ExecutionError, ScriptExhaustedError, StaleRecordingError
from lionagi.ln.clock import NoWaitClock
from lionagi.service.connections.agentic import AgenticEndpoint
from lionagi.service.connections.endpoint_config import EndpointConfig
from lionagi.service.imodel import iModel
from lionagi.service.types import StreamChunk
from lionagi.session.branch import Branch
from lionagi.testing import ScriptModel, TestBranch, record, replay

Mode = Literal["auto", "record", "replay", "live"]


@pytest.fixture
def live(openai_server: OpenAIServer, server_model: Any) -> iModel:
    """A model on the local server, which answers "Hello there." to everything."""
    return server_model(clock=NoWaitClock())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.yaml"


def contents(path: Path) -> list[str]:
    return [entry.model_dump()["content"] for entry in ScriptModel.from_yaml(path).responses]


async def test_a_replay_answers_models_that_were_there_before(
    openai_server: OpenAIServer, live: iModel, path: Path
) -> None:
    branch = Branch(chat_model=live)
    with record(path):
        answer = await branch.chat("hi")
    asked = len(openai_server.requests)
    with replay(path):
        assert branch.chat_model.endpoint.in_process
        assert branch.chat_model.endpoint is branch.chat_model.endpoint
        assert await branch.chat("hi") == answer
    assert len(openai_server.requests) == asked
    assert await branch.chat("hi") == answer
    assert len(openai_server.requests) == asked + 1


async def test_a_replay_answers_models_that_are_made_within(live: iModel, path: Path) -> None:
    with record(path):
        await Branch(chat_model=live).chat("hi")
    with replay(path):
        made = iModel("openai/any-model")
        branch = Branch(chat_model=made)
        assert (made.provider, made.model_name, made.is_cli) == ("openai", "test-model", False)
        assert await branch.chat("hi") == "Hello there."
        assert made.capabilities == live.capabilities


async def test_a_replay_answers_a_branch_that_names_no_model(live: iModel, path: Path) -> None:
    with record(path):
        await Branch(chat_model=live).chat("hi")
    with replay(path):
        assert await Branch().chat("hi") == "Hello there."


async def test_each_replay_starts_at_the_first_answer(openai_server: OpenAIServer, live: iModel, path: Path) -> None:
    openai_server.script(text("one"), text("two"))
    branch = Branch(chat_model=live)
    with record(path):
        answers = [await branch.chat("hi"), await branch.chat("hi")]
    for _ in range(2):
        with replay(path):
            assert [await branch.chat("hi"), await branch.chat("hi")] == answers == ["one", "two"]


async def test_a_scripted_model_keeps_its_script_beside_a_recorded_one(live: iModel, path: Path) -> None:
    with record(path):
        await Branch(chat_model=live).chat("hi")
    critic = TestBranch.from_text("fine")
    with replay(path):
        assert await critic.chat("hi") == "fine"
        assert TestBranch.calls(critic)[0].last_user_message is not None


async def test_a_recorded_scripted_model_is_replayed(path: Path) -> None:
    with record(path):
        await TestBranch.from_text("recorded").chat("hi")
    with replay(path):
        assert await TestBranch.from_text("of its own").chat("hi") == "recorded"


async def test_a_script_written_by_hand_answers_any_model_in_its_order(live: iModel, path: Path) -> None:
    path.write_text("responses:\n- {type: text, content: one}\n- {type: text, content: two}\n")
    with replay(path) as block:
        assert await Branch(chat_model=live).chat("hi") == "one"
        assert [entry.model_dump()["content"] for entry in block.unused_entries()] == ["two"]
        assert await Branch(chat_model="openai/other").chat("hi") == "two"
        with pytest.raises(ScriptExhaustedError):
            await Branch(chat_model=live).chat("hi")


async def test_unused_answers_are_listed(live: iModel, path: Path) -> None:
    branch = Branch(chat_model=live)
    with record(path) as block:
        await branch.chat("a")
        await branch.chat("b")
        assert block.unused_entries() == []
    with replay(path) as block:
        await branch.chat("b")
        (left,) = block.unused_entries()
    assert left.recording is not None
    assert left.recording.prompt.endswith("a")


async def test_the_block_counts_for_its_own_tasks_and_threads_only(live: iModel, path: Path) -> None:
    with record(path):
        await Branch(chat_model=live).chat("hi")
    outside = asyncio.Event()
    inside = asyncio.Event()

    async def beside() -> bool:
        await inside.wait()
        found = live.endpoint.in_process
        outside.set()
        return found

    task = asyncio.create_task(beside())
    await asyncio.sleep(0)
    with replay(path):
        assert await asyncio.to_thread(lambda: live.endpoint.in_process)
        inside.set()
        await outside.wait()
    assert await task is False


# --- modes


@pytest.mark.parametrize("how", ["argument", "environment"])
@pytest.mark.parametrize(
    ("mode", "exists", "asks", "writes"),
    [
        ("record", False, True, True),
        ("record", True, True, True),
        ("replay", True, False, False),
        ("auto", False, True, True),
        ("auto", True, False, False),
        ("live", False, True, False),
        ("live", True, True, False),
    ],
)
async def test_a_mode_asks_and_writes_as_it_says(
    openai_server: OpenAIServer,
    live: iModel,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: Mode,
    exists: bool,
    asks: bool,
    writes: bool,
    how: str,
) -> None:
    if exists:
        with record(path):
            await Branch(chat_model=live).chat("hi")
    before, requests = path.read_bytes() if exists else None, len(openai_server.requests)
    openai_server.script(text("anew"))
    if how == "environment":
        monkeypatch.setenv("LIONAGI_RECORD_MODE", mode)
    with record(path, mode if how == "argument" else None) as block:
        answer = await Branch(chat_model=live).chat("hi")
    assert answer == ("anew" if asks else "Hello there.")
    assert (len(openai_server.requests) > requests) == asks
    assert ((path.read_bytes() if path.exists() else None) != before) == writes
    assert block.mode == ("record" if writes else "replay" if not asks else "live")


async def test_an_argument_beats_the_environment(live: iModel, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_RECORD_MODE", "live")
    with record(path, "record"):
        await Branch(chat_model=live).chat("hi")
    assert contents(path) == ["Hello there."]
    monkeypatch.setenv("LIONAGI_RECORD_MODE", "record")
    before = path.read_bytes()
    with replay(path):
        await Branch(chat_model=live).chat("hi")
    assert path.read_bytes() == before


def test_an_unknown_mode_or_match_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="mode is 'always'; it must be one of auto, record, replay, live"):
        record(path, "always")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="match 'chance' is none of prompt, position"):
        replay(path, match="chance")  # pyright: ignore[reportArgumentType]
    monkeypatch.setenv("LIONAGI_RECORD_MODE", "once")
    with pytest.raises(ValueError, match="LIONAGI_RECORD_MODE is 'once'"), record(path):
        pass


def test_a_missing_recording_says_how_to_make_it(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no recording .*mode 'auto' or 'record'"), replay(path):
        pass


async def test_auto_keeps_nothing_of_a_block_that_failed(live: iModel, path: Path) -> None:
    @record(path, "auto")
    async def fail() -> None:
        await Branch(chat_model=live).chat("hi")
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        await fail()
    assert not path.exists()


# --- use


async def test_a_decorated_function_starts_anew_at_each_call(
    openai_server: OpenAIServer, live: iModel, path: Path
) -> None:
    @record(path, "auto")
    async def talk(prompt: str) -> str:
        """Docstring."""
        return await Branch(chat_model=live).chat(prompt)

    assert [await talk("hi") for _ in range(3)] == ["Hello there."] * 3
    assert len(openai_server.requests) == 1
    assert (talk.__name__, talk.__doc__) == ("talk", "Docstring.")


def test_a_plain_function_is_decorated_too(path: Path) -> None:
    path.write_text("responses:\n- {type: text, content: one}\n")

    @replay(path)
    def talk() -> str:
        return asyncio.run(Branch(chat_model="openai/m").chat("hi"))

    assert [talk(), talk()] == ["one", "one"]


def test_a_generator_function_is_not_decorated(path: Path) -> None:
    def numbers() -> Iterator[int]:
        yield 1

    async def letters() -> AsyncIterator[str]:
        yield "a"

    for function in (numbers, letters):
        with pytest.raises(TypeError, match="is a generator function"):
            record(path)(function)


# --- matching


async def test_by_prompt_a_changed_prompt_is_stale_with_its_difference(live: iModel, path: Path) -> None:
    branch = Branch(chat_model=live)
    with record(path):
        await branch.chat("What is the capital of France?")
    with replay(path):
        with pytest.raises(StaleRecordingError) as caught:
            await branch.chat("What is the capital of Spain?")
    changed = "-Instruction: What is the capital of France?\n+Instruction: What is the capital of Spain?"
    assert changed in str(caught.value)
    assert "Record again" in str(caught.value)


async def test_by_position_answers_come_in_their_order_whatever_is_asked(
    openai_server: OpenAIServer, live: iModel, path: Path
) -> None:
    openai_server.script(text("one"), text("two"))
    branch = Branch(chat_model=live)
    with record(path):
        await branch.chat("monday")
        await branch.chat("tuesday")
    with replay(path, match="position"):
        assert [await branch.chat("friday"), await branch.chat("monday")] == ["one", "two"]
        with pytest.raises(ScriptExhaustedError, match="is used up"):
            await branch.chat("monday")
    with replay(path):
        assert [await branch.chat("tuesday"), await branch.chat("monday")] == ["two", "one"]


# --- secrets and files


async def test_secrets_of_the_model_the_environment_and_the_caller_are_masked(
    openai_server: OpenAIServer, live: iModel, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "tok-canary-0123456789")
    monkeypatch.setenv("SOME_TOKEN", "in short")
    secrets = ["sk-test-canary-key", "tok-canary-0123456789", "canary street 7"]
    openai_server.script(text(f"as you say: {secrets}"))
    with record(path, mask=["canary street 7"]):
        await Branch(chat_model=live).chat(f"I tell you {secrets}, in short.")
    written = path.read_text()
    assert "canary" not in written
    assert written.count("***") == 6
    assert "in short." in written


async def test_a_write_that_fails_leaves_the_old_recording(
    live: iModel, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with record(path):
        await Branch(chat_model=live).chat("hi")
    before = path.read_bytes()

    def refuse(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="no space left"), record(path):
        await Branch(chat_model=live).chat("something else")
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


# --- structured, streamed, failed, and an agent of another kind


class City(BaseModel):
    name: str


async def test_operate_with_a_tool_is_replayed_with_equal_messages(road: Any, path: Path) -> None:
    def look_up(city: str) -> str:
        """Say what is known of a city."""
        return f"{city} is large"

    asks = {"name": "?", "action_requests": [{"function": "look_up", "arguments": {"city": "Paris"}}]}
    entries = [
        {"type": "structured", "data": asks},
        {"type": "structured", "data": {"name": "Paris"}},
        {"type": "text", "content": "bye"},
    ]

    async def talk(branch: Branch) -> list[tuple[str, Any]]:
        await branch.operate(instruction="Which city?", response_format=City, actions=True)
        await branch.operate(instruction="So which?", response_format=City)
        _ = [message async for message in branch.run("bye")]
        volatile = {"action_response_id", "action_request_id"}
        return [
            (message.role, {k: v for k, v in message.content.to_dict().items() if k not in volatile})
            for message in branch.messages
        ]

    with record(path):
        before = await talk(road.branch(*entries, tools=[look_up], system="be brief"))
    with replay(path) as block:
        after = await talk(Branch(chat_model="openai/m", tools=[look_up], system="be brief"))
        assert block.unused_entries() == []
    assert after == before
    assert [role for role, _ in after].count("action") == 2


async def test_a_failure_is_replayed_as_a_failure(openai_server: OpenAIServer, live: iModel, path: Path) -> None:
    openai_server.script(Faults.status(404))
    with record(path), pytest.raises(ExecutionError) as before:
        await Branch(chat_model=live).chat("hi")
    with replay(path), pytest.raises(ExecutionError) as after:
        await Branch(chat_model=live).chat("hi")
    assert str(after.value) == str(before.value)
    assert type(after.value.__cause__) is type(before.value.__cause__)


class WordEndpoint(AgenticEndpoint):
    """An agent that thinks, uses a tool of its own and says two words."""

    async def stream(self, request: Any, extra_headers: Any = None, **kwargs: Any) -> Any:
        yield StreamChunk("thinking", content="hm")
        yield StreamChunk("tool_use", tool_name="ls", tool_id="1", tool_input={"path": "."})
        yield StreamChunk("tool_result", tool_id="1", tool_output="a b")
        yield StreamChunk("text", content="two ")
        yield StreamChunk("text", content="words")
        yield StreamChunk("result", metadata={"done": True, "raw": {"result": "two words"}})


async def test_an_agent_of_another_kind_is_recorded_and_replayed(path: Path) -> None:
    def agent() -> Branch:
        config = EndpointConfig(provider="agent", endpoint="cli", auth_type="none", base_url="internal")
        return Branch(chat_model=iModel(endpoint=WordEndpoint(config), clock=NoWaitClock()))

    async def talk(branch: Branch) -> list[tuple[str, str]]:
        _ = [message async for message in branch.run("go")]
        return [(message.role, message.rendered) for message in branch.messages]

    with record(path):
        before = await talk(agent())
    with replay(path):
        again = Branch(chat_model="openai/m")
        assert (again.chat_model.is_cli, again.chat_model.provider) == (True, "agent")
        assert await talk(again) == before
    assert "two words" in str(before)


@pytest.mark.record("DEC-B-6")
async def test_a_stored_conversation_with_the_real_model_answers_the_same_in_two_runs(blocked_sockets: None) -> None:
    stored = ROOT / "notebooks" / "recordings" / "01_first_answer.yaml"
    script = ScriptModel.from_yaml(stored)
    assert script.recording is not None
    assert script.recording.provider == "local"
    runs: list[list[str]] = []
    for _ in range(2):
        with replay(stored, match="position") as block:
            branch = Branch(chat_model="local")
            runs.append([await branch.chat("Anything at all?") for _ in script.responses])
            assert block.unused_entries() == []
    assert runs[0] == runs[1]
    assert [answer for answer in runs[0] if answer] == [
        entry.model_dump()["content"] for entry in script.responses if entry.type == "text"
    ]
