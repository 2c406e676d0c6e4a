"""The surroundings of every test: no network, no keys, an empty HOME, and no litter."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from support.guard import GUARD, NetworkBlockedError, is_loopback


def refused() -> list[str]:
    """Return what the guard refused in this test and forget it, so that the test may pass."""
    found, GUARD.refused = GUARD.refused, []
    return found


def test_a_foreign_address_is_refused_and_the_test_is_named() -> None:
    with socket.socket() as client, pytest.raises(NetworkBlockedError, match="test_a_foreign_address"):
        client.connect(("192.0.2.1", 80))
    assert len(refused()) == 1


def test_a_foreign_name_is_not_looked_up() -> None:
    with pytest.raises(NetworkBlockedError, match="example"):
        socket.getaddrinfo("example.invalid", 443)
    assert len(refused()) == 1


def test_a_datagram_to_a_foreign_address_is_refused() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as client, pytest.raises(NetworkBlockedError):
        client.sendto(b"x", ("192.0.2.1", 53))
    assert len(refused()) == 1


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_blocked_sockets_refuses_loopback_too(blocked_sockets: None) -> None:
    with socket.socket() as client, pytest.raises(NetworkBlockedError):
        client.connect(("127.0.0.1", 9))
    assert len(refused()) == 1


def test_blocked_sockets_leaves_unix_sockets_open(blocked_sockets: None, tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        client.connect(path)
        assert client.getpeername() == path


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.8.9.1", True),
        ("::1", True),
        (None, True),
        (b"127.0.0.1", True),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
        ("10.0.0.1", False),
    ],
)
def test_loopback_is_told_from_look_alikes(host: str | bytes | None, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_home_and_working_directory_are_empty() -> None:
    assert list(Path.home().iterdir()) == []
    assert list(Path.cwd().iterdir()) == []


def test_no_key_reaches_a_test() -> None:
    assert [name for name in os.environ if name.endswith("_API_KEY") or name.startswith("LIONAGI_")] == []


def test_litter_in_the_working_directory_fails_a_test(pytester: pytest.Pytester) -> None:
    conftest = Path(__file__).parents[1] / "conftest.py"
    pytester.makeini(f"[pytest]\npythonpath = '{conftest.parent}'\n")
    pytester.makeconftest(conftest.read_text(encoding="utf-8"))
    pytester.makepyfile("def test_it():\n    open('left.txt', 'w').close()\n")
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*written into the working directory*left.txt*"])
