"""Copies of a branch, in memory and as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lionagi._errors import ValidationError, short_repr
from lionagi.operations._turn import UNDER_WAY, blocks_under_way
from lionagi.protocols.generic.element import ID
from lionagi.protocols.generic.pile import Pile
from lionagi.protocols.messages.system import System
from lionagi.service.imodel import iModel

if TYPE_CHECKING:
    from lionagi.session.branch import Branch

__all__ = ("clone_branch", "logs_of", "model_of", "operation_of", "parts_of", "restore_branch", "snapshot_of")

B = TypeVar("B", bound="Branch")


def clone_branch(branch: Branch, sender: Any = None) -> Branch:
    """Return a branch with copies of the messages and the same tools and gate; see ``Branch.clone``."""
    if sender is not None and not ID.is_id(sender):
        raise ValueError(f"{short_repr(sender)} is not a valid sender ID.")
    chat = branch.chat_model.copy() if branch.chat_model.is_cli else branch.chat_model
    parse_with = chat if branch.parse_model is branch.chat_model else branch.parse_model
    twin = type(branch)(user=branch.user, name=branch.name, chat_model=chat, parse_model=parse_with)
    twin.metadata["clone_from"] = {"id": str(branch.id), "user": branch.user, "created_at": branch.created_at}
    for message in branch.messages:
        copied = message.clone()
        copied.sender, copied.recipient = sender or branch.id, twin.id
        if isinstance(copied, System):
            twin.msgs.set_system(copied)
        else:
            twin.messages.append(copied)
    twin.register_tools(list(branch.tools.values()))
    twin.gate = branch.gate
    return twin


def snapshot_of(branch: Branch) -> dict[str, Any]:
    """Return the branch as JSON data with the exchanges that are under way at its end; see ``Branch.snapshot``."""
    data = branch.to_dict("json")
    data["metadata"].pop(UNDER_WAY, None)
    for block in blocks_under_way(branch):
        first, *more = [message.to_dict("json") for message in block]
        data["metadata"].setdefault(UNDER_WAY, {})[first["id"]] = [each["id"] for each in more]
        data["messages"]["collections"] += [first, *more]
        data["messages"]["progression"]["order"] += [each["id"] for each in (first, *more)]
    return data


def parts_of(branch: Branch) -> dict[str, Any]:
    """Return what a branch holds beyond its fields: messages, models, the system message."""
    data: dict[str, Any] = {
        "messages": branch.messages.to_dict("json"),
        "chat_model": branch.chat_model.to_dict(),
    }
    if branch.parse_model is not branch.chat_model:
        data["parse_model"] = branch.parse_model.to_dict()
    if branch.system is not None:
        data["system"] = branch.system.to_dict("json")
    return data


def logs_of(branch: Branch) -> dict[str, Any]:
    """Return ``{"logs": ...}``, empty where there are none."""
    return {"logs": branch.logs.to_dict("json")} if len(branch.logs) else {}


def operation_of(
    branch: Branch, name: str, named: Mapping[str, Callable[..., Any]] | None
) -> Callable[..., Any] | None:
    """Return the branch's public method of that name, else the named operation with the branch filled in, else None."""
    method = None if name.startswith("_") else getattr(branch, name, None)
    if callable(method):
        return method
    return partial(named[name], branch) if named and name in named else None


def model_of(model: iModel | dict[str, Any] | str) -> iModel:
    """Return a model from itself, its name or its ``to_dict``."""
    if isinstance(model, iModel):
        return model
    if isinstance(model, str):
        return iModel(model)
    if isinstance(model, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        return iModel.from_dict(model)
    raise ValidationError(f"a model is an iModel, its name or its to_dict(); got {short_repr(model)}")


def restore_branch(kind: type[B], data: dict[str, Any]) -> B:
    """Return the branch that :func:`parts_of` and the branch's fields describe."""
    data = dict(data)
    system = data.pop("system", None)
    messages: Pile[Any] = Pile[Any].from_dict(data.pop("messages"))
    models = {name: model_of(data.pop(name)) if name in data else None for name in ("chat_model", "parse_model")}
    logs: Any = data.pop("logs", None)
    data.pop("log_config", None)  # data of earlier systems has it
    branch = kind(messages=messages, logs=None if logs is None else Pile[Any].from_dict(logs), **models, **data)
    if system is not None:
        branch.msgs.set_system(branch.messages[system["id"]])
    return branch
