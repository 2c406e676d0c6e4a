"""The supported testing surface: answers from a script in the place of a model, through the real Branch and iModel.

Names load on first use: the service registry imports ``lionagi.testing._endpoint`` to find ``provider="scripted"``,
and that must load neither the session nor the operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi._errors import RealModelCallError, ScriptExhaustedError, StaleRecordingError
    from lionagi.testing._branch import TestBranch, scripted_imodel
    from lionagi.testing._endpoint import ScriptedEndpoint
    from lionagi.testing._env import (
        DEFAULT_SCRIPTED_MODEL,
        ENV_MODEL,
        ENV_PROVIDER,
        ENV_RECORD_MODE,
        ENV_SCRIPT_PATH,
        SCRIPTED_PROVIDER,
        is_scripted_provider_active,
        resolve_script_path,
        scripted_env,
        subprocess_env,
    )
    from lionagi.testing._legacy import LionAGIMockFactory, oai_chat_endpoint_config
    from lionagi.testing._record import record, replay
    from lionagi.testing._recording import rewind
    from lionagi.testing._script import ScriptModel
    from lionagi.testing._snapshots import script_from_branch
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
    from lionagi.testing.helpers import (
        AsyncTestHelpers,
        IModelKwargCaptor,
        MockClaudeCode,
        MockElement,
        TestDataHelpers,
        ValidationHelpers,
    )
    from lionagi.testing.loaders import (
        TestDataLoader,
        get_api_response,
        get_conversation,
        get_error_scenario,
        load_test_data,
    )

__all__ = (
    "DEFAULT_SCRIPTED_MODEL",
    "ENV_MODEL",
    "ENV_PROVIDER",
    "ENV_RECORD_MODE",
    "ENV_SCRIPT_PATH",
    "SCRIPTED_PROVIDER",
    "AsyncTestHelpers",
    "EntryRecording",
    "ErrorResponse",
    "IModelKwargCaptor",
    "LionAGIMockFactory",
    "MockClaudeCode",
    "MockElement",
    "RealModelCallError",
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
    "TestDataHelpers",
    "TestDataLoader",
    "TextResponse",
    "ToolCallResponse",
    "ValidationHelpers",
    "WhenMatcher",
    "get_api_response",
    "get_conversation",
    "get_error_scenario",
    "is_scripted_provider_active",
    "load_test_data",
    "oai_chat_endpoint_config",
    "record",
    "replay",
    "resolve_script_path",
    "rewind",
    "script_from_branch",
    "scripted_env",
    "scripted_imodel",
    "subprocess_env",
)

_HOMES: dict[str, tuple[str, ...]] = {
    "lionagi._errors": (
        "RealModelCallError",
        "ScriptExhaustedError",
        "StaleRecordingError",
    ),
    "lionagi.testing._branch": (
        "TestBranch",
        "scripted_imodel",
    ),
    "lionagi.testing._endpoint": ("ScriptedEndpoint",),
    "lionagi.testing._env": (
        "DEFAULT_SCRIPTED_MODEL",
        "ENV_MODEL",
        "ENV_PROVIDER",
        "ENV_RECORD_MODE",
        "ENV_SCRIPT_PATH",
        "SCRIPTED_PROVIDER",
        "is_scripted_provider_active",
        "resolve_script_path",
        "scripted_env",
        "subprocess_env",
    ),
    "lionagi.testing._legacy": (
        "LionAGIMockFactory",
        "oai_chat_endpoint_config",
    ),
    "lionagi.testing._record": (
        "record",
        "replay",
    ),
    "lionagi.testing._recording": ("rewind",),
    "lionagi.testing._script": ("ScriptModel",),
    "lionagi.testing._snapshots": ("script_from_branch",),
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
    "lionagi.testing.helpers": (
        "AsyncTestHelpers",
        "IModelKwargCaptor",
        "MockClaudeCode",
        "MockElement",
        "TestDataHelpers",
        "ValidationHelpers",
    ),
    "lionagi.testing.loaders": (
        "TestDataLoader",
        "get_api_response",
        "get_conversation",
        "get_error_scenario",
        "load_test_data",
    ),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
