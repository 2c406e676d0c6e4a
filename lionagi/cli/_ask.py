"""One question to a model, from the branch to the outcome, however it ends."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import signal
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from lionagi._errors import ExecutionError, LionError, TimeoutError
from lionagi.cli._entry import EXIT_CODES
from lionagi.cli._output import log_warning, waiting
from lionagi.cli._saved import load_branch, save_branch
from lionagi.ln.trace import trace
from lionagi.operations.run.run import run_and_collect
from lionagi.service.types import StreamChunk
from lionagi.session.branch import Branch

__all__ = ("AgentOutcome", "AgentTask", "ask", "run_async")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AgentTask:
    """What is asked of whom.

    Attributes:
        prompt: The instruction, the form's block included.
        model: Its name; None for the saved branch's model, else the one that ``Branch()`` takes.
        system: A system message, None to leave it.
        timeout: Seconds for the whole turn, None for no limit.
        resume: The id of a saved branch, "" for the last one, None for a new branch.
        cwd: Where the turn runs, None for the present directory.
        save: Whether the branch is kept for resuming.
        on_text: Gets the answer's text as it arrives; None asks without a stream.
    """

    prompt: str
    model: str | None = None
    system: str | None = None
    timeout: float | None = None
    resume: str | None = None
    cwd: str | None = None
    save: bool = True
    on_text: Callable[[str], None] | None = None


@dataclass(slots=True)
class AgentOutcome:
    """How it ended. ``answer`` is what had arrived where it did not end well; ``seconds`` is the turn's wall time."""

    status: Literal["completed", "failed", "timed_out", "aborted", "terminated"] = "completed"
    answer: str | None = None
    error: str | None = None
    branch_id: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: dict[str, int] = field(default_factory=dict[str, int])
    seconds: float = 0.0
    saved: str | None = None
    outline: str = ""

    @property
    def exit_code(self) -> int:
        """The exit status that says how it ended."""
        return EXIT_CODES[self.status]

    def to_dict(self, resume: str | None) -> dict[str, Any]:
        """Return what ``--json`` prints; ``resume`` is the command that goes on with the branch."""
        shown = {name: getattr(self, name) for name in self.__slots__ if name != "outline"}
        return {**shown, "exit_code": self.exit_code, "resume": resume}


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop of its own.

    Raises:
        KeyboardInterrupt: On SIGINT, after the coroutine was cancelled.
        SystemExit: On SIGTERM, likewise, with status 143.
    """
    stopped: list[int] = []

    async def watched() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            stopped.append(EXIT_CODES["terminated"])
            if task is not None:
                task.cancel()

        # only the main thread of a POSIX system can do that; elsewhere the signal ends the process as it always does
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
            loop.add_signal_handler(signal.SIGTERM, stop)
        try:
            return await work
        finally:
            with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
                loop.remove_signal_handler(signal.SIGTERM)

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        if stopped:
            raise SystemExit(stopped[0]) from None
        raise


async def ask(task: AgentTask) -> AgentOutcome:
    """Put the prompt to the branch through ``Branch.operate`` and return how that ended; errors become the outcome."""
    outcome, ear, started = AgentOutcome(), _Ear(task.on_text), time.monotonic()
    try:
        branch = _branch_for(task)
        await _turn(branch, task, ear, outcome)
    except Exception as error:
        if ear.broken is not None:
            raise ear.broken from None
        outcome.status = "timed_out" if _is_timeout(error) else "failed"
        outcome.error = _words(error)
        outcome.answer = "".join(ear.heard) or None
    else:
        if task.save:
            _save(branch, outcome)
    outcome.seconds = round(time.monotonic() - started, 3)
    return outcome


def _branch_for(task: AgentTask) -> Branch:
    if task.resume is None:
        return Branch(chat_model=task.model, system=task.system)
    branch = load_branch(task.resume or None)
    if task.model is not None:
        branch.chat_model = task.model
    if task.system is not None:
        branch.msgs.set_system(branch.msgs.create_system(system=task.system, recipient=branch.id))
    return branch


class _Ear:
    """Keeps the text of a stream as it arrives, so that what had come is not lost when the turn fails."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self.heard: list[str] = []
        self.broken: OSError | None = None
        self._on_text = on_text

    def hear(self, chunk: StreamChunk) -> None:
        """Take one chunk."""
        if chunk.type != "text" or not chunk.content:
            return
        self.heard.append(chunk.content)
        if self._on_text is not None:
            try:
                self._on_text(chunk.content)
            except OSError as error:  # our own output is gone, which the verbs would report as the model's failure
                self.broken = error
                raise


async def _turn(branch: Branch, task: AgentTask, ear: _Ear, outcome: AgentOutcome) -> None:
    model = branch.chat_model
    model.streaming_process_func = ear.hear
    # looked up before the directory changes, since scripts and recordings may be named relative to the present one
    outcome.provider, outcome.model, outcome.branch_id = model.provider, model.model_name, str(branch.id)
    with trace() as seen, contextlib.chdir(task.cwd or "."):
        try:
            answer = await _within_time(branch, task, outcome.model or outcome.provider)
        finally:
            outcome.outline, outcome.usage = seen.outline(), dict(model.usage)
            with contextlib.suppress(Exception):
                await model.close()
    if not answer:
        raise ExecutionError("the model gave an empty answer")
    outcome.answer = str(answer)


async def _within_time(branch: Branch, task: AgentTask, whom: str) -> Any:
    limit = asyncio.timeout(task.timeout)
    try:
        async with limit:
            if task.on_text is not None:
                return await branch.operate(instruction=task.prompt, middle=run_and_collect)
            with waiting(whom):
                return await branch.operate(instruction=task.prompt)
    except builtins.TimeoutError:
        if limit.expired():
            raise TimeoutError(f"no answer within {task.timeout:g} s; give a longer --timeout") from None
        raise


def _is_timeout(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, builtins.TimeoutError):
            return True
        error = error.__cause__
    return False


def _words(error: Exception) -> str:
    text = str(error)
    return text if isinstance(error, LionError) and text else f"{type(error).__name__}: {text}"


def _save(branch: Branch, outcome: AgentOutcome) -> None:
    try:
        outcome.saved = str(save_branch(branch))
    except (OSError, ValueError) as error:
        log_warning(f"the branch is not saved, so that it cannot be resumed: {error}")
