"""A real JupyterLab server for tests, and what a person does in its window."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ("ARTIFACTS", "CHROMIUM_FLAGS", "Lab", "LabPage", "chromium_path", "running_lab", "write_notebook")

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "artifacts"
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
QUIET = {"fetchNews": "false", "checkForUpdates": False}
OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--IdentityProvider.token=",
    "--ServerApp.password=",
    "--ServerApp.disable_check_xsrf=True",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.extension_manager=readonly",
)
KERNEL_STATUS = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"


@dataclass(frozen=True)
class Lab:
    """A running server: its address and the directory whose notebooks it shows."""

    url: str
    notebooks: Path


@dataclass(frozen=True)
class LabPage:
    """One notebook open in a browser."""

    page: Page

    def execute(self, command: str, arguments: dict[str, Any] | None = None) -> None:
        """Run a command of JupyterLab and wait until it is done."""
        self.page.evaluate("([c, a]) => window.jupyterapp.commands.execute(c, a)", [command, arguments or {}])

    def run_unseen(self, code: str) -> None:
        """Run code in the notebook's kernel beside its cells: nothing is shown, no cell's number changes."""
        self.page.evaluate(
            "code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
            ".requestExecute({code, silent: true, store_history: false}).done.then(() => null)",
            code,
        )

    def run_all(self, seconds: float = 60) -> None:
        """Run every cell of the open notebook and wait for the kernel to come to rest."""
        self.page.set_default_timeout(seconds * 1000)
        self.execute("notebook:run-all-cells")
        self.wait_idle(seconds)

    def wait_idle(self, seconds: float = 30) -> None:
        """Wait until the kernel of the open notebook is idle."""
        self.page.wait_for_function(f"() => {KERNEL_STATUS} === 'idle'", timeout=seconds * 1000)

    def set_theme(self, dark: bool) -> None:
        """Switch JupyterLab's own theme and wait until the page shows it, its splash screen gone again."""
        self.execute("apputils:change-theme", {"theme": "JupyterLab Dark" if dark else "JupyterLab Light"})
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{str(not dark).lower()}'")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def save(self) -> None:
        """Save the open notebook to disk."""
        self.execute("docmanager:save")

    def screenshot(self, name: str, part: Any = None) -> Path:
        """Write a picture of the window, or of one part of the page, to ``artifacts/<name>.png``."""
        ARTIFACTS.mkdir(exist_ok=True)
        path = ARTIFACTS / f"{name}.png"
        (self.page if part is None else part).screenshot(path=path)
        return path


def write_notebook(path: Path, cells: Sequence[str]) -> Path:
    """Write a notebook of code cells for the kernel that runs the tests."""
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
    return path


def chromium_path() -> str | None:
    """Return the browser that the system's packages installed, None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(place: Path) -> dict[str, str]:
    """Return an environment whose every Jupyter directory is fresh, so that no setting of the user matters."""
    names = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "HOME": "home",
    }
    made = {name: str(place / folder) for name, folder in names.items()}
    for path in made.values():
        Path(path).mkdir(parents=True)
    quiet = place / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text(json.dumps(QUIET), encoding="utf-8")
    return {**os.environ, **made, "JUPYTER_PREFER_ENV_PATH": "1"}


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 30) -> None:
    """Wait until the server answers; RuntimeError with its log when it does not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/api/status", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab does not answer at {url}:\n{log.read_text(errors='replace')[-3000:]}")


@contextmanager
def running_lab(place: Path, extra_environment: dict[str, str] | None = None) -> Iterator[Lab]:
    """Start JupyterLab in a fresh folder, and stop it and its kernels at the end."""
    notebooks = place / "notebooks"
    notebooks.mkdir(parents=True)
    port, log = free_port(), place / "lab.log"
    command = [sys.executable, "-m", "jupyterlab", *OPTIONS, f"--port={port}", f"--ServerApp.root_dir={notebooks}"]
    with log.open("wb") as out:
        server = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**environment(place), **(extra_environment or {})},
            cwd=notebooks,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}", server, log)
        yield Lab(f"http://127.0.0.1:{port}", notebooks)
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
