"""Session: several branches that share an observer, a gate, hooks and named operations."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from pydantic import PrivateAttr

from lionagi._errors import ConfigurationError, ExistsError, NotFoundError, OperationError, short_repr
from lionagi.hooks.bus import HookBus
from lionagi.operations.act._gate import Gate
from lionagi.protocols.control import ToolInvocation
from lionagi.protocols.generic.element import Element
from lionagi.protocols.generic.pile import Pile
from lionagi.session.branch import Branch
from lionagi.session.observer import SessionObserver

__all__ = ("Session",)

AsyncOperation = Callable[..., Awaitable[Any]]


class Session(Element):
    """Branches under one observer.

    Args:
        name: A name for people.
        default_branch: The first branch; a new one when omitted.
    """

    name: str | None = None
    _branches: Pile[Branch] = PrivateAttr()
    _default: Branch = PrivateAttr()
    _observer: SessionObserver = PrivateAttr(default_factory=SessionObserver)
    _hooks: HookBus = PrivateAttr(default_factory=HookBus)
    _operations: dict[str, AsyncOperation] = PrivateAttr(default_factory=dict)

    def __init__(self, *, name: str | None = None, default_branch: Branch | None = None, **fields: Any) -> None:
        own: dict[str, Any] = {"name": name, **fields}
        super().__init__(**own)
        self._branches = Pile(item_type=Branch)
        self._default = default_branch if default_branch is not None else Branch()
        self.include_branches(self._default)

    @property
    def branches(self) -> Pile[Branch]:
        """All branches, in the order in which they came."""
        return self._branches

    @property
    def default_branch(self) -> Branch:
        """The branch that is meant where none is named."""
        return self._default

    @property
    def observer(self) -> SessionObserver:
        """Shows the branches' events and asks the gate."""
        return self._observer

    @property
    def hooks(self) -> HookBus:
        """The hooks of all branches."""
        return self._hooks

    def new_branch(self, **fields: Any) -> Branch:
        """Make a branch of ``Branch``'s arguments and include it."""
        branch = Branch(**fields)
        self.include_branches(branch)
        return branch

    def include_branches(self, branches: Branch | Iterable[Branch]) -> None:
        """Take branches in; they get this session's observer and hooks."""
        for branch in [branches] if isinstance(branches, Branch) else list(branches):
            self._branches.include(branch)
            branch.join(self._observer, self._hooks, self._operations)

    def get_branch(self, branch: Any, default: Any = ...) -> Branch:
        """Return a branch by id, name or itself.

        Raises:
            NotFoundError: There is none and no default was given.
        """
        for known in self._branches:
            if known is branch or known.name == branch or str(known.id) == str(branch):
                return known
        if default is not ...:
            return default
        raise NotFoundError(f"The session has no branch {short_repr(branch)}.")

    def remove_branch(self, branch: Any) -> Branch:
        """Let a branch go; it stands alone afterwards. The default branch has to be changed first."""
        found = self.get_branch(branch)
        if found is self._default:
            raise ConfigurationError("The default branch cannot be removed; use change_default_branch() first.")
        self._branches.remove(found)
        found.leave()
        return found

    def change_default_branch(self, branch: Any) -> None:
        """Make another of the branches the default one."""
        self._default = self.get_branch(branch)

    def split(self, branch: Any = None) -> Branch:
        """Clone a branch, the default one when omitted, and include the clone."""
        twin = (self._default if branch is None else self.get_branch(branch)).clone()
        self.include_branches(twin)
        return twin

    def observe(self, *conditions: Any, handler: Any = None) -> Any:
        """Register a handler for events; see :meth:`SessionObserver.observe`."""
        return self._observer.observe(*conditions, handler=handler)

    def gate(self, check: Gate) -> Gate:
        """Ask ``check`` before each tool call; a branch's own gate has to allow it as well."""
        return self._observer.gate(check)

    async def authorize(self, action: ToolInvocation) -> bool:
        """Return whether the session's gate allows a tool call."""
        return await self._observer.authorize(action)

    async def emit(self, event: Any) -> list[Any]:
        """Show an event to the handlers."""
        return await self._observer.emit(event)

    def register_operation(self, name: str, operation: AsyncOperation, *, update: bool = False) -> None:
        """Name an asynchronous function ``operation(branch, **kwargs)``.

        Raises:
            ConfigurationError: It is not asynchronous.
            ExistsError: The name is taken and ``update`` is false.
        """
        if not inspect.iscoroutinefunction(operation):
            raise ConfigurationError(f"An operation is an async function; got {short_repr(operation)}.")
        if name in self._operations and not update:
            raise ExistsError(f"There is an operation {name!r} already; use update=True to replace it.")
        self._operations[name] = operation

    async def run_operation(self, name: str, *, branch: Any = None, **kwargs: Any) -> Any:
        """Run a verb of the branch or, where it has none of that name, a named operation.

        Returns:
            What it returns; for ``run`` the stream of its messages.

        Raises:
            OperationError: There is neither.
        """
        target = self._default if branch is None else self.get_branch(branch)
        operation = target.get_operation(name)
        if operation is None:
            known = ", ".join(sorted(self._operations)) or "none"
            raise OperationError(f"Unknown operation {name!r} (named operations: {known}).")
        answer = operation(**kwargs)
        return await answer if inspect.isawaitable(answer) else answer
