"""The public call resolved into parameters."""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic import ValidationError as PydanticError
from support.roads import Road, structured, text

from lionagi.ln.calls import AlcallParams
from lionagi.ln.types import Spec
from lionagi.models.field_model import FieldModel
from lionagi.models.hashable_model import HashableModel
from lionagi.operations._defaults import get_default_action_call, make_parse_param
from lionagi.operations.communicate.communicate import prepare_communicate_kw
from lionagi.operations.fields import Instruct
from lionagi.operations.operate.operate import prepare_operate_kw
from lionagi.operations.operate.step import Step
from lionagi.operations.types import ActionParam, ChatParam, ParseParam, RunParam
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch, scripted_imodel

ORDER = (
    "instruct instruction guidance context sender recipient progression chat_model invoke_actions tool_schemas images "
    "image_detail parse_model skip_validation handle_validation tools operative response_format actions reason "
    "call_params action_strategy verbose_action field_models include_token_usage_to_model clear_messages "
    "stream_persist persist_dir snapshot_dir middle"
)
KEYS = (
    "instruction chat_param parse_param action_param handle_validation invoke_actions skip_validation clear_messages "
    "operative middle field_models reason"
)
ADDED: dict[str, Any] = {
    "structured_output": "both",
    "num_parse_retries": 1,
    "tool_timeout": 2.0,
    "max_tool_calls": 5,
    "max_concurrent_tools": 6,
}
BOTH = (False, True)


class Answer(BaseModel):
    text: str


async def middle(*_: Any, **__: Any) -> Any:
    return None


@pytest.fixture
def api(api_road: Road) -> Branch:
    """A branch on an API endpoint; nothing is sent."""
    return api_road.branch()


@pytest.mark.record("0022-D1-01")
def test_only_the_branch_is_positional_and_the_keywords_keep_their_order() -> None:
    found = list(inspect.signature(prepare_operate_kw).parameters.values())
    assert found[0].name == "branch"
    keywords = [each.name for each in found[1:] if each.kind is inspect.Parameter.KEYWORD_ONLY]
    assert " ".join(keywords).startswith(ORDER + " ")
    assert [each.kind for each in found if each.name not in ("branch", *keywords)] == [inspect.Parameter.VAR_KEYWORD]


@pytest.mark.record("0022-D1-02")
def test_defaults_other_than_none_are_the_ten_of_the_record() -> None:
    found = inspect.signature(prepare_operate_kw).parameters
    defaults = {name: found[name].default for name in ORDER.split() if found[name].default is not None}
    assert defaults == {
        "invoke_actions": True,
        "skip_validation": False,
        "handle_validation": "return_value",
        "actions": False,
        "reason": False,
        "action_strategy": "concurrent",
        "verbose_action": False,
        "include_token_usage_to_model": False,
        "clear_messages": False,
        "stream_persist": False,
    }


@pytest.mark.record("0022-D1-03")
def test_message_parameters_arrive_under_their_own_names(api: Branch) -> None:
    given: dict[str, Any] = {
        "sender": "ana",
        "recipient": "bo",
        "progression": [],
        "images": ["https://x/y.png"],
        "image_detail": "low",
        "include_token_usage_to_model": True,
    }
    plan = prepare_operate_kw(api, instruct={"instruction": "a", "guidance": "g", "context": {"c": 1}}, **given)
    param = plan["chat_param"]
    assert {name: getattr(param, name) for name in given} == given
    assert (param.guidance, param.context) == ("g", {"c": 1})


@pytest.mark.record("0022-D1-04")
def test_instruct_has_six_fields_that_default_to_none() -> None:
    assert issubclass(Instruct, HashableModel)
    assert (
        dict.fromkeys(("instruction", "guidance", "context", "reason", "actions", "action_strategy"))
        == Instruct().model_dump()
    )


@pytest.mark.record("0022-D1-04")
@pytest.mark.parametrize("strategy", ["sequential", "concurrent"])
@pytest.mark.parametrize("instruction", ["a", {"a": 1}, ["a", "b"]])
def test_instruct_keeps_instruction_and_strategy_as_given(instruction: Any, strategy: Any) -> None:
    plan = Instruct(instruction=instruction, action_strategy=strategy)
    assert (plan.instruction, plan.action_strategy) == (instruction, strategy)


