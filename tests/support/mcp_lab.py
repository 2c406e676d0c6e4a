"""Starting the test MCP server, and knowing when a process has ended."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("mcp_server.py")


def described(*args: str, **more: Any) -> dict[str, Any]:
    """Return the test server's configuration."""
    return {"command": sys.executable, "args": [str(PROGRAM), *args], **more}


def children() -> set[int]:
    """Return the ids of this process's children."""
    tasks = Path(f"/proc/{os.getpid()}/task")
    return {int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()}


class Watched:
    """A process whose end can be waited for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._fd = os.pidfd_open(pid)

    def ended(self, seconds: float = 30.0) -> bool:
        """Return whether it has ended or ends within the given time."""
        found, _, _ = select.select([self._fd], [], [], seconds)
        os.close(self._fd)
        return bool(found)
