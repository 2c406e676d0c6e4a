"""The two values that mean "not there": ``Undefined`` (no such field) and ``Unset`` (a field nobody has set)."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self, TypeGuard, TypeVar

__all__ = (
    "Undefined",
    "UndefinedType",
    "Unset",
    "UnsetType",
    "is_sentinel",
    "not_sentinel",
)

T = TypeVar("T")


class _SentinelType:
    """One falsy instance per class, the same object after copying and pickling."""

    __slots__ = ()
    _name: ClassVar[str] = ""
    _instance: ClassVar[Any] = None

    def __new__(cls) -> Self:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return self._name

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> str:
        # A string tells pickle to look the global of that name up, which keeps the identity.
        return self._name


class UndefinedType(_SentinelType):
    """The type of ``Undefined``: a name that does not exist on the object that was asked."""

    __slots__ = ()
    _name = "Undefined"
    _instance = None


class UnsetType(_SentinelType):
    """The type of ``Unset``: a known field that nobody has given a value."""

    __slots__ = ()
    _name = "Unset"
    _instance = None


Undefined: Final[UndefinedType] = UndefinedType()
Unset: Final[UnsetType] = UnsetType()

_EMPTY_TYPES = (str, bytes, list, tuple, set, frozenset, dict)


def is_sentinel(value: object, none_as_sentinel: bool = False, empty_as_sentinel: bool = False) -> bool:
    """Tell whether ``value`` means "not there".

    ``Undefined`` and ``Unset`` always do; None with ``none_as_sentinel``; an empty str, bytes, list, tuple, set or
    dict with ``empty_as_sentinel``. Other falsy values (0, False) are values.
    """
    if value is Unset or value is Undefined:
        return True
    if none_as_sentinel and value is None:
        return True
    return empty_as_sentinel and isinstance(value, _EMPTY_TYPES) and not value


def not_sentinel(
    value: T | UndefinedType | UnsetType, none_as_sentinel: bool = False, empty_as_sentinel: bool = False
) -> TypeGuard[T]:
    """Tell whether ``value`` is a real value; the opposite of `is_sentinel` that narrows the type."""
    return not is_sentinel(value, none_as_sentinel, empty_as_sentinel)
