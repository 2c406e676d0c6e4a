"""The guard that keeps tests off the network: one audit hook, so that no library finds a way around it."""

from __future__ import annotations

import ipaddress
import sys
from dataclasses import dataclass, field
from typing import Any

__all__ = ("GUARD", "Guard", "NetworkBlockedError")

LOOPBACK_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})
NAME_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
CONNECTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


class NetworkBlockedError(RuntimeError):
    """A test reached for the network; not an OSError, so that no transport mistakes it for a broken connection."""


def is_loopback(host: Any) -> bool:
    """Return whether the host is this machine by name or by address."""
    if host is None:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    if name.lower().rstrip(".") in LOOPBACK_NAMES:
        return True
    try:
        address = ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@dataclass
class Guard:
    """What is allowed now, and what was refused since the test began."""

    active: bool = False
    loopback: bool = True
    test: str = ""
    refused: list[str] = field(default_factory=list)
    installed: bool = False

    def install(self) -> None:
        """Hook into the interpreter once; an audit hook cannot be removed, so it asks ``active`` each time."""
        if not self.installed:
            sys.addaudithook(self._audit)
            self.installed = True

    def begin(self, test: str) -> None:
        """Guard the named test from here on, loopback allowed."""
        self.install()
        self.active, self.loopback, self.test, self.refused = True, True, test, []

    def end(self) -> list[str]:
        """Stop guarding and return what was refused."""
        self.active, self.loopback = False, True
        return self.refused

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.active or not event.startswith("socket."):
            return
        if event in NAME_LOOKUPS:
            self._check(event, args[0])
        elif event in CONNECTS and isinstance(args[1], tuple):  # AF_UNIX addresses are str or bytes
            self._check(event, args[1][0])

    def _check(self, event: str, host: Any) -> None:
        if self.loopback and is_loopback(host):
            return
        what = f"{event} to {host!r} in {self.test}"
        self.refused.append(what)
        raise NetworkBlockedError(f"no network in tests: {what}; use a server on 127.0.0.1 or a scripted endpoint")


GUARD = Guard()
