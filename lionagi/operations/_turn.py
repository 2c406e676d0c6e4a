"""One turn of a branch: the history it sees, the messages it adds, and where they go.

Turns that overlap on one branch do not see each other's messages, and each turn's messages stand together in the
history: the exchange is inserted as one block, and what the turn adds later (its action pairs) follows its own block.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from uuid import UUID, uuid4

if TYPE_CHECKING:
    from lionagi.protocols.messages.message import Message
    from lionagi.session.branch import Branch

__all__ = ("UNDER_WAY", "Turn", "UnderWay", "blocks_under_way", "in_middle", "turn_for", "under_way")

# The key of a snapshot's metadata that names the exchanges under way: {instruction's id: [ids of what it got so far]}.
UNDER_WAY = "under_way"

_middle_turn: ContextVar[Turn | None] = ContextVar("lionagi_middle_turn", default=None)


class UnderWay(Protocol):
    """An exchange that has been asked and is not in the history yet."""

    branch: Branch

    def so_far(self) -> list[Message]:
        """Return its messages so far, the instruction first."""
        ...


# All exchanges under way in this process, oldest first. Not on the branch: each of many idle ones would carry it.
under_way: dict[UnderWay, None] = {}


def blocks_under_way(branch: Branch) -> list[list[Message]]:
    """Return, for each exchange of the branch that is under way, its messages so far."""
    return [exchange.so_far() for exchange in list(under_way) if exchange.branch is branch]


@dataclass(slots=True, eq=False, repr=False)
class Turn:
    """A turn in progress.

    Attributes:
        branch: The branch it belongs to.
        verb: The public verb that began it.
        history: Ids of the messages in force when it began, in order.
        own: Messages it has recorded so far, in order.
        max_tool_calls: Accepted tool calls allowed in this turn.
        tool_calls: Tool calls accepted so far.
        save: Called after messages were recorded, where the turn is being persisted.
    """

    branch: Branch
    verb: str
    history: list[UUID]
    id: str = field(default_factory=lambda: uuid4().hex)
    own: list[Message] = field(default_factory=list["Message"])
    max_tool_calls: int = 64
    tool_calls: int = 0
    save: Callable[[], object] | None = None

    @property
    def calls_left(self) -> int:
        """Tool calls that this turn may still accept."""
        return max(0, self.max_tool_calls - self.tool_calls)

    def ids(self) -> list[UUID]:
        """Return the ids of the history and of this turn's own messages, in order."""
        return [*self.history, *(message.id for message in self.own)] if self.own else self.history

    async def record(self, messages: Sequence[Message]) -> None:
        """Put ``messages`` into the branch's history as one block, behind what this turn recorded before."""
        if not messages:
            return
        after = self.own[-1].id if self.own else None
        self.own.extend(messages)
        try:
            await self.branch.msgs.add_block(messages, after=after)
        finally:
            if self.save is not None:
                self.save()

    def forget(self) -> None:
        """Begin again with an empty history: the branch's messages were cleared."""
        self.history = []
        self.own.clear()


def turn_for(branch: Branch, verb: str, max_tool_calls: int = 64) -> Turn:
    """Return the turn whose Middle is running on ``branch``, else a new one that starts from its present history."""
    turn = _middle_turn.get()
    if turn is not None and turn.branch is branch:
        return turn
    return Turn(branch, verb, branch.messages.keys(), max_tool_calls=max_tool_calls)


@contextmanager
def in_middle(turn: Turn) -> Generator[None]:
    """Let the verbs that a Middle calls on the turn's branch belong to this turn."""
    token = _middle_turn.set(turn)
    try:
        yield
    finally:
        _middle_turn.reset(token)
