"""The command ``li``; its commands load on first use, so that ``li --help`` is quick."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lionagi.cli.agent import agent_command
    from lionagi.cli.form import form_command
    from lionagi.cli.script import script_command

__all__ = ("agent_command", "form_command", "script_command")

_MODULES = {"agent_command": "agent", "form_command": "form", "script_command": "script"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
