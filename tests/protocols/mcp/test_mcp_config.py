"""The configuration of MCP servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lionagi._errors import ConfigurationError
from lionagi.protocols.mcp import read_mcp_config

PLAIN = {"command": "serve", "args": [], "env": {}, "cwd": None}


@pytest.mark.parametrize("wrap", [False, True], ids=["bare", "mcpServers"])
def test_both_layouts_are_read_from_a_mapping_and_from_a_file(wrap: bool, tmp_path: Path) -> None:
    servers = {"a": {"command": "serve"}, "b": {"command": "serve", "args": ["-x"], "env": {"K": "v"}, "cwd": "/"}}
    config: dict[str, Any] = {"mcpServers": servers} if wrap else servers
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    expected = {"a": PLAIN, "b": {"command": "serve", "args": ["-x"], "env": {"K": "v"}, "cwd": Path("/")}}
    assert read_mcp_config(config) == read_mcp_config(path) == read_mcp_config(str(path)) == expected


def test_disabled_servers_and_keys_of_other_programs_are_passed_over() -> None:
    config = {"a": {"command": "serve", "type": "stdio", "autoApprove": ["x"]}, "b": {"url": "x", "disabled": True}}
    assert read_mcp_config(config) == {"a": PLAIN}


@pytest.mark.parametrize(
    ("server", "text"),
    [
        ({"args": []}, "'a' must look like"),
        ({"command": ["serve"]}, "'a' must look like"),
        ({"command": "serve", "args": "-x"}, "'a' must look like"),
        ({"command": "serve", "args": [1]}, "'a' must look like"),
        ({"command": "serve", "env": {"K": 1}}, "'a' must look like"),
        ({"command": "serve", "cwd": 5}, "'a' must look like"),
        ("serve", "'a' must look like"),
        ({"url": "http://localhost/mcp"}, "'a' is not started by a command"),
        ({"command": "serve", "type": "http"}, "'a' is not started by a command"),
    ],
)
def test_a_server_that_is_described_otherwise_is_refused(server: Any, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        read_mcp_config({"a": server})


def test_a_refusal_shows_no_value_of_the_environment() -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_mcp_config({"a": {"command": 5, "env": {"KEY": "sesame"}}})
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}'])
def test_a_file_that_holds_no_servers_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError):
        read_mcp_config(path)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"gone\.json"):
        read_mcp_config(tmp_path / "gone.json")
