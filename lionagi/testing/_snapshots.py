"""A saved conversation as a script that answers the same questions again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from lionagi._errors import ConfigurationError, short_repr
from lionagi.protocols.messages.assistant_response import AssistantResponse
from lionagi.session.branch import Branch

from ._script import ScriptModel
from ._types import ResponseEntry, StructuredResponse, TextResponse, ToolCallResponse

__all__ = ("script_from_branch",)


def script_from_branch(source: Branch | Mapping[str, Any] | str | Path) -> ScriptModel:
    """Return a script that holds one entry per answer of the model, in the order of the conversation.

    An answer of text stays text, a native tool call becomes a tool_call entry, several at once (or one beside text)
    become the structured entry that asks for the same tools.

    Args:
        source: A Branch, its ``snapshot()`` or ``to_dict()``, or the path of such a snapshot as JSON.

    Raises:
        ValueError: It is no snapshot of a branch.
    """
    if isinstance(source, str | Path):
        source = _read(Path(source))
    branch = source if isinstance(source, Branch) else _branch_of(source)
    answers = [message for message in branch.messages if isinstance(message, AssistantResponse)]
    return ScriptModel(responses=[_entry_of(answer) for answer in answers])


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{str(path)!r} is no snapshot of a branch: {error}") from error
    if not isinstance(data, Mapping):
        raise ConfigurationError(f"{str(path)!r} is no snapshot of a branch: it holds {short_repr(data)}")
    return cast("Mapping[str, Any]", data)


def _branch_of(data: Mapping[str, Any]) -> Branch:
    if "messages" not in data:
        raise ConfigurationError(f"a snapshot of a branch has messages; this has only {sorted(data)}")
    # the model may need a provider or a key that is not here, and the conversation does not
    return Branch.from_dict({key: value for key, value in data.items() if key not in ("chat_model", "parse_model")})


def _entry_of(answer: AssistantResponse) -> ResponseEntry:
    calls = answer.tool_calls
    if not calls:
        return TextResponse(content=answer.response)
    function, arguments = calls[0]["function"], calls[0]["arguments"]
    if len(calls) == 1 and not answer.response and isinstance(arguments, dict):
        return ToolCallResponse(name=function, arguments=cast("dict[str, Any]", arguments), id=calls[0].get("id"))
    # one entry cannot hold text beside native calls: what the tools do matters more than a word before them
    requests = [{"function": call["function"], "arguments": call["arguments"]} for call in calls]
    return StructuredResponse(data={**_object(answer.response), "action_requests": requests})


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}
