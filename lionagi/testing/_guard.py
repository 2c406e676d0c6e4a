"""Keeping real models out of a test."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from lionagi._errors import RealModelCallError
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.replay import call_guards

__all__ = ("ModelGuard",)


class ModelGuard:
    """Refuses every call that would leave this process, in all its threads, from the start of a block to its end.

    Attributes:
        test: The name that the errors tell.
        refused: One sentence per refused call, also of those whose error somebody swallowed.
    """

    def __init__(self, test: str) -> None:
        self.test = test
        self.refused: list[str] = []

    def __call__(self, endpoint: Endpoint) -> None:
        """Look at the endpoint of a call.

        Raises:
            RealModelCallError: It is neither scripted nor replayed.
        """
        if endpoint.in_process:
            return
        config = endpoint.config
        model = f" {config.kwargs['model']!r}" if config.kwargs.get("model") else ""
        said = (
            f"{self.test} asked a real model: {config.provider} {config.endpoint}{model}. Give the branch a script "
            "(TestBranch), the test a recording (@pytest.mark.lionagi_script), or take the guard away"
        )
        self.refused.append(said)
        raise RealModelCallError(said)

    def check(self) -> None:
        """Raise a RealModelCallError where a call was refused."""
        if self.refused:
            raise RealModelCallError(self.refused[0])

    def __enter__(self) -> Self:
        call_guards.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        call_guards.remove(self)
