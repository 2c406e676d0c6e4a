"""The pytest plugin as a project of its own meets it."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from lionagi.testing import ScriptModel, pytest_plugin

CONFTEST = 'pytest_plugins = ["lionagi.testing.pytest_plugin"]\n'
FIXTURES = (
    "async_helpers",
    "lionagi_script",
    "make_mocked_branch",
    "mock_factory",
    "mocked_branch",
    "mocked_branch_with_custom_response",
    "mocked_error_branch",
    "no_real_models",
    "performance_benchmark",
    "sample_api_responses",
    "sample_conversation_data",
    "sample_error_scenarios",
    "scripted_branch",
    "scripted_branch_factory",
    "scripted_endpoint_for",
    "test_data_helpers",
    "test_data_loader",
    "test_messages",
    "test_payload",
    "validation_helpers",
)
PINNED = """
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch
import asyncio, pytest
"""


@pytest.fixture
def project(pytester: pytest.Pytester, network_guard: None) -> pytest.Pytester:
    """An empty project that registers the plugin by name."""
    pytester.makeconftest(CONFTEST)
    return pytester


def pytest_in(project: pytest.Pytester, *args: str) -> pytest.RunResult:
    options = ("-p", "no:randomly", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")
    return project.runpytest_inprocess("-q", *options, *args)


def run(project: pytest.Pytester, source: str, *args: str) -> pytest.RunResult:
    project.makepyfile(test_it=PINNED + source)
    return pytest_in(project, *args)


# --- registration


@pytest.mark.record("0052-D4-02")
@pytest.mark.parametrize("registered", [False, True])
def test_the_fixtures_exist_once_the_plugin_is_registered_by_name(pytester: pytest.Pytester, registered: bool) -> None:
    pytester.makeconftest(CONFTEST if registered else "")
    shown = pytest_in(pytester, "--fixtures").stdout.str()
    assert [name for name in FIXTURES if (f"\n{name} " in shown) != registered] == []
    assert pytest_plugin.__all__ == ()


@pytest.mark.record("0052-D4-02")
def test_each_documented_fixture_can_be_asked_for_only_then(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="".join(f"def test_{name}({name}): pass\n" for name in FIXTURES))
    without = pytest_in(pytester)
    without.assert_outcomes(errors=len(FIXTURES))
    pytester.makeconftest(CONFTEST)
    pytest_in(pytester, "-W", "ignore").assert_outcomes(passed=len(FIXTURES))


@pytest.mark.record("0052-D4-02")
def test_no_entry_point_registers_the_plugin() -> None:
    registered = [each.value for each in entry_points(group="pytest11")]
    assert not [value for value in registered if value.startswith("lionagi")]


def test_a_star_import_of_the_plugin_brings_nothing() -> None:
    names: dict[str, Any] = {}
    exec("from lionagi.testing.pytest_plugin import *", names)
    assert set(names) == {"__builtins__"}


# --- the fixtures


def test_the_fixtures_are_what_they_are_named(project: pytest.Pytester) -> None:
    result = run(
        project,
        """
from lionagi import testing

def test_classes(mock_factory, async_helpers, validation_helpers, test_data_helpers, test_data_loader):
    assert mock_factory is testing.LionAGIMockFactory
    assert async_helpers is testing.AsyncTestHelpers
    assert validation_helpers is testing.ValidationHelpers
    assert test_data_helpers is testing.TestDataHelpers
    assert type(test_data_loader) is testing.TestDataLoader

def test_data(sample_conversation_data, sample_api_responses, sample_error_scenarios, test_messages, test_payload):
    assert sample_conversation_data == testing.get_conversation("basic_chat")
    assert sample_api_responses == testing.load_test_data("api_responses")
    assert sample_error_scenarios == testing.load_test_data("error_scenarios")
    assert len(test_messages) == 3
    assert test_payload["messages"] == test_messages

async def test_mocked(mocked_branch, make_mocked_branch, mocked_branch_with_custom_response):
    assert await mocked_branch.chat("hi") == "mocked_response_string"
    assert await make_mocked_branch(response="x").chat("hi") == "x"
    assert await mocked_branch_with_custom_response().chat("hi") == "custom test response"
    assert (await mocked_branch_with_custom_response("y", name="b").chat("hi")) == "y"

async def test_scripted(scripted_branch, scripted_branch_factory, scripted_endpoint_for):
    assert await scripted_branch.chat("hi") == "mocked doc response"
    made = scripted_branch_factory([{"type": "text", "content": "a"}], name="n")
    assert (await made.chat("hi"), made.name) == ("a", "n")
    assert len(scripted_endpoint_for(made).calls) == 1

def test_one(performance_benchmark):
    performance_benchmark.record("a", 0.5, memory_usage=3)