@pytest.mark.record("0022-D1-05")
@pytest.mark.parametrize("given", [{}, ADDED, {"actions": True, "reason": True, "response_format": Answer, "x": 1}])
def test_the_mapping_has_always_the_same_twelve_keys(api: Branch, given: Any) -> None:
    assert sorted(prepare_operate_kw(api, **given)) == sorted(KEYS.split())


@pytest.mark.record("0022-D1-06")
def test_flags_middle_and_field_models_come_out_unchanged(api: Branch) -> None:
    given: dict[str, Any] = {
        "handle_validation": "raise",
        "invoke_actions": False,
        "skip_validation": True,
        "clear_messages": True,
        "middle": middle,
        "field_models": [FieldModel(name="n", annotation=int)],
    }
    plan = prepare_operate_kw(api, **given)
    assert all(plan[name] is value for name, value in given.items())


@pytest.mark.record("0022-D1-07")
def test_instruction_and_reason_are_those_of_the_instruct(api: Branch) -> None:
    plan = prepare_operate_kw(api, instruct=Instruct(instruction="a", reason=True))
    assert (plan["instruction"], plan["reason"]) == ("a", True)
    assert prepare_operate_kw(api, instruction="b")["reason"] is None


@pytest.mark.record("0022-D1-08")
def test_the_chat_model_is_the_given_one_else_the_branchs(api: Branch) -> None:
    other = scripted_imodel([text("x")])
    assert prepare_operate_kw(api)["chat_param"].imodel is api.chat_model
    assert prepare_operate_kw(api, chat_model=other)["chat_param"].imodel is other


@pytest.mark.record("0022-D1-09", "DEC-37-1")
def test_the_parse_model_is_the_given_one_else_the_chat_model_of_the_call(api: Branch) -> None:
    api.parse_model = scripted_imodel([text("never")])
    other, third = scripted_imodel([text("x")]), scripted_imodel([text("y")])
    assert prepare_operate_kw(api, response_format=Answer)["parse_param"].imodel is api.chat_model
    assert prepare_operate_kw(api, response_format=Answer, chat_model=other)["parse_param"].imodel is other
    plan = prepare_operate_kw(api, response_format=Answer, chat_model=other, parse_model=third)
    assert plan["parse_param"].imodel is third


@pytest.mark.record("0022-D1-10")
def test_a_mapping_is_read_as_an_instruct(api: Branch) -> None:
    plan = prepare_operate_kw(api, instruct={"instruction": "a", "reason": True, "actions": True})
    assert (plan["instruction"], plan["reason"]) == ("a", True)
    assert plan["action_param"] is not None


@pytest.mark.record("0022-D1-10")
def test_a_mapping_that_is_no_instruct_is_refused_by_pydantic(api: Branch) -> None:
    with pytest.raises(PydanticError):
        prepare_operate_kw(api, instruct={"instruction": "a", "action_strategy": "sideways"}, action_strategy=None)


@pytest.mark.record("0022-D1-11")
def test_loose_words_count_only_without_an_instruct(api: Branch) -> None:
    loose: dict[str, Any] = {"instruction": "loose", "guidance": "lg", "context": "lc"}
    plan = prepare_operate_kw(api, **loose)
    assert (plan["instruction"], plan["chat_param"].guidance, plan["chat_param"].context) == ("loose", "lg", "lc")
    plan = prepare_operate_kw(api, instruct=Instruct(instruction="own"), **loose)
    assert (plan["instruction"], plan["chat_param"].guidance, plan["chat_param"].context) == ("own", None, None)


@pytest.mark.record("0022-D1-12")
@pytest.mark.parametrize("own", [None, False, True])
@pytest.mark.parametrize("loose", BOTH)
def test_reason_is_on_where_either_says_so(api: Branch, own: bool | None, loose: bool) -> None:
    plan = prepare_operate_kw(api, instruct=Instruct(instruction="a", reason=own), reason=loose)
    assert (plan["reason"] is True) == (loose or own is True)


