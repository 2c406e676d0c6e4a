"""An enumeration that can list its values."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ("Enum",)


class Enum(enum.Enum):
    """A standard enumeration with `allowed`; mix in ``str`` for members that compare with their text."""

    @classmethod
    def allowed(cls) -> tuple[Any, ...]:
        """Return the values of all members in the order of their definition."""
        return tuple(member.value for member in cls)
