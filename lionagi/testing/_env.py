"""The environment variables that put a script in the place of a model, in this process or in a child."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = (
    "DEFAULT_SCRIPTED_MODEL",
    "ENV_MODEL",
    "ENV_PROVIDER",
    "ENV_RECORD_MODE",
    "ENV_SCRIPT_PATH",
    "SCRIPTED_PROVIDER",
    "is_scripted_provider_active",
    "resolve_script_path",
    "scripted_env",
    "subprocess_env",
)

ENV_PROVIDER = "LIONAGI_CHAT_PROVIDER"
ENV_MODEL = "LIONAGI_CHAT_MODEL"
ENV_SCRIPT_PATH = "LIONAGI_TEST_SCRIPT"
ENV_RECORD_MODE = "LIONAGI_RECORD_MODE"
SCRIPTED_PROVIDER = "scripted"
DEFAULT_SCRIPTED_MODEL = "scripted-test"


def resolve_script_path() -> Path | None:
    """Return the path in LIONAGI_TEST_SCRIPT (``~`` expanded), None where it is unset or empty."""
    value = os.environ.get(ENV_SCRIPT_PATH)
    return Path(value).expanduser() if value else None


def is_scripted_provider_active() -> bool:
    """Return whether LIONAGI_CHAT_PROVIDER names the scripted provider, in any letter case."""
    return os.environ.get(ENV_PROVIDER, "").strip().lower() == SCRIPTED_PROVIDER


def _variables(script_path: str | Path, model: str) -> dict[str, str]:
    return {ENV_PROVIDER: SCRIPTED_PROVIDER, ENV_MODEL: model, ENV_SCRIPT_PATH: str(script_path)}


@contextmanager
def scripted_env(script_path: str | Path, model: str = DEFAULT_SCRIPTED_MODEL) -> Generator[None]:
    """Set the three variables inside the block; after it each has its old value, or is unset as before."""
    variables = _variables(script_path, model)
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def subprocess_env(
    script_path: str | Path, model: str = DEFAULT_SCRIPTED_MODEL, base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return an environment for a child process: ``base`` (a copy of ours when None) with the three variables set."""
    return {**(os.environ if base is None else base), **_variables(script_path, model)}
