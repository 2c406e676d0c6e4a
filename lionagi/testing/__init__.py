"""The supported testing surface: answers from a script in the place of a model, through the real Branch and iModel.

Names load on first use: the service registry imports ``lionagi.testing._endpoint`` to find ``provider="scripted"``,
and that must load neither the session nor the operations.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lionagi._errors import ScriptExhaustedError, StaleRecordingError
    from lionagi.testing._branch import TestBranch, scripted_imodel
    from lionagi.testing._endpoint import ScriptedEndpoint
    from lionagi.testing._env import (
        DEFAULT_SCRIPTED_MODEL,
        ENV_MODEL,
        ENV_PROVIDER,
        ENV_SCRIPT_PATH,
        SCRIPTED_PROVIDER,
        is_scripted_provider_active,
        resolve_script_path,
        scripted_env,
        subprocess_env,
    )
    from lionagi.testing._record import record
    from lionagi.testing._recording import rewind
    from lionagi.testing._script import ScriptModel
    from lionagi.testing._types import (
        EntryRecording,
        ErrorResponse,
        RecordedCall,
        ResponseEntry,
        ScriptRecording,
        StreamChunkSpec,
        StreamResponse,
        StructuredResponse,
        TextResponse,
        ToolCallResponse,
        WhenMatcher,
    )

__all__ = (
    "DEFAULT_SCRIPTED_MODEL",
    "ENV_MODEL",
    "ENV_PROVIDER",
    "ENV_SCRIPT_PATH",
    "SCRIPTED_PROVIDER",
    "EntryRecording",
    "ErrorResponse",
    "RecordedCall",
    "ResponseEntry",
    "ScriptExhaustedError",
    "ScriptModel",
    "ScriptRecording",
    "ScriptedEndpoint",
    "StaleRecordingError",
    "StreamChunkSpec",
    "StreamResponse",
    "StructuredResponse",
    "TestBranch",
    "TextResponse",
    "ToolCallResponse",
    "WhenMatcher",
    "is_scripted_provider_active",
    "record",
    "resolve_script_path",
    "rewind",
    "scripted_env",
    "scripted_imodel",
    "subprocess_env",
)

_HOMES: dict[str, tuple[str, ...]] = {
    "lionagi._errors": ("ScriptExhaustedError", "StaleRecordingError"),
    "lionagi.testing._branch": ("TestBranch", "scripted_imodel"),
    "lionagi.testing._endpoint": ("ScriptedEndpoint",),
    "lionagi.testing._env": (
        "DEFAULT_SCRIPTED_MODEL",
        "ENV_MODEL",
        "ENV_PROVIDER",
        "ENV_SCRIPT_PATH",
        "SCRIPTED_PROVIDER",
        "is_scripted_provider_active",
        "resolve_script_path",
        "scripted_env",
        "subprocess_env",
    ),
    "lionagi.testing._record": ("record",),
    "lionagi.testing._recording": ("rewind",),
    "lionagi.testing._script": ("ScriptModel",),
    "lionagi.testing._types": (
        "EntryRecording",
        "ErrorResponse",
        "RecordedCall",
        "ResponseEntry",
        "ScriptRecording",
        "StreamChunkSpec",
        "StreamResponse",
        "StructuredResponse",
        "TextResponse",
        "ToolCallResponse",
        "WhenMatcher",
    ),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
