"""What the coordinator tells its Middle, and what it does with the value."""

from __future__ import annotations

import inspect
import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel, create_model
from support.roads import Road, request, requests, structured, text

from lionagi.ln.types import Spec
from lionagi.operations.operate import operate as operate_module
from lionagi.operations.operate.step import Step
from lionagi.protocols.action.manager import ActionManager
from lionagi.session.branch import Branch
from lionagi.testing import TestBranch, scripted_imodel

BOTH = (False, True)
POLICIES = ("raise", "return_value", "return_none")


class Answer(BaseModel):
    text: str = ""


class Other(BaseModel):
    action_requests: list[dict[str, Any]] | None = None


@dataclass
class Middle:
    """A Middle of the caller's own: keeps what it was called with and returns ``value``."""

    value: Any = None
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append((args, kwargs))
        if isinstance(self.value, Exception):
            raise self.value
        return self.value(args[2].response_format) if callable(self.value) else self.value

    @property
    def chat_param(self) -> Any:
        return self.calls[0][0][2]

    @property
    def parse_param(self) -> Any:
        return self.calls[0][0][3]


@dataclass
class Counter:
    """A tool that counts its runs."""

    runs: list[int] = field(default_factory=list)

    def tool(self) -> Any:
        def add(n: int) -> int:
            """Add one number."""
            self.runs.append(n)
            return n + 1

        return add


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
def branch(counter: Counter) -> Branch:
    return TestBranch.from_text("never", tools=[counter.tool()])


ASK = [request("add", n=1)]


# -- the format


@pytest.mark.record("0022-D2-06")
@pytest.mark.parametrize("form", [Answer, Answer(text="x")], ids=["class", "instance"])
async def test_a_class_and_an_instance_both_give_results_of_the_class(road: Road, form: Any) -> None:
    result = await road.branch(structured(text="hi")).operate(instruction="a", response_format=form)
    assert isinstance(result, Answer)
    assert result.text == "hi"


@pytest.mark.record("0022-D2-06")
@pytest.mark.parametrize("form", [Answer, Answer(text="x")], ids=["class", "instance"])
async def test_a_mismatch_is_measured_against_the_class(branch: Branch, form: Any) -> None:
    with pytest.raises(ValueError, match="Answer"):
        await branch.operate(instruction="a", response_format=form, handle_validation="raise", middle=Middle("text"))


@pytest.mark.record("0022-D2-07")
async def test_a_bare_dict_reaches_the_middle_unchanged(branch: Branch) -> None:
    middle, form = Middle({}), {"city": "a name"}
    await branch.operate(instruction="a", response_format=form, middle=middle)
    assert middle.chat_param.response_format is form


@pytest.mark.record("0022-D2-07")
@pytest.mark.parametrize("value", ["text", 3, None, ["a"], {"other": 1}])
async def test_a_dict_format_never_makes_a_mismatch(branch: Branch, value: Any) -> None:
    result = await branch.operate(
        instruction="a", response_format={"city": ""}, handle_validation="raise", middle=Middle(value)
    )
    assert result == value


@pytest.mark.record("0022-D2-08", "0022-D2-13")
@pytest.mark.parametrize(("base", "actions", "named", "reason"), list(itertools.product(BOTH, repeat=4)))
async def test_a_generated_class_replaces_the_format_exactly_where_there_is_something_to_generate(
    branch: Branch, base: bool, actions: bool, named: bool, reason: bool
) -> None:
    middle = Middle()
    await branch.operate(
        instruction="a",
        response_format=Answer if base else None,
        actions=actions,
        reason=reason,
        field_models=[Spec(int, name="score")] if named else None,
        middle=middle,
    )
    form = middle.chat_param.response_format
    if not (base or actions or named or reason):
        assert form is None
        return
    assert form is middle.parse_param.response_format
    assert issubclass(form, Answer) == base
    assert ("action_responses" in form.model_fields, "score" in form.model_fields, "reason" in form.model_fields) == (
        actions,
        named,
        reason,
    )


@pytest.mark.record("0022-D2-08")
async def test_a_field_model_without_a_name_generates_nothing(branch: Branch) -> None:
    middle = Middle()
    await branch.operate(instruction="a", field_models=[Spec(int)], middle=middle)
    assert middle.chat_param.response_format is None


