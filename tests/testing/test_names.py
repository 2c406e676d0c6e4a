"""What the package exports, and that finding the scripted provider needs none of the rest."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest
from support.source import ROOT

from lionagi import testing
from lionagi.service.imodel import iModel
from lionagi.testing import ScriptedEndpoint

SNAPSHOT = """
AsyncTestHelpers DEFAULT_SCRIPTED_MODEL ENV_MODEL ENV_PROVIDER ENV_RECORD_MODE ENV_SCRIPT_PATH EntryRecording
ErrorResponse IModelKwargCaptor LionAGIMockFactory MockClaudeCode MockElement RealModelCallError RecordedCall
ResponseEntry SCRIPTED_PROVIDER ScriptExhaustedError ScriptModel ScriptRecording ScriptedEndpoint StaleRecordingError
StreamChunkSpec StreamResponse StructuredResponse TestBranch TestDataHelpers TestDataLoader TextResponse
ToolCallResponse ValidationHelpers WhenMatcher get_api_response get_conversation get_error_scenario
is_scripted_provider_active load_test_data oai_chat_endpoint_config record replay resolve_script_path rewind
script_from_branch scripted_env scripted_imodel subprocess_env
"""
"""The supported names. Removing one takes two minor releases of DeprecationWarning, see docs/testing.md."""

KINDS = {
    "scripted infrastructure": {"ScriptModel", "ScriptedEndpoint", "TestBranch", "scripted_imodel", "scripted_env"},
    "entry types": {"TextResponse", "ToolCallResponse", "StructuredResponse", "StreamResponse", "ErrorResponse"},
    "mock builders": {"LionAGIMockFactory", "oai_chat_endpoint_config"},
    "test helpers": {"AsyncTestHelpers", "ValidationHelpers", "TestDataHelpers"},
    "data loaders": {"TestDataLoader", "get_api_response", "get_conversation", "get_error_scenario", "load_test_data"},
}


@pytest.mark.record("DEC-0052-2-2")
def test_the_supported_names_are_the_stored_ones() -> None:
    assert sorted(testing.__all__) == sorted(SNAPSHOT.split())


@pytest.mark.record("0052-D4-01")
def test_every_name_can_be_imported_and_every_kind_is_there() -> None:
    assert [name for name in testing.__all__ if not hasattr(testing, name)] == []
    assert [kind for kind, names in KINDS.items() if not names <= set(testing.__all__)] == []


@pytest.mark.record("0052-C-02")
@pytest.mark.parametrize(
    "name",
    [
        "lionagi.testing._branch",
        "lionagi.testing._endpoint",
        "lionagi.testing._script",
        "lionagi.testing._types",
        "lionagi.testing.pytest_plugin",
        "lionagi.service.connections.registry",
    ],
)
def test_the_named_modules_can_be_imported(name: str) -> None:
    assert importlib.import_module(name).__name__ == name


def test_importing_the_package_loads_none_of_its_modules() -> None:
    code = "import sys, lionagi.testing; print([n for n in sys.modules if n.startswith('lionagi.testing.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(testing, "Unheard")
    assert "TestBranch" in dir(testing)


@pytest.mark.record("DEC-0052-2-1")
def test_the_page_says_how_a_name_may_leave() -> None:
    page = " ".join((ROOT / "docs" / "testing.md").read_text(encoding="utf-8").split())
    assert (
        "A name leaves `lionagi.testing` only after two minor releases in which using it raises a `DeprecationWarning`"
        in page
    )


# --- the registry contract


@pytest.mark.record("DEC-0052-2-3")
async def test_scripted_is_resolved_and_answers_with_all_sockets_blocked(blocked_sockets: None) -> None:
    model = iModel(provider="scripted", endpoint="chat", script=[{"type": "text", "content": "here"}])
    assert type(model.endpoint) is ScriptedEndpoint
    call = await model.invoke(messages=[{"role": "user", "content": "hi"}])
    assert (call.status, call.answer.text) == ("completed", "here")


def test_a_scripted_call_needs_no_pytest() -> None:
    code = (
        "import sys, asyncio\n"
        "sys.modules['pytest'] = sys.modules['_pytest'] = None\n"
        "from lionagi.service.imodel import iModel\n"
        "model = iModel(provider='scripted', endpoint='chat', script=[{'type': 'text', 'content': 'here'}])\n"
        "print(asyncio.run(model.invoke(messages=[])).answer.text)\n"
        "from lionagi.testing import *\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("here", "")
