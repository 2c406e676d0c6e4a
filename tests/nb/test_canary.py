"""A key is used and shows up nowhere: not in a view, a record, an error, a saved branch, a recording or a notebook."""

from __future__ import annotations

import json
import logging
import pickle
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from support.openai_server import Faults, OpenAIServer, structured, tool_call

import lionagi_nb as nb
from lionagi import Branch, iModel
from lionagi.testing import record

CANARY = "sk-canary-7f3a9c51d2e84b60"


def weather(city: str) -> str:
    """Return the weather."""
    return f"sunny in {city}"


def model(server: OpenAIServer) -> iModel:
    return iModel(provider="openai", model="m", base_url=server.base_url, api_key=CANARY, max_retries=1)


async def test_S1_a_key_appears_in_no_view_record_error_or_file(
    openai_server: OpenAIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"Bearer {CANARY} is not allowed"}})
    openai_server.script(
        structured({"city": "Paris"}), tool_call("weather", {"city": "Rome"}), Faults.status(401, echo)
    )
    branch = Branch(chat_model=model(openai_server), tools=[weather], name="canary")
    with record(tmp_path / "talk.yaml"):
        first = await branch.operate(instruction="go", response_format={"city": "str"})
        result = await branch.operate(instruction="go", actions=True)
    with pytest.raises(RuntimeError, match="API call failed") as failure:
        await branch.communicate("go")
    assert openai_server.requests[0].headers["Authorization"] == f"Bearer {CANARY}"
    views: list[Any] = [nb.actions(branch), nb.timeline(branch), nb.schema(result)]
    shown = [text for view in views for text in (view.text(), view.html(), json.dumps(view.data(), default=repr))]
    cause = failure.value.__cause__
    texts = [
        *shown,
        *(repr(view) + str(pickle.dumps(view)) for view in views),
        repr(first) + repr(result) + repr(branch) + repr(branch.chat_model),
        json.dumps(branch.to_dict("json")),
        json.dumps([log.content for log in branch.logs], default=repr),
        str(failure.value) + repr(failure.value) + repr(cause) + str(vars(cause)),
        (tmp_path / "talk.yaml").read_text(),
        caplog.text,
    ]
    assert [text for text in texts if CANARY in text] == []


SOURCE = """
import lionagi_nb as nb
from lionagi import Branch, iModel
branch = Branch(chat_model=iModel(provider="openai", model="m", base_url={url!r}))
await branch.communicate("hello")
---
branch
---
nb.timeline(branch)
---
branch.chat_model, branch.to_dict("json")
---
try:
    await branch.communicate("again")
except RuntimeError as error:
    print(error, repr(error.__cause__))
"""


def test_N4_a_saved_notebook_holds_no_key(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    echo = json.dumps({"error": {"message": f"Bearer {CANARY} is not allowed"}})
    openai_server.script(structured({"city": "Paris"}), Faults.status(401, echo))
    notebook = nbformat.v4.new_notebook()
    for cell in SOURCE.format(url=openai_server.base_url).strip().split("---\n"):
        notebook.cells.append(nbformat.v4.new_code_cell(cell))
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    saved = nbformat.writes(notebook)
    assert "ProviderAuthError" in saved
    assert CANARY not in saved
    assert openai_server.requests[0].headers["Authorization"] == f"Bearer {CANARY}"
