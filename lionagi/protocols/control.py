"""What a gate is asked about, and the points at which hooks run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lionagi.ln.types.records import FrozenRecord

__all__ = ("HookPoint", "ToolInvocation")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ToolInvocation(FrozenRecord):
    """The tool call that a gate allows or denies.

    Attributes:
        function: The tool's name.
        arguments: The arguments as the tool would get them.
        branch_id: The branch that asks, None outside a branch.
    """

    function: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    branch_id: str | None = None


class HookPoint(StrEnum):
    """The moments at which registered hooks are called; ARTIFACT_CREATED has no caller yet."""

    SESSION_START = "session.start"
    SESSION_END = "session.end"
    BRANCH_CREATE = "branch.create"
    BRANCH_END = "branch.end"
    API_PRE_CALL = "api.pre_call"
    API_POST_CALL = "api.post_call"
    API_STREAM_CHUNK = "api.stream_chunk"
    TOOL_PRE = "tool.pre"
    TOOL_POST = "tool.post"
    TOOL_ERROR = "tool.error"
    MESSAGE_ADD = "message.add"
    ARTIFACT_CREATED = "artifact.created"
    USER_PROMPT_SUBMIT = "prompt.submit"