@pytest.mark.record("0022-D1-13", "0022-D1-14")
@pytest.mark.parametrize(("cli", "stream", "persist", "snapshot"), list(itertools.product(BOTH, repeat=4)))
def test_a_run_param_is_made_exactly_for_streamed_calls(
    api: Branch, tmp_path: Path, cli: bool, stream: bool, persist: bool, snapshot: bool
) -> None:
    given: dict[str, Any] = {"persist_dir": str(tmp_path)} if persist else {}
    given |= {"snapshot_dir": str(tmp_path / "s")} if snapshot else {}
    given |= {"chat_model": scripted_imodel([text("x")])} if cli else {}
    param = prepare_operate_kw(api, stream_persist=stream, **given)["chat_param"]
    assert isinstance(param, ChatParam)
    assert isinstance(param, RunParam) == (cli or stream or persist or snapshot)
    if isinstance(param, RunParam):
        assert param.stream_persist is stream
        assert param.persist_dir == given.get("persist_dir", RunParam().persist_dir)
        assert param.snapshot_dir == given.get("snapshot_dir")


@pytest.mark.record("0022-D1-15")
@pytest.mark.parametrize("form", [Answer, Answer(text="a"), {"text": "words"}], ids=["class", "instance", "dict"])
def test_the_format_is_the_very_object(api: Branch, form: Any) -> None:
    assert prepare_operate_kw(api, response_format=form)["chat_param"].response_format is form


@pytest.mark.record("0022-D1-16")
@pytest.mark.parametrize(("form", "skip"), list(itertools.product((None, Answer), BOTH)))
def test_a_parse_param_is_made_for_a_format_that_is_validated(api: Branch, form: Any, skip: bool) -> None:
    param = prepare_operate_kw(api, response_format=form, skip_validation=skip)["parse_param"]
    assert isinstance(param, ParseParam) if form is not None and not skip else param is None


@pytest.mark.record("0022-D1-17")
@pytest.mark.parametrize(("invoke", "loose", "own"), list(itertools.product(BOTH, repeat=3)))
def test_an_action_param_is_made_where_actions_are_on_and_invoked(
    api: Branch, invoke: bool, loose: bool, own: bool
) -> None:
    instruct = Instruct(instruction="a", actions=own)
    param = prepare_operate_kw(api, instruct=instruct, invoke_actions=invoke, actions=loose)["action_param"]
    assert isinstance(param, ActionParam) if invoke and (loose or own) else param is None


@pytest.mark.record("0022-D1-18")
@pytest.mark.parametrize("own", [None, "sequential", "concurrent"])
@pytest.mark.parametrize("loose", [None, "sequential", "concurrent"])
@pytest.mark.filterwarnings("ignore:.*action_strategy:UserWarning")
def test_the_strategy_is_the_loose_one_then_the_instructs_then_concurrent(api: Branch, loose: Any, own: Any) -> None:
    instruct = Instruct(instruction="a", actions=True, action_strategy=own)
    param = prepare_operate_kw(api, instruct=instruct, action_strategy=loose)["action_param"]
    assert param.strategy == (loose or own or "concurrent")


@pytest.mark.record("0022-D1-19")
def test_the_action_param_carries_selection_verbosity_and_call_params(api: Branch) -> None:
    calls = AlcallParams(max_concurrent=1)
    param = prepare_operate_kw(api, actions=True, tools=["t"], verbose_action=True, call_params=calls)["action_param"]
    assert (param.suppress_errors, param.tools, param.verbose_action) == (True, ["t"], True)
    assert param.action_call_params is calls
    assert prepare_operate_kw(api, actions=True)["action_param"].action_call_params is get_default_action_call()


@pytest.mark.record("0022-D1-21")
async def test_tool_schemas_stay_in_effect_without_actions(road: Road) -> None:
    schema = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}
    branch = road.branch(text("fine"))
    assert prepare_operate_kw(branch, tool_schemas=[schema])["chat_param"].tool_schemas == [schema]
    await branch.operate(instruction="a", tool_schemas=[schema])
    assert "look_up" in road.sent


@pytest.mark.record("0022-D1-22")
@pytest.mark.parametrize(
    ("name", "hint"),
    [("request_model", "response_format="), ("operative_model", "response_format="), ("imodel", "chat_model=")],
)
async def test_removed_keywords_name_what_replaced_them(name: str, hint: str) -> None:
    branch = TestBranch.from_text("never")
    given: dict[str, Any] = {name: Answer}
    with pytest.raises(TypeError, match=hint):
        await branch.operate(instruction="a", **given)
    assert TestBranch.calls(branch) == []


@pytest.mark.record("0022-D1-23")
async def test_other_keywords_reach_the_payload(road: Road) -> None:
    branch = road.branch(text("fine"))
    assert prepare_operate_kw(branch, temperature=0.3)["chat_param"].imodel_kw == {"temperature": 0.3}
    await branch.operate(instruction="a", temperature=0.3)
    assert road.payloads[0]["temperature"] == 0.3


