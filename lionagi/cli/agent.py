"""``li agent``: one question to a model, with a checked form in front of it.

A form is the gate: the file is read once, and unless all of it is valid no model is made or called.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from lionagi._errors import ValidationError
from lionagi.cli._ask import AgentOutcome, AgentTask, ask, run_async
from lionagi.cli._gate import check_form, read_form_file
from lionagi.cli._options import json_option, positive_seconds, prompt_of
from lionagi.cli._output import hint, log_error, show, show_json
from lionagi.cli._stream import AnswerStream
from lionagi.ln.hidden import one_line
from lionagi.work._form_file import FORM_FILE_KEYS
from lionagi.work.form import WorkForm

__all__ = ("AgentOptions", "agent_command", "run_agent")

_FORM_SPEC_ALLOWED_KEYS = FORM_FILE_KEYS


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What the command line said.

    Attributes:
        prompt: What to ask.
        model: A provider, "provider/model" or a model; None for the default.
        form: The form file.
        system: The system message.
        timeout: Seconds for the turn.
        as_json: Whether standard output gets one JSON object instead of the answer's text.
        stream: Whether the answer is shown as it arrives.
        resume: The id of a saved branch, "" for the last one, None for a new one.
        cwd: Where the turn runs.
        verbose: Whether model, usage, time and stages are told.
        save: Whether the branch is kept for resuming.
    """

    prompt: str
    model: str | None = None
    form: str | None = None
    system: str | None = None
    timeout: float | None = None
    as_json: bool = False
    stream: bool = False
    resume: str | None = None
    cwd: str | None = None
    verbose: bool = False
    save: bool = True


def _load_form_spec(path: str) -> dict[str, Any]:
    """Return the mapping in a form file, a dict that knows the line of each key.

    Raises:
        FileNotFoundError: Nothing is there.
        ValueError: It is no regular file or its text is refused.
    """
    return read_form_file(path)


def _build_work_form(spec: Mapping[str, Any], spec_path: str) -> WorkForm:
    """Return the filled form, in status "error" where values do not fit.

    Raises:
        ValueError: The file's structure or a declaration is wrong; the message lists every problem.
    """
    checked = check_form(spec, spec_path)
    if checked.faults:
        problems = "; ".join(map(str, checked.problems))
        raise ValidationError(f"form file {spec_path}: {problems}", details={"path": spec_path})
    return checked.form


def _form_to_context_block(form: WorkForm) -> str:
    """Return exactly 1 + n lines for n values, whatever characters they hold."""
    lines = [f"[Work Form: {one_line(form.title)}]"]
    lines += (f"  {one_line(str(key))}: {one_line(repr(value))}" for key, value in form.values.items())
    return "\n".join(lines)


def run_agent(options: AgentOptions) -> int:
    """Check the form, ask the model, say what came of it, and return the exit status."""
    prompt = options.prompt
    if options.form is not None:
        try:
            form = _build_work_form(_load_form_spec(options.form), options.form)
            if form.status == "error":
                raise ValidationError(f"form validation failed ({options.form}): {'; '.join(form.validation_errors)}")
        except (OSError, ValueError) as error:
            return _report(AgentOutcome("failed", error=str(error)), options)
        if form.values:
            prompt = f"{_form_to_context_block(form)}\n\n{prompt}"
    stream = AnswerStream() if options.stream else None
    task = AgentTask(
        prompt=prompt,
        model=options.model,
        system=options.system,
        timeout=options.timeout,
        resume=options.resume,
        cwd=options.cwd,
        save=options.save,
        on_text=None if stream is None else stream.write,
    )
    try:
        outcome = run_async(ask(task))
    except KeyboardInterrupt:
        outcome = AgentOutcome("aborted", error="interrupted")
    except SystemExit:
        outcome = AgentOutcome("terminated", error="terminated")
    if stream is not None:
        stream.close()
    return _report(outcome, options, shown=stream is not None and stream.written)


def _report(outcome: AgentOutcome, options: AgentOptions, *, shown: bool = False) -> int:
    resume = f"li agent -r {outcome.branch_id}" if outcome.saved else None
    if options.as_json:
        show_json(outcome.to_dict(resume=resume))
    elif outcome.answer and not shown:
        show(outcome.answer)
    if outcome.error is not None:
        log_error(outcome.error)
    if options.verbose:
        _tell(outcome)
    if resume is not None:
        hint(f"saved to {outcome.saved}")
        hint(f'to resume: {resume} "..."')
    return outcome.exit_code


def _tell(outcome: AgentOutcome) -> None:
    usage = ", ".join(f"{name} {count}" for name, count in sorted(outcome.usage.items())) or "not reported"
    hint(f"model: {outcome.provider}/{outcome.model}; usage: {usage}; {outcome.seconds:.3g} s")
    for line in outcome.outline.splitlines():
        hint(f"  {line}")


@click.command("agent")
@click.argument("words", nargs=-1, metavar="[MODEL] PROMPT")
@click.option("--prompt", metavar="TEXT", help="The prompt, instead of the last argument.")
@click.option("--prompt-file", metavar="FILE", help="A file with the prompt; - is standard input.")
@click.option("--form", metavar="FILE", help="A YAML or JSON form; unless it is valid no model is asked.")
@click.option("--system", metavar="TEXT", help="The system message.")
@click.option(
    "--timeout",
    type=float,
    callback=positive_seconds,
    metavar="SECONDS",
    help="Give up after so many seconds (status 124).",
)
@click.option("--stream", is_flag=True, help="Show the answer as it arrives.")
@click.option("-r", "--resume", metavar="BRANCH", help="Go on with a saved branch.")
@click.option("-c", "--continue-last", is_flag=True, help="Go on with the branch that was saved last.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False), metavar="DIR", help="Where the turn runs.")
@click.option("--no-save", is_flag=True, help="Keep nothing for resuming.")
@click.option("-v", "--verbose", is_flag=True, help="Tell model, usage, time and stages.")
@json_option
def agent_command(words: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Ask a model once and print its answer.

    MODEL is a provider, provider/model or a model's name. Without it the model of the saved branch is asked, else
    the default: LIONAGI_CHAT_PROVIDER and LIONAGI_CHAT_MODEL, OpenAI if its key is set, the local model if installed.

    \b
    Exit status: 0 completed, 1 failed or invalid form, 2 usage, 124 timed out,
    130 interrupted, 141 broken pipe, 143 terminated.
    """
    if given["resume"] is not None and given["continue_last"]:
        raise click.UsageError("--resume and --continue-last are mutually exclusive")
    if given["stream"] and as_json:
        raise click.UsageError("--stream and --json are mutually exclusive")
    model, prompt = prompt_of(words, given["prompt"], given["prompt_file"], sys.stdin)
    options = AgentOptions(
        prompt=prompt,
        model=model,
        as_json=as_json,
        resume="" if given["continue_last"] else given["resume"],
        save=not given["no_save"],
        **{name: given[name] for name in ("form", "system", "timeout", "stream", "cwd", "verbose")},
    )
    return run_agent(options)
