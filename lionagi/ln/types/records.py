"""What dataclasses have in common: equality, hash and text, written once instead of generated for each class."""

from __future__ import annotations

from typing import Any

__all__ = ("FrozenRecord", "Record")


class Record:
    """Base of ``@dataclass(slots=True, repr=False, eq=False)``: equal to its own kind with equal fields, unhashable."""

    __slots__ = ()
    __dataclass_fields__: Any
    __hash__: Any = None

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if type(other) is type(self) else NotImplemented

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
        return f"{type(self).__qualname__}({fields})"


class FrozenRecord(Record):
    """Base of ``@dataclass(slots=True, frozen=True, repr=False, eq=False)``: a Record with a hash."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(self._values())
