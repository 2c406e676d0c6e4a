"""Looking for a pattern, with Python's engine or with one that takes linear time."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from lionagi._errors import short_repr

__all__ = ("PATTERN_ERRORS", "finder")

PATTERN_ERRORS = (re.error, ValueError, TypeError, OverflowError, RecursionError, ImportError)
"""What :func:`finder` raises."""


def finder(params: dict[str, Any]) -> Callable[[str], object]:
    """Return the function that looks for a rule's pattern anywhere in a text; it returns None where it is not found.

    Args:
        params: "pattern", by default one that is found everywhere; "flags", an int; "engine", "re" or "re2".

    Raises:
        re.error: The pattern is none; with re2 also what that engine does not know, such as look-around.
        TypeError: The pattern is no text, or the flags are no int.
        ValueError: The engine is neither "re" nor "re2", or does not know a flag.
        ImportError: The extra re2 is missing.
    """
    pattern = params.get("pattern", "")
    if not isinstance(pattern, str):
        raise TypeError(f"the pattern must be a text, not {short_repr(pattern)}")
    return _compiled(pattern, int(params.get("flags", 0)), params.get("engine", "re")).search


@lru_cache(4096)
def _compiled(pattern: str, flags: int, engine: Any) -> Any:
    if engine == "re":
        return re.compile(pattern, flags)
    if engine == "re2":
        return _linear(pattern, flags)
    raise ValueError(f"there is no engine {short_repr(engine)}; use 're' or 're2'")


def _linear(pattern: str, flags: int) -> Any:
    try:
        import re2  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise ImportError("the engine 're2' is not installed; install google-re2, or leave the engine out") from None
    library: Any = re2
    known = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}
    left = flags & ~int(re.UNICODE)
    letters = ""
    for flag, letter in known.items():
        if left & flag:
            letters, left = letters + letter, left & ~int(flag)
    if left:
        raise ValueError(f"the engine 're2' knows the flags I, M and S, not {re.RegexFlag(left)!r}")
    options = library.Options()
    options.log_errors = False
    try:
        return library.compile(f"(?{letters}){pattern}" if letters else pattern, options)
    except library.error as error:
        raise re.error(_text(error)) from None


def _text(error: Exception) -> str:
    said = error.args[0] if error.args else str(error)
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
