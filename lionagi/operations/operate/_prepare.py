"""The public call of operate() resolved into typed parameters: one vocabulary and one rule of precedence."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from lionagi.ln.home import runs_dir
from lionagi.ln.types import Spec
from lionagi.models.field_model import FieldModel
from lionagi.operations._defaults import STANDARD_REMOVED_KWARGS, get_default_action_call, make_parse_param
from lionagi.operations._guards import reject_removed_kwargs
from lionagi.operations._policy import POLICIES, check_policy
from lionagi.operations.fields import Instruct
from lionagi.operations.types import (
    ActionParam,
    ChatParam,
    HandleValidation,
    Middle,
    ParseParam,
    RunParam,
    StructuredOutput,
)

if TYPE_CHECKING:
    from lionagi.ln.calls import AlcallParams
    from lionagi.operations.operate.operative import Operative
    from lionagi.operations.schema.structure import Structure
    from lionagi.service.imodel import iModel
    from lionagi.session.branch import Branch

__all__ = ("prepare_operate_kw",)

Strategy = Literal["sequential", "concurrent"]


def prepare_operate_kw(
    branch: Branch,
    *,
    instruct: Instruct | Mapping[str, Any] | None = None,
    instruction: Any = None,
    guidance: Any = None,
    context: Any = None,
    sender: Any = None,
    recipient: Any = None,
    progression: Any = None,
    chat_model: iModel | None = None,
    invoke_actions: bool = True,
    tool_schemas: list[dict[str, Any]] | None = None,
    images: list[Any] | None = None,
    image_detail: Literal["low", "high", "auto"] | None = None,
    parse_model: iModel | None = None,
    skip_validation: bool = False,
    handle_validation: HandleValidation = "return_value",
    tools: Any = None,
    operative: Operative | None = None,
    response_format: Any = None,
    actions: bool = False,
    reason: bool = False,
    call_params: AlcallParams | None = None,
    action_strategy: Strategy | None = "concurrent",
    verbose_action: bool = False,
    field_models: list[FieldModel | Spec] | None = None,
    include_token_usage_to_model: bool = False,
    clear_messages: bool = False,
    stream_persist: bool = False,
    persist_dir: str | None = None,
    snapshot_dir: str | None = None,
    middle: Middle | None = None,
    structure: Structure | None = None,
    structured_output: StructuredOutput = "auto",
    num_parse_retries: int | None = None,
    tool_timeout: float | None = None,
    max_tool_calls: int = 64,
    max_concurrent_tools: int = 16,
    **kwargs: Any,
) -> dict[str, Any]:
    """Return the typed arguments of :func:`operate` for the public call: a mapping of always the same 12 keys.

    The arguments are those of ``Branch.operate``. A caller's ``instruct`` is never changed; with one, the loose
    ``instruction``, ``guidance`` and ``context`` are ignored. ``operative`` is accepted and has no effect.

    Raises:
        TypeError: A removed keyword (``request_model``, ``operative_model``, ``imodel``).
        ValueError: An unknown ``handle_validation``.
    """
    if kwargs:
        reject_removed_kwargs(kwargs, STANDARD_REMOVED_KWARGS, where="operate")
    if handle_validation not in POLICIES:
        check_policy(handle_validation)
    _warn(kwargs, operative, instruct, action_strategy, skip_validation=skip_validation, actions=actions)
    plan = _read_instruct(instruct, instruction, guidance, context, reason=reason, actions=actions)
    model = chat_model or branch.chat_model
    chat = {
        "guidance": plan.guidance,
        "context": plan.context,
        "sender": sender or branch.user or "user",
        "recipient": recipient or branch.id,
        "response_format": response_format,
        "structure": structure,
        "progression": progression,
        "tool_schemas": tool_schemas,
        "images": images,
        "image_detail": image_detail,
        "include_token_usage_to_model": include_token_usage_to_model,
        "imodel": model,
        "imodel_kw": kwargs,
        "structured_output": structured_output,
    }
    parse_param = None
    has_format = response_format is not None or structure is not None
    # a format that is generated later takes what the caller said about reading it
    is_told = num_parse_retries is not None or parse_model is not None
    if not skip_validation and (has_format or (is_told and (plan.reason or plan.actions or field_models))):
        parse_param = _parse_defaults(num_parse_retries).with_updates(
            response_format=response_format, imodel=parse_model or model, structure=structure
        )
    action_param = None
    if invoke_actions and (plan.actions or actions):
        action_param = ActionParam(
            action_call_params=call_params or get_default_action_call(),
            tools=tools,
            strategy=action_strategy or plan.action_strategy or "concurrent",
            suppress_errors=True,
            verbose_action=verbose_action,
            tool_timeout=tool_timeout,
            max_tool_calls=max_tool_calls,
            max_concurrent_tools=max_concurrent_tools,
        )
    return {
        "instruction": plan.instruction,
        "chat_param": _chat_param(chat, model, stream_persist, persist_dir, snapshot_dir),
        "parse_param": parse_param,
        "action_param": action_param,
        "handle_validation": handle_validation,
        "invoke_actions": invoke_actions,
        "skip_validation": skip_validation,
        "clear_messages": clear_messages,
        "operative": None,
        "middle": middle,
        "field_models": field_models,
        "reason": plan.reason,
    }


@cache
def _parse_defaults(num_retries: int | None) -> ParseParam:
    return make_parse_param(None, None, num_retries=num_retries)


_HOMES = ("LIONAGI_HOME", "XDG_STATE_HOME", "HOME")


@cache
def _runs_dir(*_homes: str | None) -> Path:
    """Return the default directory, looked up once for each state of the variables that decide it."""
    return runs_dir()


def _chat_param(
    values: dict[str, Any], model: iModel, stream_persist: bool, persist_dir: Any, snapshot_dir: Any
) -> ChatParam:
    """Return a RunParam where the call streams or persists, else a ChatParam."""
    if not (model.is_cli or stream_persist or persist_dir is not None or snapshot_dir is not None):
        return ChatParam(**values)
    values["persist_dir"] = _runs_dir(*map(os.environ.get, _HOMES)) if persist_dir is None else persist_dir
    if snapshot_dir is not None:
        values["snapshot_dir"] = snapshot_dir
    return RunParam(**values, stream_persist=stream_persist)


def _read_instruct(
    instruct: Any, instruction: Any, guidance: Any, context: Any, *, reason: bool, actions: bool
) -> Instruct:
    """Return the Instruct of this call, a copy of the caller's own where there is one."""
    if instruct is None:
        return Instruct.model_construct(
            instruction=instruction,
            guidance=guidance,
            context=context,
            reason=reason or None,
            actions=actions or None,
            action_strategy=None,
        )
    if isinstance(instruct, Instruct):
        plan = instruct.model_copy() if reason or actions else instruct
    else:
        plan = Instruct(**instruct)
    if reason:
        plan.reason = True
    if actions:
        plan.actions = True
    return plan


