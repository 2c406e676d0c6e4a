"""One door each: the network, child processes, YAML, file writes and markup are touched in one module apiece."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from support.source import Module, docstring_nodes, modules

HTTP = "lionagi/service/connections/http.py"
PROCESSES = "lionagi/service/connections/subprocess.py"
YAML = "lionagi/ln/yamls.py"
FILES = "lionagi/ln/files.py"
MARKUP = "lionagi_nb/_markup.py"

DOORS: dict[str, str] = {
    "aiohttp": HTTP,
    "httpx": HTTP,
    "requests": HTTP,
    "urllib.request": HTTP,
    "http.client": HTTP,
    "socket": PROCESSES,
    "subprocess": PROCESSES,
    "multiprocessing": PROCESSES,
    "pty": PROCESSES,
    "yaml": YAML,
    "tempfile": FILES,
    "shutil": FILES,
    "jinja2": MARKUP,
    "markupsafe": MARKUP,
}
# ADR-0052 D5: a scripted failure is the error that aiohttp would raise, built without a request.
BESIDE_THE_DOOR = {("aiohttp", "lionagi/testing/_responses.py")}
PROCESS_CALLS = re.compile(
    r"(^|\.)(create_subprocess_(exec|shell)|subprocess_(exec|shell))$|^os\.(fork|forkpty|popen|system|posix_spawnp?|(exec|spawn)[lv]p?e?)$"
)
WRITE_CALLS = re.compile(
    r"\.(write_text|write_bytes|mkdir|touch|unlink|rmdir|symlink_to|hardlink_to|chmod)$"
    r"|^os\.(open|replace|rename|renames|remove|unlink|mkdir|makedirs|rmdir|link|symlink|truncate|chmod)$"
)
TAGS = (
    "a|b|br|button|code|dd|details|div|dl|dt|em|h[1-6]|i|img|input|label|li|ol|p|pre|script|section|small|span"
    "|strong|style|summary|svg|table|tbody|td|th|thead|tr|ul"
)
MARKUP_TEXT = re.compile(rf"<(?:{TAGS})(?:\s[^<>]*)?/?>|</(?:{TAGS})>", re.IGNORECASE)


def calls(module: Module) -> Iterator[tuple[str, ast.Call]]:
    """Yield each call with the dotted text of what is called."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def matches(name: str, package: str) -> bool:
    """Return whether an imported dotted name is the package or lies in it."""
    return name == package or name.startswith(f"{package}.")


def opens_for_writing(name: str, call: ast.Call) -> bool:
    """Return whether a call is an open() whose mode is not plainly a reading one."""
    if name == "open" or name in {"io.open", "os.fdopen"}:
        position = 1
    elif name.endswith(".open") and not name.startswith(("os.", "webbrowser.")):
        position = 0
    else:
        return False
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[position : position + 1]
    if not given:
        return False
    return not (isinstance(given[0], ast.Constant) and set(str(given[0].value)) <= set("rbt"))


@pytest.mark.parametrize("package", sorted(DOORS))
def test_a_library_is_imported_in_one_module(package: str) -> None:
    strays = {
        f"{module.where(node)} imports {name}"
        for module in modules()
        for name, node in module.imports()
        if matches(name, package) and module.relative != DOORS[package]
        if (package, module.relative) not in BESIDE_THE_DOOR
    }
    assert not strays, f"only {DOORS[package]} may: {sorted(strays)}"


def test_child_processes_start_in_one_module() -> None:
    strays = [
        f"{module.where(call)} {name}"
        for module in modules()
        for name, call in calls(module)
        if PROCESS_CALLS.search(name) and module.relative != PROCESSES
    ]
    assert not strays, f"only {PROCESSES} may: {strays}"


def test_files_are_written_in_one_module() -> None:
    strays = [
        f"{module.where(call)} {name}"
        for module in modules()
        for name, call in calls(module)
        if (WRITE_CALLS.search(name) or opens_for_writing(name, call)) and module.relative != FILES
    ]
    assert not strays, f"only {FILES} may: {strays}"


def test_markup_is_written_in_one_module() -> None:
    strays = []
    for module in modules():
        doc = set(map(id, docstring_nodes(module.tree)))
        for node in ast.walk(module.tree):
            text = node.value if isinstance(node, ast.Constant) and id(node) not in doc else None
            if isinstance(text, str) and MARKUP_TEXT.search(text) and module.relative != MARKUP:
                strays.append(f"{module.where(node)} {text[:60]!r}")
    assert not strays, f"only {MARKUP} may: {strays}"