def test_two(performance_benchmark):
    performance_benchmark.record("b", 1.5)
    assert performance_benchmark.get_all() == [
        {"name": "a", "duration": 0.5, "memory_usage": 3},
        {"name": "b", "duration": 1.5, "memory_usage": None},
    ]
""",
    )
    result.assert_outcomes(passed=6)


@pytest.mark.record("DEC-39-4")
def test_a_call_on_the_mocked_error_branch_fails(project: pytest.Pytester) -> None:
    result = run(
        project,
        """
from lionagi._errors import ExecutionError

async def test_it(mocked_error_branch):
    for verb in (mocked_error_branch.chat, mocked_error_branch.communicate):
        with pytest.raises(ExecutionError, match="Mocked API Error"):
            await verb("hi")
""",
    )
    result.assert_outcomes(passed=1)


# --- the marker

MARKED = """
@pytest.fixture
def branch():
    return TestBranch.from_text("the model's answer")

@pytest.mark.lionagi_script({arguments})
async def test_talk(branch):
    assert await branch.chat("{prompt}") == "the model's answer"
    assert TestBranchCalls(branch) == {calls}

def TestBranchCalls(branch):
    endpoint = branch.mdls.registry["chat"]._endpoint
    return len(endpoint.calls)
"""


def marked(arguments: str = '"talk.yaml"', prompt: str = "hi", calls: int = 1) -> str:
    return MARKED.format(arguments=arguments, prompt=prompt, calls=calls)


def test_the_marker_records_once_and_replays_from_then_on(project: pytest.Pytester) -> None:
    run(project, marked(calls=1)).assert_outcomes(passed=1)
    assert len(ScriptModel.from_yaml(project.path / "talk.yaml").responses) == 1
    run(project, marked(calls=0)).assert_outcomes(passed=1)


def test_the_file_lies_beside_the_test_file(project: pytest.Pytester) -> None:
    project.mkdir("sub").joinpath("test_it.py").write_text(PINNED + marked('"data/talk.yaml"'))
    pytest_in(project, "sub").assert_outcomes(passed=1)
    assert (project.path / "sub" / "data" / "talk.yaml").exists()


def test_without_a_path_the_file_is_named_after_the_test(project: pytest.Pytester) -> None:
    source = """
@pytest.mark.parametrize("prompt", ["a", "b c"])
@pytest.mark.lionagi_script
async def test_talk(prompt):
    await TestBranch.from_text("x").chat(prompt)

async def test_by_fixture(lionagi_script):
    assert lionagi_script.mode in ("record", "replay")
    await TestBranch.from_text("x").chat("hi")
"""
    run(project, source).assert_outcomes(passed=3)
    folder = project.path / "scripts" / "test_it"
    assert sorted(each.name for each in folder.iterdir()) == [
        "test_by_fixture.yaml",
        "test_talk_a_.yaml",
        "test_talk_b_c_.yaml",
    ]


def test_a_changed_prompt_fails_with_its_difference(project: pytest.Pytester) -> None:
    run(project, marked()).assert_outcomes(passed=1)
    result = run(project, marked(prompt="hello"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*StaleRecordingError*", "*-Instruction: hi", "*+Instruction: hello"])


@pytest.mark.parametrize("how", ["marker", "option", "environment"])
def test_the_mode_is_given_by_marker_option_or_environment(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    run(project, marked()).assert_outcomes(passed=1)
    (project.path / "talk.yaml").write_text("responses: []\n")
    if how == "environment":
        monkeypatch.setenv("LIONAGI_RECORD_MODE", "record")
    options = ["--lionagi-record=record"] if how == "option" else []
    arguments = '"talk.yaml", mode="record"' if how == "marker" else '"talk.yaml"'
    run(project, marked(arguments), *options).assert_outcomes(passed=1)
    assert len(ScriptModel.from_yaml(project.path / "talk.yaml").responses) == 1


def test_a_failing_test_leaves_no_recording(project: pytest.Pytester) -> None:
    run(project, marked(calls=7)).assert_outcomes(failed=1)
    assert not (project.path / "talk.yaml").exists()


def test_two_tests_do_not_record_into_one_file(project: pytest.Pytester) -> None:
    source = """
pytestmark = pytest.mark.lionagi_script("talk.yaml")

async def test_one():
    await TestBranch.from_text("x").chat("1")

async def test_two():
    await TestBranch.from_text("x").chat("2")
"""
    result = run(project, source, "--lionagi-record=record")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*test_it.py::test_two and *test_it.py::test_one both record into *talk.yaml*"])


def test_a_plain_test_is_left_alone(project: pytest.Pytester) -> None:
    run(project, "def test_it(): pass").assert_outcomes(passed=1)
    assert not (project.path / "scripts").exists()


def test_sync_tests_record_too(project: pytest.Pytester) -> None:
    source = """
