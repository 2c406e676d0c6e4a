"""Found on the path of a kernel that replays a notebook: refuses every socket, those of this machine included."""

from __future__ import annotations

from support.guard import GUARD

GUARD.begin("this kernel, which must answer from its recording")
GUARD.loopback = False
