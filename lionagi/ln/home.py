"""Where lionagi keeps files when it is asked to: paths only, nothing is created here."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ("lionagi_home", "runs_dir")


def lionagi_home() -> Path:
    """Return ``$LIONAGI_HOME``, else the platform's state directory for lionagi."""
    if home := os.environ.get("LIONAGI_HOME"):
        return Path(home)
    from platformdirs import user_state_path

    return user_state_path("lionagi", appauthor=False)


def runs_dir() -> Path:
    """Return the directory for streamed runs when the caller names none."""
    return lionagi_home() / "logs" / "runs"
