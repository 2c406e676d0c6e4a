"""Whether a person can be asked here: the mode, the kernel, the thread."""

from __future__ import annotations

import os
import sys
import threading
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__all__ = ("STATIC", "why_nobody_can_answer")

STATIC = "LIONAGI_NB_STATIC"
"""Set to 1 this variable says that nobody looks: no waiting, answers only from `scripted_input`."""

_SCRIPT = "give the answers with lionagi_nb.scripted_input({…})"


def why_nobody_can_answer() -> str | None:
    """Return why a question shown now could not be answered, None where it can.

    A kernel before ipykernel 7 takes clicks only after the cell has ended, and while `run_sync` waits no kernel does.
    """
    if os.environ.get(STATIC, "") not in ("", "0"):
        return f"{STATIC} is set, so nobody is asked; {_SCRIPT}"
    if _kernel() is None:
        return f"there is no notebook to ask in; {_SCRIPT}"
    try:
        major = int(version("ipykernel").partition(".")[0])
    except (PackageNotFoundError, ValueError):
        major = 0
    if major < 7:
        return f"this kernel takes no clicks while a cell runs; use ipykernel 7.4 or later, or {_SCRIPT}"
    if threading.current_thread() is not threading.main_thread():
        return f"run_sync() keeps the kernel from taking clicks; await the call in the cell, or {_SCRIPT}"
    return None


def _kernel() -> Any:
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None)