def _warn(
    kwargs: dict[str, Any],
    operative: Any,
    instruct: Any,
    action_strategy: Strategy | None,
    *,
    skip_validation: bool,
    actions: bool,
) -> None:
    """Warn about arguments that have no effect; drop ``exclude_fields``."""
    if operative is not None:
        text = "operative= has no effect: use response_format= and field_models= to shape the result."
        warnings.warn(text, DeprecationWarning, stacklevel=4)
    if kwargs.pop("exclude_fields", None) is not None:
        warnings.warn("exclude_fields= has no effect and is dropped.", UserWarning, stacklevel=4)
    own = _reader(instruct)
    if skip_validation and (actions or own("actions")):
        text = "skip_validation=True returns the raw answer: the actions that were asked for will not run."
        warnings.warn(text, UserWarning, stacklevel=4)
    strategy = own("action_strategy")
    if action_strategy is not None and strategy is not None and strategy != action_strategy:
        text = (
            f"The Instruct's action_strategy={strategy!r} is overridden by action_strategy={action_strategy!r}; "
            "pass action_strategy=None to let the Instruct decide."
        )
        warnings.warn(text, UserWarning, stacklevel=4)


def _reader(instruct: Any) -> Callable[[str], Any]:
    """Return a function that gives a field of an Instruct, a mapping or nothing."""
    if isinstance(instruct, Mapping):
        return cast("Mapping[str, Any]", instruct).get
    return lambda name: getattr(instruct, name, None)
