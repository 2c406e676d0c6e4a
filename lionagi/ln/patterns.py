"""Regular expressions that are compiled at their first use, so that an import costs none of them."""

from __future__ import annotations

import re
from typing import Any, cast

__all__ = ("late_pattern",)


class _LatePattern:
    """Stands for a ``re.Pattern``; its methods are looked up once and kept."""

    def __init__(self, text: str, flags: int) -> None:
        self._source = (text, flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)
        return value


def late_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return an object with a pattern's methods that compiles at the first of them that is called."""
    return cast("re.Pattern[str]", _LatePattern(text, flags))