@pytest.mark.record("0022-D1-24", "DEC-0022-1-1")
@pytest.mark.parametrize("flags", [{}, {"actions": True}, {"reason": True}, {"response_format": Answer}], ids=str)
async def test_an_operative_of_the_callers_is_dropped_with_a_warning_and_changes_nothing(
    road: Road, flags: Any
) -> None:
    theirs = Step.request_operative(name="Theirs", actions=True, reason=True, field_models=[FieldModel(int, "score")])
    seen: list[Any] = []

    async def middle(*args: Any, **_: Any) -> Any:
        seen.append((args[2].response_format, args[3].response_format, args[2].tool_schemas))

    branch = road.branch()
    with pytest.warns(DeprecationWarning, match=r"response_format.*field_models"):
        plan = prepare_operate_kw(branch, operative=theirs, middle=middle, **flags)
    assert plan["operative"] is None
    plain = prepare_operate_kw(branch, middle=middle, **flags)
    assert plan == plain
    with pytest.warns(DeprecationWarning, match="operative"):
        await branch.operate(operative=theirs, middle=middle, **flags)
    await branch.operate(middle=middle, **flags)
    assert seen[0] == seen[1]
    assert "score" not in getattr(seen[0][0], "model_fields", {})


@pytest.mark.record("0022-D1-25")
async def test_a_field_model_of_another_type_is_refused_before_the_call() -> None:
    branch = TestBranch.from_text("never")
    with pytest.raises(TypeError, match="Expected FieldModel or Spec"):
        await branch.operate(instruction="a", field_models=[3])  # pyright: ignore[reportArgumentType]
    assert TestBranch.calls(branch) == []


@pytest.mark.record("0022-D1-27", "0022-D1-28")
@pytest.mark.parametrize("source", ["make_parse_param", "operate"])
def test_default_parse_call_pauses_and_retries(api: Branch, source: str) -> None:
    made = make_parse_param(Answer, None)
    param = made if source != "operate" else prepare_operate_kw(api, response_format=Answer)["parse_param"]
    calls = param.alcall_params
    found = (calls.retry_initial_delay, calls.retry_backoff, calls.retry_attempts, calls.max_concurrent)
    assert (*found, calls.throttle_period) == (1, 1.85, 3, 1, 1)


@pytest.mark.record("DEC-34-2")
def test_added_keywords_ride_in_the_parameters(api: Branch) -> None:
    plan = prepare_operate_kw(api, response_format=Answer, actions=True, **ADDED)
    action = plan["action_param"]
    assert plan["chat_param"].structured_output == "both"
    assert plan["parse_param"].alcall_params.retry_attempts == 1
    assert (action.tool_timeout, action.max_tool_calls, action.max_concurrent_tools) == (2.0, 5, 6)


@pytest.mark.record("DEC-27-2")
@pytest.mark.parametrize("asks", [{"reason": True}, {"actions": True}, {"field_models": [Spec(int, name="score")]}])
async def test_a_generated_format_is_read_as_the_caller_says(road: Road, asks: Any) -> None:
    branch = road.branch(text("no json"), text("no json"))
    result = await branch.operate(instruction="a", num_parse_retries=0, structured_output="prompt", **asks)
    assert result == "no json"
    assert len(road.payloads) == 1
    helper = scripted_imodel([structured(reason={"title": "helped"}, score=1, action_requests=[])])
    await branch.operate(instruction="a", parse_model=helper, num_parse_retries=1, **asks)
    assert len(road.payloads) == 2
    assert len(TestBranch.calls(Branch(chat_model=helper))) == 1


WHO_HAS: dict[str, tuple[Any, ...]] = {
    "structure": (Branch.operate, Branch.parse, prepare_operate_kw, prepare_communicate_kw),
    "structured_output": (Branch.operate, Branch.chat, Branch.run, prepare_operate_kw, prepare_communicate_kw),
    "num_parse_retries": (Branch.operate, Branch.parse, prepare_operate_kw, prepare_communicate_kw),
    "tool_timeout": (Branch.operate, Branch.act, prepare_operate_kw),
    "max_tool_calls": (Branch.operate, prepare_operate_kw),
    "max_concurrent_tools": (Branch.operate, prepare_operate_kw),
}


