"""The messages of a conversation: instructions, answers, tool requests and results, and the System message."""

from __future__ import annotations

from lionagi.protocols.messages.action_request import ActionRequest, ActionRequestContent
from lionagi.protocols.messages.action_response import ActionResponse, ActionResponseContent
from lionagi.protocols.messages.assistant_response import AssistantResponse, AssistantResponseContent
from lionagi.protocols.messages.instruction import Instruction, InstructionContent
from lionagi.protocols.messages.manager import MessageManager
from lionagi.protocols.messages.message import Message, MessageContent, RoledMessage
from lionagi.protocols.messages.system import System, SystemContent
from lionagi.protocols.messages.types import MessageRole, SenderRecipient, validate_sender_recipient

__all__ = (
    "ActionRequest",
    "ActionRequestContent",
    "ActionResponse",
    "ActionResponseContent",
    "AssistantResponse",
    "AssistantResponseContent",
    "Instruction",
    "InstructionContent",
    "Message",
    "MessageContent",
    "MessageManager",
    "MessageRole",
    "RoledMessage",
    "SenderRecipient",
    "System",
    "SystemContent",
    "validate_sender_recipient",
)
