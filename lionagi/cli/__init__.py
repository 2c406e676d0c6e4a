"""The command ``li``; its commands load on first use, so that ``li --help`` is quick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.cli.agent import agent_command
    from lionagi.cli.form import form_command
    from lionagi.cli.script import script_command

__all__ = ("agent_command", "form_command", "script_command")

_MODULES = {"agent_command": ".agent", "form_command": ".form", "script_command": ".script"}

__getattr__, __dir__ = lazy_names(__name__, _MODULES)
