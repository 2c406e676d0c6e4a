"""Context providers: what a branch's surroundings know, put before the model, and told what its tools returned."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from lionagi._errors import ConfigurationError, ExistsError, ValidationError, short_repr
from lionagi.hooks._patience import Patience
from lionagi.ln.trace import span
from lionagi.ln.types.records import Record

if TYPE_CHECKING:
    from lionagi.operations.fields import ActionResponseModel
    from lionagi.protocols.messages.instruction import Instruction
    from lionagi.session.branch import Branch

__all__ = ("ContextProvider", "ContextProviderRegistry", "ProviderReport")

_logger = logging.getLogger(__name__)
_CHARS_PER_TOKEN = 4
_NO_SYSTEM = "the branch has no system message"


class ContextProvider(Protocol):
    """Knows something that may help a model, such as a memory or an index.

    It may also have ``writeback(branch, action_responses) -> int | None``, which hears of the tool responses of a turn
    and returns how many it kept. Both may be plain functions, which are called in a thread.
    """

    async def provide(self, branch: Branch, instruction: Instruction) -> str | None:
        """Return a text for this one call, None or "" for nothing.

        Args:
            branch: Which conversation asks; its history does not hold the instruction yet.
            instruction: What is about to be sent.
        """
        ...


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ProviderReport(Record):
    """What became of the providers in one call.

    Attributes:
        injected: Names of those whose text was sent, in the order of registration.
        skipped: Why the text of others was not sent, by name; those that had nothing to say are not listed.
        failed: Names of those that raised, hung, or returned something other than text.
    """

    injected: tuple[str, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    failed: tuple[str, ...] = ()


class _Entry:
    """A registered provider; its methods are kept, so that each is one object however often it is called."""

    __slots__ = ("max_tokens", "name", "priority", "provide", "provider", "writeback")

    def __init__(self, provider: Any, name: str, priority: int, max_tokens: int | None) -> None:
        self.provider = provider
        self.name = name
        self.priority = priority
        self.max_tokens = max_tokens
        self.provide: Callable[..., Any] = provider.provide
        self.writeback: Callable[..., Any] | None = getattr(provider, "writeback", None)


class ContextProviderRegistry:
    """The context providers of one branch.

    Before each call of chat, communicate, run, operate and interpret they are asked one after the other, and their
    texts follow the system message of that call. Nothing of it enters the history. Without a system message nobody is
    asked. A provider that fails or hangs is logged once and never breaks a call; one that hung is not asked again.

    Args:
        budget: Tokens that all texts of one call may take together, those of the highest priority first. A token is
            counted as four characters.
        deadline: Seconds that one provider may take.

    Attributes:
        last_report: What became of the providers in the last call, None before the first.
        stats: Counts since the beginning: ``recall_turns``, ``blocks_injected``, ``failed``, ``degraded_turns`` (calls
            in which a text was missing), ``writeback_records`` and ``writeback_failed``.
    """

    def __init__(self, budget: int = 2000, *, deadline: float = 10.0) -> None:
        self.budget = budget
        self.deadline = deadline
        self.last_report: ProviderReport | None = None
        self.stats = dict.fromkeys(
            ("recall_turns", "blocks_injected", "failed", "degraded_turns", "writeback_records", "writeback_failed"), 0
        )
        self._entries: list[_Entry] = []
        self._patience = Patience(_logger)
        self._said_skipped = False

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def names(self) -> list[str]:
        """The names of the providers, in the order of registration."""
        return [entry.name for entry in self._entries]

    def register(
        self, provider: Any, *, priority: int = 0, max_tokens: int | None = None, name: str | None = None
    ) -> str:
        """Add a provider and return its name.

        Args:
            provider: See :class:`ContextProvider`.
            priority: Higher ones keep their place where the budget is short.
            max_tokens: A longer text of this provider is left out.
            name: For reports; the class's name when omitted.

        Raises:
            ConfigurationError: It has no ``provide``.
            ExistsError: The name is taken.
        """
        if not callable(getattr(provider, "provide", None)):
            raise ConfigurationError(f"{short_repr(provider)} is no context provider: it has no provide()")
        name = name or type(provider).__name__
        if name in self.names:
            raise ExistsError(f"There is a context provider {name!r} already; give this one a name of its own.")
        self._entries.append(_Entry(provider, name, priority, max_tokens))
        return name

    def unregister(self, name: str) -> bool:
        """Remove a provider by name; return whether it was there."""
        kept = [entry for entry in self._entries if entry.name != name]
        found = len(kept) != len(self._entries)
        self._entries = kept
        return found

    async def gather(self, branch: Branch, instruction: Instruction) -> str:
        """Return the texts for one call, joined by blank lines, "" for none; ``last_report`` says what became of each.

        Args:
            branch: The branch that is about to ask.
            instruction: What is about to be sent; not changed.
        """
        if branch.system is None:
            return self._skip_all()
        with span("context") as step:
            texts: dict[str, str] = {}
            failed: list[str] = []
            for entry in list(self._entries):
                answer = await self._patience.call(entry.provide, branch, instruction, deadline=self.deadline)
                if not answer or not self._is_text(entry, answer[0]):
                    failed.append(entry.name)
                elif answer[0]:
                    texts[entry.name] = answer[0]
            skipped = self._over_budget(texts)
            injected = tuple(name for name in texts if name not in skipped)
            self._report(ProviderReport(injected, skipped, tuple(failed)))
            step.set(injected=list(injected), skipped=list(skipped), failed=failed)
        return "\n\n".join(texts[name] for name in injected)

    def _is_text(self, entry: _Entry, answer: Any) -> bool:
        if answer is None or isinstance(answer, str):
            return True
        problem = f"context provider {entry.name!r} returned {short_repr(answer)}, which is no text"
        self._patience.note(entry.provide, ValidationError(problem))
        return False

    def _skip_all(self) -> str:
        self.last_report = ProviderReport(skipped=dict.fromkeys(self.names, _NO_SYSTEM))
        if self._entries and not self._said_skipped:
            self._said_skipped = True
            _logger.warning("context providers are not asked: %s", _NO_SYSTEM)
        return ""

    def _over_budget(self, texts: dict[str, str]) -> dict[str, str]:
        """Return why texts have to be left out, by name."""
        skipped: dict[str, str] = {}
        left = self.budget
        for entry in sorted(self._entries, key=lambda entry: -entry.priority):
            if entry.name not in texts:
                continue
            size = -(-len(texts[entry.name]) // _CHARS_PER_TOKEN)
            if entry.max_tokens is not None and size > entry.max_tokens:
                skipped[entry.name] = f"{size} tokens are more than its own {entry.max_tokens}"
            elif size > left:
                skipped[entry.name] = f"{size} tokens do not fit into the {left} that are left of {self.budget}"
            else:
                left -= size
        return skipped

    def _report(self, report: ProviderReport) -> None:
        self.last_report = report
        self.stats["recall_turns"] += 1
        self.stats["blocks_injected"] += len(report.injected)
        self.stats["failed"] += len(report.failed)
        self.stats["degraded_turns"] += bool(report.failed or report.skipped)

    async def gather_writeback(self, branch: Branch, responses: Sequence[ActionResponseModel]) -> int:
        """Offer the tool responses of a turn to every provider that has ``writeback``; return how many were kept.

        Args:
            branch: Whose turn it was.
            responses: Denials and failures included. Each provider gets a list of its own.
        """
        kept = 0
        for entry in list(self._entries):
            if entry.writeback is None:
                continue
            answer = await self._patience.call(entry.writeback, branch, list(responses), deadline=self.deadline)
            if not answer:
                self.stats["writeback_failed"] += 1
            elif isinstance(answer[0], int):
                kept += answer[0]
        self.stats["writeback_records"] += kept
        return kept
