"""Run a notebook as Run All does: every cell queued at once, through a raw kernel client."""

from __future__ import annotations

import os
import queue
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

__all__ = ("NOTEBOOKS", "CellRun", "code_cells", "plain_text", "recording_of", "replay_environment", "run_all")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"


@dataclass
class CellRun:
    """What one cell did: its reply's status and its outputs in order."""

    status: str = "no reply"
    outputs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> list[str]:
        """Return the plain text of each output that has one, the streams joined."""
        return plain_text(self.outputs)


def recording_of(notebook: Path) -> Path:
    """Return where the recorded answers of a notebook are kept."""
    return notebook.parent / "recordings" / f"{notebook.stem}.yaml"


def replay_environment(notebook: Path) -> dict[str, str]:
    """Return the environment in which a kernel answers from the notebook's recording, with all sockets refused."""
    tests = ROOT / "tests"
    made = {
        "LIONAGI_NB_STATIC": "1",
        "PYTHONPATH": os.pathsep.join([str(tests / "support" / "offline"), str(tests)]),
        "IPYTHONDIR": str(Path(tempfile.gettempdir()) / f"lionagi-ipython-{os.getuid()}"),
    }
    recording = recording_of(notebook)
    return {**made, "LIONAGI_REPLAY": str(recording)} if recording.exists() else made


def code_cells(path: Path) -> list[Any]:
    """Return the code cells of a stored notebook."""
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def plain_text(outputs: list[Any]) -> list[str]:
    """Return the plain text of some outputs: streams joined by name, then one text for each rich output."""
    streams: dict[str, str] = {}
    rich = []
    for output in outputs:
        if output["output_type"] == "stream":
            streams[output["name"]] = streams.get(output["name"], "") + output["text"]
        elif "text/plain" in output.get("data", {}):
            rich.append(output["data"]["text/plain"])
        elif output["output_type"] == "error":
            rich.append(f"{output['ename']}: {output['evalue']}")
    return [*streams.values(), *rich]


@contextmanager
def kernel(environment: dict[str, str], directory: Path) -> Iterator[BlockingKernelClient]:
    """Start the kernel of this Python, wait until it answers, and stop it at the end."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, **environment}, cwd=str(directory))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def messages(client: BlockingKernelClient, deadline: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (channel, message) as they come from the kernel, until the deadline."""
    while time.monotonic() < deadline:
        for name, get in (("iopub", client.get_iopub_msg), ("shell", client.get_shell_msg)):
            try:
                yield name, get(timeout=0.05)
            except queue.Empty:
                continue


def run_all(
    sources: list[str], environment: dict[str, str] | None = None, directory: Path = NOTEBOOKS, seconds: float = 60
) -> list[CellRun]:
    """Queue every cell before the first has answered, and return what each did, in order.

    A cell that the kernel lost keeps the status "no reply"; nothing is raised for it, since that is what the caller
    wants to see.
    """
    with kernel(environment or {}, directory) as client:
        runs = {client.execute(source): CellRun() for source in sources}
        open_ends = {(name, key) for key in runs for name in ("shell", "iopub")}
        for channel, message in messages(client, time.monotonic() + seconds):
            key = message.get("parent_header", {}).get("msg_id")
            if key not in runs:
                continue
            kind, content = message["msg_type"], message["content"]
            if channel == "shell":
                runs[key].status = content["status"]
                open_ends.discard(("shell", key))
            elif kind == "status" and content["execution_state"] == "idle":
                open_ends.discard(("iopub", key))
            elif kind in {"stream", "display_data", "execute_result", "error"}:
                runs[key].outputs.append({"output_type": kind, **content})
            if not open_ends:
                break
    return list(runs.values())