@pytest.mark.lionagi_script("talk.yaml")
def test_talk():
    assert asyncio.run(TestBranch.from_text("x").chat("hi")) == "x"
"""
    for _ in range(2):
        run(project, source).assert_outcomes(passed=1)


# --- the guard

REAL = {
    "verb": "await Branch(chat_model='openai/m').communicate('hi')",
    "key": "await iModel('openai/m', api_key='k').invoke(messages=[])",
    "stream": "[c async for c in iModel('openai/m', api_key='k', base_url='http://127.0.0.1:9').stream(messages=[])]",
    "local": "await Branch(chat_model='local').chat('hi')",
    "thread": "await asyncio.to_thread(lambda: asyncio.run(Branch(chat_model='openai/m').chat('hi')))",
    "made before": "await EARLY.invoke(); assert EARLY.status == 'completed', EARLY.execution.error",
    "made before, streamed": "[c async for c in MODEL.stream(EARLY)]",
}


@pytest.mark.parametrize("how", ["fixture", "option", "ini"])
@pytest.mark.parametrize("call", REAL)
def test_a_real_call_is_an_error_that_names_the_test(project: pytest.Pytester, how: str, call: str) -> None:
    source = f"""
from lionagi import iModel
MODEL = iModel("openai/m", api_key="k", base_url="http://127.0.0.1:9")
EARLY = MODEL.create_api_calling(messages=[])

async def test_guarded({"no_real_models" if how == "fixture" else ""}):
    {REAL[call]}
"""
    options = {"option": ["--lionagi-offline"], "ini": ["-o", "lionagi_offline=true"]}.get(how, [])
    result = run(project, source, *options)
    result.assert_outcomes(failed=1)
    provider = "local" if call == "local" else "openai"
    result.stdout.fnmatch_lines([f"*test_it.py::test_guarded asked a real model: {provider} chat/completions*"])


def test_a_swallowed_real_call_fails_the_test_all_the_same(project: pytest.Pytester) -> None:
    source = """
import contextlib

@pytest.fixture
async def answer():
    with contextlib.suppress(Exception):
        await Branch(chat_model="openai/m").chat("hi")

async def test_in_the_test(no_real_models):
    with contextlib.suppress(Exception):
        await Branch(chat_model="openai/m").chat("hi")

async def test_in_a_fixture(no_real_models, answer):
    pass
"""
    result = run(project, source)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*RealModelCallError: *test_in_a_fixture asked a real model*"])


def test_scripted_and_replayed_calls_pass_the_guard(project: pytest.Pytester) -> None:
    (project.path / "talk.yaml").write_text("responses:\n- {type: text, content: x}\n")
    source = """
async def test_scripted(no_real_models, mocked_branch):
    assert await TestBranch.from_text("x").chat("hi") == "x"
    assert await mocked_branch.chat("hi") == "mocked_response_string"

@pytest.mark.lionagi_script("talk.yaml")
async def test_replayed(no_real_models):
    assert await Branch(chat_model="openai/m").chat("hi") == "x"
"""
    run(project, source, "--lionagi-offline").assert_outcomes(passed=2)


def test_the_guard_ends_with_its_test(project: pytest.Pytester) -> None:
    source = """
from lionagi.service.replay import call_guards

def test_guarded(no_real_models):
    assert call_guards == [no_real_models]

def test_free():
    assert call_guards == []
"""
    run(project, source).assert_outcomes(passed=2)


def test_a_refused_call_is_not_recorded(project: pytest.Pytester) -> None:
    source = """
from lionagi import iModel
MODEL = iModel("openai/m", api_key="k")
EARLY = MODEL.create_api_calling(messages=[])

@pytest.mark.lionagi_script("talk.yaml", mode="record")
async def test_it(no_real_models):
    await MODEL.invoke(EARLY)
"""
    run(project, source, "-W", "ignore").assert_outcomes(failed=1)
    assert not (project.path / "talk.yaml").exists()


def test_the_marker_is_declared(project: pytest.Pytester) -> None:
    shown = run(project, "def test_it(): pass", "--markers").stdout.str()
    assert "@pytest.mark.lionagi_script(path=None, mode=None, match='prompt', mask=())" in shown


def test_a_recording_holds_what_the_test_asked(project: pytest.Pytester, tmp_path: Path) -> None:
    run(project, marked()).assert_outcomes(passed=1)
    entry = ScriptModel.from_yaml(project.path / "talk.yaml").responses[0]
    assert entry.recording is not None
    assert json.dumps(entry.recording.prompt) == '"[user]\\nInstruction: hi"'
