"""The composed operation: prepare, publish tools, build the schemas, ask once, decide, act, enrich.

The Middle is awaited exactly once. No tool runs before the value it returned has passed the caller's policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from lionagi.ln.trace import span
from lionagi.ln.types import Spec
from lionagi.models.field_model import FieldModel
from lionagi.operations._defaults import make_parse_param
from lionagi.operations._policy import POLICIES, check_policy
from lionagi.operations._turn import Turn, in_middle
from lionagi.operations.communicate.communicate import communicate
from lionagi.operations.operate._prepare import prepare_operate_kw
from lionagi.operations.operate._results import Ending, decide
from lionagi.operations.operate.step import Step
from lionagi.operations.run.run import run_and_collect
from lionagi.operations.types import ActionParam, ChatParam, HandleValidation, Middle, ParseParam, RunParam

if TYPE_CHECKING:
    from lionagi.operations.operate.operative import Operative
    from lionagi.service.imodel import iModel
    from lionagi.session.branch import Branch

__all__ = ("operate", "prepare_operate_kw")

_KEPT = "__lionagi_responses__"


async def operate(
    branch: Branch,
    instruction: Any,
    chat_param: ChatParam,
    action_param: ActionParam | None = None,
    parse_param: ParseParam | None = None,
    handle_validation: HandleValidation = "return_value",
    invoke_actions: bool = True,
    skip_validation: bool = False,
    clear_messages: bool = False,
    reason: bool = False,
    field_models: list[FieldModel | Spec] | None = None,
    operative: Operative | None = None,
    middle: Middle | None = None,
) -> Any:
    """Ask once through one Middle and carry the answer to its end.

    Order: tools are published, the request and response classes built, the Middle chosen and awaited; then
    ``skip_validation`` returns the raw value; then the mismatch policy; then ``invoke_actions``; then the requests
    run through :func:`~lionagi.operations.act.act.act` and the result is enriched.

    Returns:
        The caller's model (a subclass instance with the generated fields), a mapping, text, or None.

    Raises:
        ValueError: The answer is no instance of the caller's model and ``handle_validation`` is "raise"; or the
            policy is unknown; or a tool selector names an unknown tool. The last two happen before any model call.
        TypeError: ``field_models`` holds something that is neither FieldModel nor Spec.
        ExecutionError: The model call failed.
    """
    if handle_validation not in POLICIES:
        check_policy(handle_validation)
    with span("operate", branch=branch.id, branch_name=branch.name):
        with span("prepare"):
            chat_param = _publish_tools(branch, chat_param, action_param)
            model_class = _model_class(chat_param.response_format)
            mapping = isinstance(chat_param.response_format, dict)
            if operative is None:
                generated = _response_type(
                    chat_param, model_class, field_models, bool(reason), action_param is not None
                )
            else:
                generated = operative.response_type
            chat_param, parse_param = _with_format(branch, chat_param, parse_param, generated)
            middle = middle or _choose_middle(branch, chat_param)
        turn = Turn(branch, "operate", branch.messages.keys())
        if action_param is not None:
            turn.max_tool_calls = action_param.max_tool_calls
        with in_middle(turn):
            result = await middle(
                branch, instruction, chat_param, parse_param, clear_messages, skip_validation=skip_validation
            )
        if mapping and generated is not None and isinstance(result, generated):
            result = result.model_dump(by_alias=True, exclude_unset=True)
        verdict = decide(
            result,
            model_class=model_class,
            handle_validation=handle_validation,
            skip_validation=skip_validation,
            invoke_actions=invoke_actions,
            has_action_param=action_param is not None,
        )
        return await Ending(branch, turn, action_param, generated, model_class).close(result, verdict)


def _publish_tools(branch: Branch, chat_param: ChatParam, action_param: ActionParam | None) -> ChatParam:
    """Put the schemas of the selected tools into the parameters; an unknown selector raises here."""
    if action_param is None:
        return chat_param
    selector, manager = action_param.tools, branch.acts
    chosen = manager.registry.values() if selector is None else manager.select(selector)
    schemas = [tool.tool_schema for tool in chosen]
    return chat_param.with_updates(tool_schemas=schemas)


def _model_class(response_format: Any) -> type[BaseModel] | None:
    if isinstance(response_format, BaseModel):
        return type(response_format)
    return response_format if isinstance(response_format, type) and issubclass(response_format, BaseModel) else None


def _response_type(
    chat_param: ChatParam,
    model_class: type[BaseModel] | None,
    field_models: list[FieldModel | Spec] | None,
    reason: bool,
    actions: bool,
) -> type[BaseModel] | None:
    """Return the generated response class, None where plain text, a bare dict or a Structure is asked for.

    For a class without further fields it is kept in that class's own namespace, so that the next call is a look-up.
    """
    if chat_param.structure is not None:
        return None
    kept: dict[tuple[bool, bool], type[BaseModel]] | None = None
    if model_class is not None and not field_models:
        kept = model_class.__dict__.get(_KEPT)
        if kept is None:
            kept = {}
            type.__setattr__(model_class, _KEPT, kept)
        elif (reason, actions) in kept:
            return kept[reason, actions]
    fields = _field_specs(field_models)
    if model_class is None and not (actions or fields or reason):
        return None
    form: Any = chat_param.response_format
    extra = cast("dict[str, Any]", form) if isinstance(form, dict) else None
    operative = Step.request_operative(
        base_type=model_class, reason=reason, actions=actions, fields=fields, dict_format=extra
    )
    response_type = Step.respond_operative(operative).response_type
    if kept is not None:
        kept[reason, actions] = response_type
    return response_type


def _field_specs(field_models: list[FieldModel | Spec] | None) -> dict[str, Spec]:
    specs: dict[str, Spec] = {}
    for item in field_models or []:
        if not isinstance(item, FieldModel | Spec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Expected FieldModel or Spec, got {type(item).__name__}: {item!r}.")
        spec = item.to_spec() if isinstance(item, FieldModel) else item
        if spec.name:
            specs[spec.name] = spec
    return specs


def _with_format(
    branch: Branch, chat_param: ChatParam, parse_param: ParseParam | None, generated: type[BaseModel] | None
) -> tuple[ChatParam, ParseParam]:
    """Return the parameters that the Middle gets; parsing never raises there, the coordinator decides afterwards."""
    changes: dict[str, Any] = {"handle_validation": "return_value"}
    if parse_param is None:
        parse_param = make_parse_param(
            chat_param.response_format, chat_param.imodel or branch.chat_model, structure=chat_param.structure
        )
    if generated is not None:
        changes["response_format"] = generated
        chat_param = chat_param.with_updates(response_format=generated)
    return chat_param, parse_param.with_updates(**changes)


def _choose_middle(branch: Branch, chat_param: ChatParam) -> Middle:
    """Return run_and_collect for streamed and CLI-backed calls, communicate for all others."""
    model: iModel = chat_param.imodel or branch.chat_model
    return run_and_collect if isinstance(chat_param, RunParam) or model.is_cli else communicate
