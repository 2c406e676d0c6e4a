"""``%%operate`` becomes the call that it describes; the line magics show views."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from pydantic import BaseModel
from traitlets.config import Config

import lionagi_nb as nb
from lionagi.testing import TestBranch
from lionagi_nb._magics import operate_source

ASKS = {
    "city": "Paris",
    "action_required": True,
    "action_requests": [{"function": "weather", "arguments": {"city": "x"}}],
}


class City(BaseModel):
    """The answer asked for."""

    city: str


def weather(city: str) -> str:
    """Return the weather of a city."""
    return "sunny"


@pytest.fixture
def shell() -> Iterator[Any]:
    """A shell with the extension and a scripted branch in its namespace."""
    shell: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    nb.load_ipython_extension(shell)
    entries = [{"type": "structured", "data": ASKS}, {"type": "text", "content": "Bring a hat."}]
    branch = TestBranch.from_responses(entries, tools=[weather], name="trip")
    shell.user_ns.update(branch=branch, City=City, facts={"a": 1})
    yield shell
    nb.unload_ipython_extension(shell)
    InteractiveShell.clear_instance()


def run(shell: Any, cell: str) -> Any:
    done = shell.run_cell(cell)
    return done.result if done.success else (done.error_before_exec or done.error_in_exec)


def test_a_cell_asks_and_keeps_its_answer(shell: Any) -> None:
    result = run(shell, "%%operate branch -o answer --response City --actions\nWhere to?\nBe brief.")
    assert result.city == "Paris"
    assert shell.user_ns["answer"] is result
    assert [r.output for r in result.action_responses] == ["sunny"]
    assert shell.user_ns["branch"].messages[0].content.instruction == "Where to?\nBe brief."


def test_context_is_an_expression(shell: Any) -> None:
    run(shell, '%%operate branch --context "[facts]"\nWhere to?')
    assert "a" in str(shell.user_ns["branch"].messages[0].rendered)


def test_without_a_variable_the_result_is_shown_only(shell: Any) -> None:
    before = set(shell.user_ns)
    assert run(shell, "%%operate branch --response City\nWhere to?").city == "Paris"
    assert {name for name in set(shell.user_ns) - before if not name.startswith("_")} == set()


def test_the_source_is_the_call_one_would_write() -> None:
    source = operate_source("branch -o r --response City --tools '[f, g]' --actions", 'It\'s "here"\n')
    expected = "branch.operate(instruction='It\\'s \"here\"', response_format=City, tools=([f, g]), actions=True)"
    assert source == f"r = await {expected}\nr\n"


@given(st.text(min_size=1).filter(str.strip))
def test_any_instruction_arrives_as_it_was_written(text: str) -> None:
    source = operate_source("branch", text)
    call: Any = ast.parse(source, mode="exec", type_comments=False).body[0]
    assert ast.literal_eval(call.value.value.keywords[0].value) == text.strip("\n")


@pytest.mark.parametrize(
    ("line", "body", "words"),
    [
        ("", "go", "the following arguments are required: branch"),
        ("branch", "\n  \n", "has no instruction"),
        ("branch -o 1x", "go", "-o takes the name of a variable, not '1x'"),
        ("branch --response 'a b'", "go", "--response takes a Python expression, not 'a b'"),
        ("branch --nonsense", "go", "unrecognized arguments: --nonsense"),
        ("'branch", "go", "No closing quotation"),
        ("a=1", "go", "the branch takes a Python expression"),
    ],
)
def test_a_wrong_line_is_one_clear_error(shell: Any, line: str, body: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        operate_source(line, body)
    error = run(shell, f"%%operate {line}\n{body}")
    assert isinstance(error, UsageError)
    assert words in str(error)


def test_an_unfinished_cell_can_be_asked_about(shell: Any) -> None:
    assert shell.check_complete("%%operate\n")[0] in ("complete", "incomplete")


def test_other_cells_are_left_alone(shell: Any) -> None:
    assert run(shell, "x = '''\n%%operate branch\n'''\nx") == "\n%%operate branch\n"


@pytest.mark.parametrize("name", ["timeline", "transcript", "actions"])
def test_a_line_magic_is_its_view(shell: Any, name: str) -> None:
    run(shell, "%%operate branch --response City --actions\nWhere to?")
    assert repr(run(shell, f"%{name} branch")) == getattr(nb, name)(shell.user_ns["branch"]).text()


def test_a_line_magic_takes_what_the_function_takes(shell: Any) -> None:
    assert run(shell, "%schema City, reason=True").text() == nb.schema(City, reason=True).text()


def test_a_line_magic_without_arguments_says_what_it_takes(shell: Any) -> None:
    error = run(shell, "%timeline")
    assert isinstance(error, UsageError)
    assert "%timeline branch" in str(error)


def test_branches_are_completed(shell: Any) -> None:
    with provisionalcompleter():
        found = {completion.text for completion in shell.Completer.completions("%%operate ", 10)}
    assert "branch" in found
    assert "facts" not in found


def test_help_shows_the_options(shell: Any) -> None:
    assert "--response" in shell.find_cell_magic("operate").__doc__
