"""What a person wrote, rewritten as a clear prompt for a model; the history stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lionagi.ln.trace import span
from lionagi.operations._turn import turn_for
from lionagi.operations.chat.chat import ask
from lionagi.operations.types import ChatParam, InterpretParam

if TYPE_CHECKING:
    from lionagi.service.imodel import iModel
    from lionagi.session.branch import Branch

__all__ = ("interpret", "prepare_interpret_kw")

_INSTRUCTION = (
    "Rewrite the user input in the context as a prompt for a language model. Keep what the user wants and every fact, "
    "name and number; say plainly what was vague, and add nothing that was not meant. Return the rewritten prompt "
    "alone, without an answer to it and without a remark about it."
)


def prepare_interpret_kw(
    branch: Branch,
    text: str,
    domain: str | None = None,
    style: str | None = None,
    interpret_model: iModel | None = None,
    *,
    sample_writing: str | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """Return the arguments of :func:`interpret` for the public call.

    Args:
        branch: Whose chat model is asked where none is given.
        text: What the user wrote.
        domain: The field it is about; "general" when omitted.
        style: How to write; "concise" when omitted.
        interpret_model: A model for this call.
        sample_writing: A text whose style is to be followed.
        **kwargs: Further options for the model; ``temperature`` is 0.1 when omitted.
    """
    return {
        "text": text,
        "interpret_param": InterpretParam(
            domain=domain or "general",
            style=style or "concise",
            sample_writing=sample_writing or "",
            imodel=interpret_model or branch.chat_model,
            imodel_kw={"temperature": 0.1, **kwargs},
        ),
    }


async def interpret(branch: Branch, text: str, interpret_param: InterpretParam) -> str:
    """Ask a model once to rewrite ``text`` and return what it wrote; nothing is recorded in the history.

    Raises:
        ExecutionError: The call failed.
    """
    guidance = f"Domain: {interpret_param.domain}. Style: {interpret_param.style}."
    if interpret_param.sample_writing:
        guidance += f" Write in the manner of this sample:\n{interpret_param.sample_writing}"
    param = ChatParam(
        guidance=guidance,
        context=[f"User input: {text}"],
        sender=branch.user or "user",
        recipient=branch.id,
        imodel=interpret_param.imodel,
        imodel_kw=interpret_param.imodel_kw,
    )
    with span("interpret", branch=branch.id, branch_name=branch.name):
        _, response = await ask(branch, _INSTRUCTION, param, turn_for(branch, "interpret"))
    return response.response