@pytest.mark.record("DEC-34-1")
def test_added_keywords_are_keyword_only_on_every_verb_that_has_them() -> None:
    verbs = [getattr(Branch, name) for name in ("operate", "communicate", "chat", "parse", "run", "act", "interpret")]
    for name, wanted in WHO_HAS.items():
        having = [verb for verb in (*verbs, *wanted) if name in inspect.signature(verb).parameters]
        assert set(having) == set(wanted)
        for verb in having:
            assert inspect.signature(verb).parameters[name].kind is inspect.Parameter.KEYWORD_ONLY, (verb, name)


@pytest.mark.record("DEC-34-1")
async def test_communicate_takes_them_as_keywords_and_nothing_but_the_instruction_by_place(road: Road) -> None:
    branch = road.branch(text("no json"))
    with pytest.raises(TypeError, match="positional"):
        await branch.communicate("a", None)  # pyright: ignore[reportCallIssue]
    with pytest.raises(ValueError, match="Answer"):
        await branch.communicate("a", response_format=Answer, num_parse_retries=0, structured_output="prompt")
    assert len(road.payloads) == 1


@pytest.mark.record("DEC-34-3")
async def test_added_keywords_never_reach_the_payload(api_road: Road) -> None:
    branch = api_road.branch(text('{"text": "a"}'))
    await branch.operate(instruction="a", response_format=Answer, actions=True, persist_dir=None, **ADDED)
    assert not set(ADDED) & set(api_road.payloads[0])


@pytest.mark.record("DEC-34-4")
async def test_exclude_fields_warns_and_reaches_nothing(road: Road) -> None:
    branch = road.branch(text("fine"))
    with pytest.warns(UserWarning, match="exclude_fields"):
        await branch.operate(instruction="a", exclude_fields=["zzz"])
    assert "zzz" not in road.sent


@pytest.mark.record("DEC-0022-3-1")
@pytest.mark.parametrize("actions", BOTH)
async def test_skipping_validation_with_actions_warns_that_they_do_not_run(actions: bool) -> None:
    branch = TestBranch.from_text("fine")
    if actions:
        with pytest.warns(UserWarning, match="not run"):
            await branch.operate(instruction="a", actions=True, skip_validation=True)
    else:
        assert await branch.operate(instruction="a", skip_validation=True) == "fine"


@pytest.mark.record("DEC-0022-4-2")
def test_a_shadowed_strategy_warns(api: Branch) -> None:
    with pytest.warns(UserWarning, match="action_strategy"):
        prepare_operate_kw(api, instruct=Instruct(instruction="a", actions=True, action_strategy="sequential"))


@pytest.mark.record("DEC-0022-4-2")
@pytest.mark.parametrize("own", [None, "concurrent"])
def test_a_strategy_that_is_not_shadowed_does_not_warn(api: Branch, own: Any) -> None:
    plan = prepare_operate_kw(api, instruct=Instruct(instruction="a", actions=True, action_strategy=own))
    assert plan["action_param"].strategy == "concurrent"


@pytest.mark.record("DEC-06-1")
@pytest.mark.parametrize("policy", ["ignore", "", None, True])
async def test_an_unknown_policy_is_refused_before_the_call(policy: Any) -> None:
    branch = TestBranch.from_text("never")
    with pytest.raises(ValueError, match="handle_validation"):
        await branch.operate(instruction="a", handle_validation=policy)
    assert TestBranch.calls(branch) == []


@pytest.mark.record("DEC-05-1")
@pytest.mark.parametrize("form", ["str", "dict", "list", "Instruction"])
async def test_every_form_of_instruction_reaches_the_payload(road: Road, form: str) -> None:
    branch = road.branch(text("fine"))
    words: Any = {"str": "zebra", "dict": {"animal": "zebra"}, "list": ["zebra"]}.get(form)
    await branch.operate(instruction=words or branch.msgs.create_instruction(instruction="zebra"))
    assert "zebra" in road.sent


@pytest.mark.record("DEC-05-2")
async def test_the_callers_instruct_is_left_alone() -> None:
    instruct = Instruct(instruction="a", context={"k": [1]})
    before = instruct.model_copy(deep=True)
    await TestBranch.from_text('{"reason": null}').operate(instruct=instruct, reason=True, actions=True)
    assert instruct == before
