"""Server-sent events: from bytes, however they were cut, to the data of whole events."""

from __future__ import annotations

from lionagi._errors import ProviderResponseError

__all__ = ("DONE", "EventParser")

DONE = "[DONE]"


class EventParser:
    """Collects bytes and gives back the data of each event that is complete.

    Lines may end in LF, CR or CRLF and be cut anywhere; each byte is looked at a fixed number of times. Comments and
    fields other than ``data`` are skipped. ``[DONE]`` counts as soon as its line ends, since some servers then keep the
    connection open without the blank line that should follow.

    Args:
        limit: Bytes that one event may have; a longer one is a ProviderResponseError.
        provider: Named in that error.
    """

    __slots__ = ("_after_cr", "_data", "_held", "_limit", "_line", "_provider")

    def __init__(self, limit: int, provider: str) -> None:
        self._limit = limit
        self._provider = provider
        self._line = bytearray()
        self._data: list[bytes] = []
        self._held = 0
        self._after_cr = False

    def feed(self, received: bytes) -> list[str]:
        """Take the next bytes and return the data of the events that they complete."""
        if self._after_cr and received:
            received = received.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in received:
            self._after_cr = received.endswith(b"\r")
            received = received.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = received.split(b"\n")
        events: list[str] = []
        for line in lines:
            if self._line:
                self._line += line
                line = bytes(self._line)
                self._line.clear()
            self._take(line, events)
        self._line += rest
        self._check(len(self._line))
        return events

    def end(self) -> list[str]:
        """Return the events that the end of the body completes; a line that was cut off is not one of them."""
        events: list[str] = []
        if bytes(self._line).replace(b" ", b"") == b"data:[DONE]":
            events.append(DONE)
        elif not self._line:
            self._take(b"", events)
        return events

    def _take(self, line: bytes, events: list[str]) -> None:
        if not line:
            if self._data:
                events.append(b"\n".join(self._data).decode("utf-8", "replace"))
                self._data.clear()
                self._held = 0
            return
        name, _, value = line.partition(b":")
        if name.removeprefix(b"\xef\xbb\xbf") != b"data":
            return
        value = value.removeprefix(b" ")
        if value == b"[DONE]" and not self._data:
            events.append(DONE)
            return
        self._data.append(value)
        self._held += len(value)
        self._check(0)

    def _check(self, more: int) -> None:
        if self._held + more > self._limit:
            raise ProviderResponseError(
                f"{self._provider} sent one event of more than {self._limit} bytes; it was not read further "
                "(max_response_bytes)",
                provider=self._provider,
            )
