"""Branches whose model is a script: the real Branch, the real iModel, no model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lionagi._errors import short_repr
from lionagi.ln.clock import NoWaitClock
from lionagi.service.imodel import iModel
from lionagi.session.branch import Branch

from ._endpoint import ScriptedEndpoint
from ._env import DEFAULT_SCRIPTED_MODEL, SCRIPTED_PROVIDER
from ._script import ScriptModel
from ._types import RecordedCall, ResponseEntry

__all__ = ("TestBranch", "scripted_imodel")


def scripted_imodel(script: Any, *, model: str = DEFAULT_SCRIPTED_MODEL, **imodel_kwargs: Any) -> iModel:
    """Return an iModel on the scripted endpoint, found through the registry.

    Args:
        script: Whatever ``ScriptModel.coerce`` takes; a ScriptModel is copied.
        model: The model name that calls are sent with.
        **imodel_kwargs: Passed to iModel.
    """
    return iModel(provider=SCRIPTED_PROVIDER, endpoint="chat", model=model, script=script, **imodel_kwargs)


_NO_WAIT = NoWaitClock()


class TestBranch:
    """Factories of plain Branches that answer from a script, and access to what those recorded.

    Chat and parse model are one iModel; its clock never waits, so that pauses between reformatting attempts and
    scripted delays cost a test nothing.
    """

    __test__ = False

    @staticmethod
    def from_script(
        script: Any,
        *,
        model: str = DEFAULT_SCRIPTED_MODEL,
        name: str = "TestBranch",
        user: str = "tester",
        tools: Any = None,
        system: Any = None,
        **branch_kwargs: Any,
    ) -> Branch:
        """Return a Branch on a script: anything that ``ScriptModel.coerce`` takes. Further keywords are Branch's."""
        imodel = scripted_imodel(script, model=model, clock=_NO_WAIT)
        given = {"name": name, "user": user, "tools": tools, "system": system, **branch_kwargs}
        return Branch(chat_model=imodel, parse_model=imodel, **given)

    @staticmethod
    def from_responses(responses: Sequence[dict[str, Any] | ResponseEntry], **kwargs: Any) -> Branch:
        """Return a Branch on a list of entries; ``kwargs`` are those of ``from_script``."""
        return TestBranch.from_script(list(responses), **kwargs)

    @staticmethod
    def from_text(text: str | list[str], **kwargs: Any) -> Branch:
        """Return a Branch that answers with a text, or with one text after another."""
        texts = [text] if isinstance(text, str) else text
        return TestBranch.from_script([{"type": "text", "content": each} for each in texts], **kwargs)

    @staticmethod
    def from_yaml(path: str | Path, **kwargs: Any) -> Branch:
        """Return a Branch on a YAML script, whatever the file's suffix."""
        return TestBranch.from_script(ScriptModel.from_yaml(path), **kwargs)

    @staticmethod
    def from_json(path: str | Path, **kwargs: Any) -> Branch:
        """Return a Branch on a JSON script, whatever the file's suffix."""
        return TestBranch.from_script(ScriptModel.from_json(path), **kwargs)

    @staticmethod
    def scripted(branch: Branch) -> ScriptedEndpoint:
        """Return the branch's scripted endpoint.

        Raises:
            TypeError: The branch asks another endpoint; a shared test must not reach a provider by accident.
        """
        endpoint = branch.chat_model.endpoint
        if not isinstance(endpoint, ScriptedEndpoint):
            raise TypeError(
                f"the chat model's endpoint is {short_repr(endpoint)}, not ScriptedEndpoint; "
                "make the branch with TestBranch or scripted_imodel"
            )
        return endpoint

    @staticmethod
    def calls(branch: Branch) -> list[RecordedCall]:
        """Return the calls that the branch's model served so far, in the order of their start."""
        return TestBranch.scripted(branch).calls

    @staticmethod
    def unused_entries(branch: Branch) -> list[tuple[int, ResponseEntry]]:
        """Return index and entry of whatever the branch's script has not served yet."""
        return TestBranch.scripted(branch).script.unused_entries()

    @staticmethod
    def assert_exhausted(branch: Branch) -> None:
        """Check that the branch's script was served to its last entry.

        Raises:
            AssertionError: It was not; the message lists what was never used.
        """
        if unused := TestBranch.unused_entries(branch):
            calls = TestBranch.scripted(branch).served
            shown = "\n".join(f"  {index} {_shown(entry)}" for index, entry in unused)
            raise AssertionError(f"{len(unused)} entries of the script were not used in {calls} calls:\n{shown}")

    @staticmethod
    def attach_script(branch: Branch, script: Any) -> None:
        """Serve another script from its start; the recorded calls stay."""
        TestBranch.scripted(branch).attach_script(script)


def _shown(entry: ResponseEntry) -> str:
    fields = entry.model_dump(exclude_defaults=True, exclude={"type", "recording"})
    return f"{entry.type} {short_repr(fields, 100)}"
