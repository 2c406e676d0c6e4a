"""``li script``: look at scripts and recordings, and make one of a saved conversation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from lionagi.cli._entry import EXIT_CODES
from lionagi.cli._options import json_option
from lionagi.cli._output import hint, log_error, log_warning, show, show_json
from lionagi.ln.files import write_atomic
from lionagi.ln.jsons import json_dumps
from lionagi.testing import ScriptModel, script_from_branch

__all__ = ("script_command",)

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("script", invoke_without_command=True)
@click.pass_context
def script_command(ctx: click.Context) -> None:
    """Check scripts and recordings, explain which entry answers a prompt, make a script of a saved conversation."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@script_command.command("check", short_help="Say what script files hold.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_FILE)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@json_option
def _check(files: tuple[Path, ...], strict: bool, as_json: bool) -> int:
    """Read each FILE and say what it holds; what is no script is an error, an entry that can never count a warning.

    Status 0 for sound scripts, 1 for an error, and with --strict for a warning.
    """
    verdicts = [_verdict(path) for path in files]
    if as_json:
        show_json({"files": verdicts})
    for verdict in verdicts:
        if not as_json and verdict["holds"]:
            show(f"{verdict['file']}: {verdict['holds']}")
        if verdict["error"]:
            log_error(f"{verdict['file']}: {verdict['error']}")
        for warning in verdict["warnings"]:
            log_warning(f"{verdict['file']}: {warning}")
    failed = any(verdict["error"] or (strict and verdict["warnings"]) for verdict in verdicts)
    return EXIT_CODES["failed" if failed else "completed"]


def _verdict(path: Path) -> dict[str, Any]:
    try:
        script = ScriptModel.coerce(path)
    except (ValueError, TypeError) as error:
        return {"file": str(path), "holds": None, "error": str(error), "warnings": []}
    return {"file": str(path), "holds": _summary(script), "error": None, "warnings": script.problems()}


def _summary(script: ScriptModel) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(entry.type for entry in script.responses).items())
    said = f"version {script.version}, mode {script.mode}, {len(script.responses)} entries ({kinds or 'none'})"
    conditional = sum(entry.when is not None and not entry.when.is_empty() for entry in script.responses)
    said += f", {conditional} with a condition" if conditional else ""
    if (block := script.recording) is not None:
        models = " and ".join(model.key for model in (block, *block.others))
        said += f", recorded from {models}" + (f" at {block.when}" if block.when else "")
    return said


@script_command.command("explain", short_help="Say which entry answers a prompt, and why.")
@click.argument("file", type=_FILE)
@click.option("--prompt", "prompts", required=True, multiple=True, help="The last user message; repeatable.")
@click.option("--call", "call_index", type=click.IntRange(0), help="The number of the explained call, from 0.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="A tool that the calls offer; repeatable.")
@json_option
def _explain(
    file: Path, prompts: tuple[str, ...], call_index: int | None, tools: tuple[str, ...], as_json: bool
) -> int:
    """Say for each entry of FILE why it would or would not answer a prompt.

    With several prompts the earlier ones are answered first, and the last one is explained. Status 1 where no entry
    answers it.
    """
    script = ScriptModel.coerce(file)
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    *earlier, payload = [{"messages": [{"role": "user", "content": each}], "tools": offered} for each in prompts]
    for index, asked in enumerate(earlier):
        script.next(asked, index)
    explanation = script.explain(payload, len(earlier) if call_index is None else call_index)
    if as_json:
        lines = [{"index": each.index, "serves": each.serves, "reason": each.reason} for each in explanation.entries]
        show_json({"call_index": explanation.call_index, "prompt": explanation.prompt, "entries": lines})
    else:
        show(repr(explanation))
    return EXIT_CODES["completed" if explanation.served else "failed"]


@script_command.command("from-branch", short_help="Make a script of a saved conversation.")
@click.argument("snapshot", type=_FILE)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@json_option
def _from_branch(snapshot: Path, output: Path | None, as_json: bool) -> int:
    """Turn SNAPSHOT, a saved conversation, into a script that gives its answers again; YAML, or JSON with --json."""
    script = script_from_branch(snapshot)
    if output is not None:
        write_atomic(output, json_dumps(script.to_mapping()) if as_json else script.to_yaml())
        hint(f"{len(script.responses)} entries written to {output}")
    elif as_json:
        show_json(script.to_mapping())
    else:
        show(script.to_yaml(), end="")
    return EXIT_CODES["completed"]
