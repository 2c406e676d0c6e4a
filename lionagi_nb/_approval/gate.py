"""The gate that asks a person."""

from __future__ import annotations

import time
from typing import Any, cast

from lionagi._errors import ConfigurationError, short_repr
from lionagi.protocols.control import ToolInvocation
from lionagi_nb import _approval
from lionagi_nb._front import why_nobody_can_answer
from lionagi_nb._json import freeze, thaw
from lionagi_nb._scripted import scripted_answer

from .view import ApprovalView

__all__ = ("Approval", "approval")

_GRACE = 5.0  # seconds: the question ends by itself first, so that it can say how


class Approval:
    """A gate for ``branch.gate``: the person at the notebook allows or denies each tool call.

    Attributes:
        timeout: Seconds until an unanswered question is a no.
        deadline: Seconds after which the branch would stop waiting for this gate: a little more.
        history: How the questions ended, oldest first.
    """

    __name__ = "approval"

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.deadline = timeout + _GRACE
        self.history: list[ApprovalView] = []

    async def __call__(self, invocation: ToolInvocation) -> bool | str:
        """Return True for a yes, the reason for a no.

        Raises:
            ConfigurationError: Nobody can be asked here and no script answers; the gate's caller denies.
        """
        arguments = freeze(invocation.arguments)  # what is shown cannot change under the person's eyes
        if (why := why_nobody_can_answer()) is None:
            return await self._ask(invocation.function, arguments)
        scripted, answer = scripted_answer(invocation.function)
        if not scripted:
            raise ConfigurationError(f"nobody was asked: {why}")
        allowed, reason = _read(invocation.function, answer)
        return self._end(ApprovalView(invocation.function, arguments, _verdict(allowed), "script", reason))

    async def _ask(self, function: str, arguments: str) -> bool | str:
        import asyncio

        import IPython.display

        loop = asyncio.get_running_loop()
        answered: asyncio.Future[tuple[bool, str]] = loop.create_future()

        def settle(allowed: bool, reason: str) -> None:
            if not answered.done():
                answered.set_result((allowed, reason))

        def on_answer(allowed: bool, reason: str) -> None:
            # The kernel may deliver a click on another thread than the loop's.
            loop.call_soon_threadsafe(settle, allowed, reason)

        held = thaw(arguments)
        shown = cast("dict[str, Any]", held) if isinstance(held, dict) else {"": held}
        widget = _approval.question(function, shown, self.timeout, on_answer)
        handle: Any = cast("Any", IPython.display).display(widget, display_id=True)
        began = time.monotonic()
        verdict, why = "cancelled", ""
        try:
            async with asyncio.timeout(self.timeout):
                allowed, reason = await answered
            verdict, why = _verdict(allowed), "" if allowed else reason
        except TimeoutError:
            verdict, why = "no answer", f"no answer in {self.timeout:g} s"
        finally:
            took = time.monotonic() - began
            ended = ApprovalView(function, arguments, verdict, "you", why, took)
            said = self._end(ended)
            widget.close()
            handle.update(ended)
        return said

    def _end(self, view: ApprovalView) -> bool | str:
        self.history.append(view)
        return view.verdict == "approved" or view.reason or "the person said no"


def _verdict(allowed: bool) -> str:
    return "approved" if allowed else "denied"


def _read(function: str, answer: Any) -> tuple[bool, str]:
    if isinstance(answer, bool):
        return answer, ""
    if isinstance(answer, str) and answer:
        return False, answer
    raise ConfigurationError(
        f"the scripted answer for {function!r} must be True, False or the reason for a no, not {short_repr(answer)}"
    )


def approval(timeout: float = 300.0) -> Approval:
    """Return a gate that asks the person at the notebook before each tool call: ``branch.gate = approval()``.

    The question shows the arguments that will be used. What is approved runs once; no answer in `timeout` seconds is a
    no, and so is a place where nobody can be asked. In tests `scripted_input` answers.

    Raises:
        ValueError: `timeout` is not a positive number of seconds.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"timeout must be a positive number of seconds, not {short_repr(timeout)}")
    return Approval(float(timeout))
