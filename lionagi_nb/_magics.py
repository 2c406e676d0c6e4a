"""The magics: ``%%operate`` writes the call that its options describe, the line magics show views.

IPython does not await what a cell magic returns, so ``%%operate`` is an input transformer: the cell becomes an ordinary
``await branch.operate(…)``, and errors, completion of the result and interrupts are those of any other cell.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable
from typing import Any

__all__ = ("LINE_MAGICS", "operate_source", "register_magics", "unregister_magics")

LINE_MAGICS = ("actions", "compare", "errors", "schema", "timeline", "trace", "transcript")
"""Views that are line magics too: ``%timeline branch`` is ``lionagi_nb.timeline(branch)``."""

_NAME = "operate"
_KEYWORDS = (
    ("response", "response_format", "a pydantic model, or an expression for one: what the answer must be"),
    ("tools", "tools", "the tools that are offered; quote an expression with spaces"),
    ("context", "context", "what the model is shown beside the instruction"),
    ("guidance", "guidance", "how to go about it"),
)


def _parser() -> Any:
    from IPython.core.magic_arguments import MagicArgumentParser

    parser: Any = MagicArgumentParser(
        prog="%%operate", description="Ask the model with the cell's text as the instruction, and show the result."
    )
    parser.add_argument("branch", help="the branch that is asked: a name, or an expression without spaces")
    parser.add_argument("-o", "--out", metavar="NAME", help="the variable that keeps the result")
    for name, _, words in _KEYWORDS:
        parser.add_argument(f"--{name}", metavar="EXPRESSION", help=words)
    parser.add_argument("--actions", action="store_true", help="let the model ask for tools, and run what is allowed")
    return parser


def operate_source(line: str, body: str) -> str:
    """Return the Python that ``%%operate LINE`` over ``body`` stands for.

    Raises:
        UsageError: The options are wrong, an expression is no Python, or the cell has no instruction.
    """
    from IPython.core.error import UsageError

    try:
        given = _parser().parse_args(shlex.split(line))
    except ValueError as error:  # a quote that does not close
        raise UsageError(f"%%operate: {error} in {line!r}") from None
    instruction = body.strip("\n")
    if not instruction.strip():
        raise UsageError("%%operate: the cell has no instruction; write it under the first line")
    if given.out is not None and not given.out.isidentifier():
        raise UsageError(f"%%operate: -o takes the name of a variable, not {given.out!r}")
    arguments = [f"instruction={instruction!r}"]
    for name, keyword, _ in _KEYWORDS:
        if (expression := getattr(given, name)) is not None:
            arguments.append(f"{keyword}={_expression(expression, '--' + name)}")
    arguments += ["actions=True"] if given.actions else []
    call = f"await {_expression(given.branch, 'the branch')}.operate({', '.join(arguments)})"
    return f"{given.out} = {call}\n{given.out}\n" if given.out else f"{call}\n"


def _expression(text: str, place: str) -> str:
    from IPython.core.error import UsageError

    try:
        ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise UsageError(f"%%operate: {place} takes a Python expression, not {text!r} ({error.msg})") from None
    return f"({text})" if not text.isidentifier() else text


def _rewrite(lines: list[str]) -> list[str]:
    """Return the lines of a cell, an ``%%operate`` cell as the call that it stands for."""
    first = lines[0].split(None, 1) if lines else []
    if not first or first[0] != f"%%{_NAME}" or (len(first) > 1 and first[1].strip().endswith("?")):
        return lines
    from IPython.core.error import UsageError

    try:
        source = operate_source(first[1] if len(first) > 1 else "", "".join(lines[1:]))
    except UsageError as error:
        # Raised when the cell runs and not here, where a terminal only asks whether the input is complete.
        source = f"raise __import__('IPython.core.error', fromlist=['UsageError']).UsageError({str(error)!r})\n"
    return source.splitlines(keepends=True)


def _cell_magic(line: str, cell: str) -> None:
    from IPython.core.error import UsageError

    raise UsageError("%%operate must be the first line of a cell of its own")


def _line_magic(shell: Any, name: str) -> Callable[[str], Any]:
    def show(line: str) -> Any:
        from IPython.core.error import UsageError

        if not line.strip():
            raise UsageError(f"%{name} takes what lionagi_nb.{name}() takes, such as: %{name} branch")
        return shell.ev(f"__import__('lionagi_nb').{name}({line})")

    show.__doc__ = f"Show ``lionagi_nb.{name}(…)`` of the arguments after the magic's name."
    return show


def _branches(shell: Any, event: Any) -> list[str]:
    names = shell.user_ns
    return [name for name, value in names.items() if not name.startswith("_") and hasattr(value, "operate")]


def register_magics(shell: Any) -> dict[str, dict[str, Any]]:
    """Add the magics to a shell; return what had their names before, for `unregister_magics`."""
    held: dict[str, dict[str, Any]] = shell.magics_manager.magics
    kept = {
        "line": {name: held["line"].get(name) for name in LINE_MAGICS},
        "cell": {_NAME: held["cell"].get(_NAME)},
    }
    _cell_magic.__doc__ = _parser().format_help()
    for name in LINE_MAGICS:
        shell.register_magic_function(_line_magic(shell, name), "line", name)
    shell.register_magic_function(_cell_magic, "cell", _NAME)
    shell.input_transformers_cleanup.append(_rewrite)
    shell.set_hook("complete_command", _branches, str_key=f"%%{_NAME}")
    return kept


def unregister_magics(shell: Any, kept: dict[str, dict[str, Any]]) -> None:
    """Take the magics out again and put back what `register_magics` found."""
    held: dict[str, dict[str, Any]] = shell.magics_manager.magics
    for kind, names in kept.items():
        for name, before in names.items():
            held[kind].pop(name, None)
            if before is not None:
                held[kind][name] = before
    if _rewrite in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(_rewrite)
    shell.strdispatchers["complete_command"].strs.pop(f"%%{_NAME}", None)