@pytest.mark.record("0022-D2-14")
@pytest.mark.parametrize(
    ("selector", "names"),
    [
        (None, ["add", "other"]),
        (True, ["add", "other"]),
        ("other", ["other"]),
        (["add"], ["add"]),
        ([], []),
        (False, []),
    ],
)
async def test_the_middle_sees_a_flat_list_of_the_selected_schemas(
    branch: Branch, selector: Any, names: list[str]
) -> None:
    def other() -> None:
        """Do nothing."""

    branch.register_tools(other)
    middle = Middle()
    await branch.operate(instruction="a", actions=True, tools=selector, middle=middle)
    assert [schema["function"]["name"] for schema in middle.chat_param.tool_schemas or []] == names


@pytest.mark.record("0022-D2-15")
async def test_published_schemas_replace_the_callers(branch: Branch) -> None:
    middle = Middle()
    schema = {"type": "function", "function": {"name": "theirs"}}
    await branch.operate(instruction="a", actions=True, tool_schemas=[schema], middle=middle)
    assert [schema["function"]["name"] for schema in middle.chat_param.tool_schemas] == ["add"]


# -- the Middle


@pytest.mark.record("0022-D3-01")
async def test_tools_schemas_and_middle_are_made_ready_in_this_order(
    road: Road, counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch, events = road.branch(text("x"), tools=[counter.tool()]), []

    def spied(name: str, function: Any) -> Any:
        def spy(*args: Any, **kwargs: Any) -> Any:
            events.append(name)
            return function(*args, **kwargs)

        return spy

    chosen = "run_and_collect" if road.name == "agentic" else "communicate"
    monkeypatch.setattr(ActionManager, "select", spied("publish", ActionManager.select))
    monkeypatch.setattr(Step, "request_operative", spied("build", Step.request_operative))
    monkeypatch.setattr(operate_module, "_choose_middle", spied("choose", operate_module._choose_middle))  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(operate_module, chosen, spied("ask", getattr(operate_module, chosen)))
    await branch.operate(instruction="a", actions=True, tools=["add"], reason=True, num_parse_retries=0)
    assert [name for name, _ in itertools.groupby(events)] == ["publish", "build", "choose", "ask"]


@pytest.mark.record("0022-D3-01")
@pytest.mark.parametrize(
    ("tools", "field_models", "error"),
    [(["nosuch"], None, "nosuch"), (["nosuch"], [3], "nosuch"), (None, [3], "Expected FieldModel or Spec")],
    ids=["selector", "selector first", "field"],
)
async def test_what_cannot_be_made_ready_fails_in_the_same_order_with_no_call(
    road: Road, counter: Counter, tools: Any, field_models: Any, error: str
) -> None:
    branch = road.branch(tools=[counter.tool()])
    with pytest.raises((ValueError, TypeError), match=error):
        await branch.operate(instruction="a", actions=True, tools=tools, field_models=field_models)
    assert road.payloads == []
    assert len(branch.messages) == 0


@pytest.mark.record("0022-D2-01")
def test_the_coordinator_has_the_parameters_of_the_record() -> None:
    assert inspect.iscoroutinefunction(operate_module.operate)
    found = [
        (name, each.default)
        for name, each in inspect.signature(operate_module.operate).parameters.items()
        if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    needed = [(name, inspect.Parameter.empty) for name in ("branch", "instruction", "chat_param")]
    assert found[:13] == [
        *needed,
        ("action_param", None),
        ("parse_param", None),
        ("handle_validation", "return_value"),
        ("invoke_actions", True),
        ("skip_validation", False),
        ("clear_messages", False),
        ("reason", False),
        ("field_models", None),
        ("operative", None),
        ("middle", None),
    ]
    assert list(inspect.signature(operate_module.operate).parameters)[:13] == [name for name, _ in found[:13]]


@pytest.mark.record("DEC-03-6")
@pytest.mark.parametrize(
    ("field_name", "flags"),
    [
        ("reason", {"reason": True}),
        ("action_required", {"actions": True}),
        ("action_requests", {"actions": True}),
        ("action_responses", {"actions": True}),
        ("reason", {"reason": True, "actions": True, "field_models": [Spec(int, name="score")]}),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ["class", "instance", "dict"])
async def test_a_field_of_the_callers_that_a_flag_would_override_is_refused_before_the_call(
    road: Road, counter: Counter, field_name: str, flags: Any, form: str
) -> None:
    theirs = create_model("Theirs", **{field_name: (str, "")})  # pyright: ignore[reportCallIssue, reportArgumentType]
    given = {"class": theirs, "instance": theirs(), "dict": {field_name: "a word"}}[form]
    branch = road.branch(tools=[counter.tool()])
    for _ in range(2):  # nothing that was kept from the first time lets it through
        with pytest.raises(ValueError, match=field_name):
            await branch.operate(instruction="a", response_format=given, **flags)
    assert road.payloads == []


@pytest.mark.record("DEC-03-6")
async def test_the_same_field_is_the_callers_own_where_no_flag_would_override_it(road: Road) -> None:
    theirs = create_model("Theirs", reason=(str, ...), action_requests=(str, ...))
    branch = road.branch(structured(reason="r", action_requests="a"))
    result = await branch.operate(instruction="a", response_format=theirs)
    assert (result.reason, result.action_requests) == ("r", "a")


@pytest.mark.record("0022-D3-02")
@pytest.mark.parametrize(("clear", "skip"), list(itertools.product(BOTH, repeat=2)))
async def test_the_middle_gets_five_positionals_and_one_keyword(branch: Branch, clear: bool, skip: bool) -> None:
    middle = Middle("x")
    await branch.operate(instruction="a", clear_messages=clear, skip_validation=skip, middle=middle)
    args, kwargs = middle.calls[0]
    assert (len(args), args[0], args[1], args[4]) == (5, branch, "a", clear)
    assert kwargs == {"skip_validation": skip}


@pytest.mark.record("0022-D3-03")
@pytest.mark.parametrize("persist", [None, "somewhere"])
async def test_a_middle_of_the_callers_is_awaited_on_either_road(road: Road, persist: str | None) -> None:
    middle = Middle("mine")
    branch = road.branch()
    assert await branch.operate(instruction="a", middle=middle, persist_dir=persist) == "mine"
    assert len(middle.calls) == 1
    assert road.payloads == []


@pytest.mark.record("0022-D3-04")
@pytest.mark.parametrize(("cli", "per_call", "persist"), list(itertools.product(BOTH, repeat=3)))
async def test_the_effective_model_chooses_the_middle(
    api_road: Road, monkeypatch: pytest.MonkeyPatch, cli: bool, per_call: bool, persist: bool
) -> None:
    chosen: list[str] = []

    def spied(name: str, function: Any) -> Any:
        async def spy(*args: Any, **kwargs: Any) -> Any:
            chosen.append(name)
            return await function(*args, **kwargs)

        return spy

    for name in ("communicate", "run_and_collect"):
        monkeypatch.setattr(operate_module, name, spied(name, getattr(operate_module, name)))
    scripted = scripted_imodel([text("x")])
    api = api_road.model(text("x"))
    effective, other = (scripted, api) if cli else (api, scripted)
    branch = Branch(chat_model=other if per_call else effective)
    more: dict[str, Any] = {"chat_model": effective} if per_call else {}
    more |= {"persist_dir": "unused"} if persist else {}
    assert await branch.operate(instruction="a", **more) == "x"
    assert chosen == ["run_and_collect" if cli or persist else "communicate"]


@pytest.mark.record("0022-D3-05")
@pytest.mark.parametrize("value", ["text", None, {"action_requests": ASK}, Answer(), Other(action_requests=ASK)])
@pytest.mark.parametrize("skip", BOTH)
@pytest.mark.filterwarnings("ignore:.*not run:UserWarning")
async def test_every_path_awaits_the_middle_once(branch: Branch, value: Any, skip: bool) -> None:
    middle = Middle(value)
    await branch.operate(instruction="a", actions=True, response_format=Answer, middle=middle, skip_validation=skip)
    assert len(middle.calls) == 1


@pytest.mark.record("0022-D3-05", "0022-D2-16")
async def test_an_exception_of_the_middle_reaches_the_caller_unchanged(branch: Branch) -> None:
    middle = Middle(error := RuntimeError("boom"))
    with pytest.raises(RuntimeError) as caught:
        await branch.operate(instruction="a", response_format=Answer, middle=middle)
    assert caught.value is error
    assert len(middle.calls) == 1


@pytest.mark.record("0022-D3-06")
async def test_nothing_is_recorded_around_the_middle(branch: Branch) -> None:
    await branch.operate(instruction="a", response_format=Answer, middle=Middle(Answer()))
    assert len(branch.messages) == 0


# -- the value


@pytest.mark.record("0022-D3-07", "0022-D3-08", "DEC-01-4")
@pytest.mark.parametrize(
    "value", ["text", 3, None, Other(action_requests=ASK), {"action_requests": ASK, "action_responses": [1]}]
)
@pytest.mark.filterwarnings("ignore:.*not run:UserWarning")
async def test_T6_skipping_validation_returns_the_value_itself_and_runs_nothing(
    branch: Branch, counter: Counter, value: Any
) -> None:
    before = dict(value) if isinstance(value, dict) else value
    result = await branch.operate(
        instruction="a",
        response_format=Answer,
        actions=True,
        skip_validation=True,
        handle_validation="raise",
        middle=Middle(value),
    )
    assert result is value
    assert result == before
    assert counter.runs == []
    assert len(branch.messages) == 0


@pytest.mark.record("0022-D3-09", "0022-D3-11", "DEC-01-4")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", ["mapping", "model"])
async def test_T6_a_mismatch_runs_nothing_and_follows_the_policy(
    branch: Branch, counter: Counter, policy: Any, kind: str
) -> None:
    value: Any = {"action_requests": ASK, "action_responses": [1]} if kind == "mapping" else Other(action_requests=ASK)

    async def go() -> Any:
        return await branch.operate(
            instruction="a", response_format=Answer, actions=True, handle_validation=policy, middle=Middle(value)
        )

    if policy == "raise":
        with pytest.raises(ValueError, match="Answer"):
            await go()
    else:
        assert await go() is (value if policy == "return_value" else None)
    assert counter.runs == []
    if kind == "mapping":
        assert value == {"action_requests": ASK, "action_responses": [1]}


@pytest.mark.record("0022-D3-10")
async def test_a_mismatch_quotes_the_value_cut_after_200_characters(branch: Branch) -> None:
    value = "x" * 1000
    with pytest.raises(ValueError, match="Answer") as caught:
        await branch.operate(instruction="a", response_format=Answer, handle_validation="raise", middle=Middle(value))
    assert repr(value)[:200] in str(caught.value)
    assert repr(value)[:201] not in str(caught.value)


@pytest.mark.record("0022-D3-12", "0022-D3-13", "0022-D4-25")
@pytest.mark.parametrize("form", [None, Answer])
async def test_an_instance_of_the_format_goes_on_to_its_actions(road: Road, counter: Counter, form: Any) -> None:
    branch = road.branch(requests(request("add", n=4), **({"text": "t"} if form else {})), tools=[counter.tool()])
    result = await branch.operate(instruction="a", response_format=form, actions=True)
    assert isinstance(result, form or BaseModel)
    assert counter.runs == [4]
    assert [response.output for response in result.action_responses] == [5]
    assert result.action_requests[0].function == "add"
    if form:
        assert result.text == "t"


@pytest.mark.record("0022-D3-14")
async def test_T6_invoke_actions_false_runs_nothing_even_with_an_action_param(branch: Branch, counter: Counter) -> None:
    plan = operate_module.prepare_operate_kw(
        branch, instruction="a", actions=True, middle=Middle({"action_requests": ASK})
    )
    result = await operate_module.operate(branch, **{**plan, "invoke_actions": False})
    assert result == {"action_requests": ASK}
    assert counter.runs == []


# -- both roads


class Words(BaseModel):
    words: str


@pytest.mark.record("0022-C-01")
@pytest.mark.parametrize("policy", POLICIES)
async def test_both_roads_end_a_mismatch_alike(road: Road, policy: Any) -> None:
    branch = road.branch(text("no json here"))
    if policy == "raise":
        with pytest.raises(ValueError, match="Words"):
            await branch.operate(instruction="a", response_format=Words, handle_validation=policy, num_parse_retries=0)
    else:
        result = await branch.operate(
            instruction="a", response_format=Words, handle_validation=policy, num_parse_retries=0
        )
        assert result == (None if policy == "return_none" else "no json here")
    assert [type(message).__name__ for message in branch.messages] == ["Instruction", "AssistantResponse"]


@pytest.mark.record("0022-C-01")
async def test_both_roads_skip_validation_alike(road: Road) -> None:
    result = await road.branch(requests(request("add", n=1))).operate(
        instruction="a", response_format=Words, skip_validation=True
    )
    assert isinstance(result, str)
    assert '"add"' in result


@pytest.mark.record("DEC-32-1", "DEC-38-2")
@pytest.mark.parametrize("asked", [[], ASK], ids=["no action", "action"])
async def test_the_result_class_is_named_after_the_format(road: Road, counter: Counter, asked: Any) -> None:
    branch = road.branch(structured(text="t", action_requests=asked), tools=[counter.tool()])
    result = await branch.operate(instruction="a", response_format=Answer, actions=True)
    assert type(result).__name__ == "AnswerResponse"
    assert result.action_required is None
