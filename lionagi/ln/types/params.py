"""Parameter objects: frozen `Params` for the pipeline's stages, mutable `DataClass` for message contents."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Collection
from typing import Any, ClassVar, NamedTuple, Self

from lionagi._errors import ValidationError, short_repr

from .records import FrozenRecord
from .sentinels import Undefined, Unset, is_sentinel

__all__ = ("DataClass", "ModelConfig", "Params")

_put = object.__setattr__


@dataclasses.dataclass(frozen=True, slots=True, repr=False, eq=False)
class ModelConfig(FrozenRecord):
    """What counts as "not there" in a `Params` or `DataClass` class, and how it is written out.

    Args:
        none_as_sentinel: None counts as not supplied.
        empty_as_sentinel: Empty strings and collections count as not supplied.
        strict: Constructing with a field that is not supplied is an error.
        prefill_unset: An omitted field without a default is ``Unset``; otherwise it is ``Undefined``.
        use_enum_values: ``to_dict`` writes an enum member as its value.
        serialize_exclude: Field names that ``to_dict`` always leaves out.
    """

    none_as_sentinel: bool = False
    empty_as_sentinel: bool = False
    strict: bool = False
    prefill_unset: bool = True
    use_enum_values: bool = False
    serialize_exclude: frozenset[str] = frozenset()


class _FieldRow(NamedTuple):
    name: str
    default: Any
    factory: Callable[[], Any] | None


def _build_rows(cls: type[Any]) -> tuple[_FieldRow, ...]:
    missing = Unset if cls._config.prefill_unset else Undefined
    rows: list[_FieldRow] = []
    for field in dataclasses.fields(cls):
        default = missing if field.default is dataclasses.MISSING else field.default
        factory = None if field.default_factory is dataclasses.MISSING else field.default_factory
        rows.append(_FieldRow(field.name, default, factory))
    cls._rows = tuple(rows)
    return cls._rows


class _FieldAccess:
    """What `Params` and `DataClass` share: names, sentinels and the dict form."""

    __slots__ = ()
    _config: ClassVar[ModelConfig] = ModelConfig()
    # Filled at the first use: at class creation the dataclass decorator has not run yet.
    _rows: ClassVar[tuple[_FieldRow, ...] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._rows = None

    @classmethod
    def field_names(cls) -> set[str]:
        """Return the names of the public fields."""
        return {row.name for row in cls._rows or _build_rows(cls) if not row.name.startswith("_")}

    @classmethod
    def allowed(cls) -> set[str]:
        """Return the names of the public fields; the same as `field_names`."""
        return cls.field_names()

    @classmethod
    def _is_sentinel(cls, value: object) -> bool:
        """Tell whether ``value`` counts as not supplied under the class's ``_config``."""
        config = cls._config
        return is_sentinel(value, config.none_as_sentinel, config.empty_as_sentinel)

    def to_dict(self, exclude: Collection[str] | None = None) -> dict[str, Any]:
        """Return the supplied public fields as a new dict; values are not copied.

        Args:
            exclude: Names to leave out in addition to the class's own ``serialize_exclude``.
        """
        cls = type(self)
        skip = cls._config.serialize_exclude if exclude is None else cls._config.serialize_exclude.union(exclude)
        data: dict[str, Any] = {}
        for row in cls._rows or _build_rows(cls):
            if row.name.startswith("_") or row.name in skip:
                continue
            value = getattr(self, row.name)
            if cls._is_sentinel(value):
                continue
            data[row.name] = value.value if cls._config.use_enum_values and isinstance(value, enum.Enum) else value
        return data


def _refuse_unknown(cls: type, unknown: dict[str, Any]) -> None:
    name, value = next(iter(unknown.items()))
    raise ValidationError(
        f"Invalid parameter: {name} (={short_repr(value)}) is not a field of {cls.__name__}; "
        f"remove it or use one of {', '.join(sorted(cls.allowed()))}"  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownArgumentType]
    )


@dataclasses.dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)
class Params(_FieldAccess):
    """Base of immutable parameter objects that are made with keywords only.

    Subclasses are ``@dataclass(slots=True, frozen=True, init=False, eq=False, repr=False)``: what is left to the base
    makes their import cheap. An omitted field has its declared default, or
    ``Unset`` without one. Two objects of one class with equal fields are equal, and hashable where the fields are.

    Raises:
        ValidationError: A keyword is no field ("Invalid parameter"), or, with a strict ``_config``, a field is
            not supplied. It is a ValueError.
    """

    def __init__(self, **kwargs: Any) -> None:
        cls = type(self)
        for name, default, factory in cls._rows or _build_rows(cls):
            if name in kwargs:
                _put(self, name, kwargs.pop(name))
            else:
                _put(self, name, default if factory is None else factory())
        if kwargs:
            _refuse_unknown(cls, kwargs)
        if cls._config.strict:
            self._require_all()

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        rows = type(self)._rows or _build_rows(type(self))
        return f"{type(self).__qualname__}({', '.join(f'{row.name}={getattr(self, row.name)!r}' for row in rows)})"

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, row.name) for row in type(self)._rows or _build_rows(type(self)))

    def _require_all(self) -> None:
        missing = [name for name in sorted(self.allowed()) if self._is_sentinel(getattr(self, name))]
        if missing:
            raise ValidationError(f"Missing required parameter of {type(self).__name__}: {', '.join(missing)}")

    def with_updates(self, **kwargs: Any) -> Self:
        """Return a new object with these fields replaced; the others are shared, not copied.

        Raises:
            ValidationError: A keyword is no field.
        """
        cls = type(self)
        new = object.__new__(cls)
        for name, _, _ in cls._rows or _build_rows(cls):
            _put(new, name, kwargs.pop(name) if name in kwargs else getattr(self, name))
        if kwargs:
            _refuse_unknown(cls, kwargs)
        if cls._config.strict:
            new._require_all()
        return new

    def default_kw(self) -> dict[str, Any]:
        """Return `to_dict` with the dicts in the fields ``kw`` and ``kwargs`` merged into the top level."""
        data = self.to_dict()
        for name in ("kw", "kwargs"):
            extra = data.pop(name, None)
            if isinstance(extra, dict):
                data.update(extra)  # pyright: ignore[reportUnknownArgumentType]
        return data


@dataclasses.dataclass(slots=True)
class DataClass(_FieldAccess):
    """Base of mutable records; subclasses are ``@dataclass(slots=True)`` and get the usual constructor."""

    def with_updates(self, **kwargs: Any) -> Self:
        """Return a shallow copy with these fields replaced; private fields are kept as they are.

        Raises:
            ValidationError: A keyword is no field.
        """
        cls = type(self)
        new = object.__new__(cls)
        for name, _, _ in cls._rows or _build_rows(cls):
            setattr(new, name, kwargs.pop(name) if name in kwargs else getattr(self, name))
        if kwargs:
            _refuse_unknown(cls, kwargs)
        return new
