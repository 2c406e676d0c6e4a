"""The names of this layer in one place."""

from __future__ import annotations

from lionagi.protocols.action import ActionManager, FunctionCalling, Tool, ToolRef, function_to_schema
from lionagi.protocols.control import HookPoint, ToolInvocation
from lionagi.protocols.generic import (
    ID,
    DataLogger,
    DataLoggerConfig,
    Element,
    Event,
    EventStatus,
    Execution,
    Log,
    Pile,
    Progression,
)
from lionagi.protocols.graph import Node
from lionagi.protocols.messages import (
    ActionRequest,
    ActionRequestContent,
    ActionResponse,
    ActionResponseContent,
    AssistantResponse,
    AssistantResponseContent,
    Instruction,
    InstructionContent,
    Message,
    MessageContent,
    MessageManager,
    MessageRole,
    RoledMessage,
    SenderRecipient,
    System,
    SystemContent,
    validate_sender_recipient,
)

LogManager = DataLogger
LogManagerConfig = DataLoggerConfig

__all__ = (
    "ID",
    "ActionManager",
    "ActionRequest",
    "ActionRequestContent",
    "ActionResponse",
    "ActionResponseContent",
    "AssistantResponse",
    "AssistantResponseContent",
    "DataLogger",
    "DataLoggerConfig",
    "Element",
    "Event",
    "EventStatus",
    "Execution",
    "FunctionCalling",
    "HookPoint",
    "Instruction",
    "InstructionContent",
    "Log",
    "LogManager",
    "LogManagerConfig",
    "Message",
    "MessageContent",
    "MessageManager",
    "MessageRole",
    "Node",
    "Pile",
    "Progression",
    "RoledMessage",
    "SenderRecipient",
    "System",
    "SystemContent",
    "Tool",
    "ToolInvocation",
    "ToolRef",
    "function_to_schema",
    "validate_sender_recipient",
)
