"""`Spec`: the description of one field that does not belong to a class yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, NoReturn, Self

from lionagi._errors import ValidationError, short_repr

from .sentinels import Undefined, Unset, is_sentinel

__all__ = ("Meta", "Spec")

_put = object.__setattr__


class _ByIdentity:
    """Stands for an unhashable value in a key: equal only to itself, and keeps the value alive."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _hashable(value: object) -> object:
    try:
        hash(value)
    except TypeError:
        return _ByIdentity(value)
    return value


class Meta:
    """One immutable fact about a field, such as ``Meta("description", "in metres")``."""

    __slots__ = ("key", "value")
    key: str
    value: Any

    def __init__(self, key: str, value: Any) -> None:
        _put(self, "key", key)
        _put(self, "value", value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Meta is immutable; make a new one instead of setting {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Meta is immutable; {name} cannot be deleted")

    def identity(self) -> tuple[object, ...]:
        """Return a hashable key; 1, 1.0 and True differ, and an unhashable value is equal only to itself."""
        return self.key, self.value.__class__, _hashable(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Meta) and self.identity() == other.identity()

    def __hash__(self) -> int:
        return hash(self.identity())

    def __reduce__(self) -> tuple[Any, ...]:
        return Meta, (self.key, self.value)

    def __repr__(self) -> str:
        return f"Meta({self.key!r}, {short_repr(self.value)})"


def _check_validators(value: Any) -> None:
    found: list[Any] = list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType]
    if not all(callable(item) for item in found):
        raise ValidationError(
            f"Validators must be a callable or a list of callables, not {short_repr(found)}; pass a function"
        )


def _collect(metas: Iterable[Meta], kw: dict[str, Any]) -> tuple[Meta, ...]:
    table: dict[str, Meta] = {}
    for meta in (*metas, *(Meta(key, value) for key, value in kw.items())):
        if meta.key in table:
            raise ValidationError(f"Duplicate metadata key {meta.key!r} in Spec; give it once")
        table[meta.key] = meta
    kept = {key: meta for key, meta in table.items() if not is_sentinel(meta.value)}
    if "default" in kept and "default_factory" in kept:
        raise ValidationError("Spec got both default and default_factory; give one of them")
    if "default_factory" in kept and not callable(kept["default_factory"].value):
        raise ValidationError(f"default_factory must be callable, not {short_repr(kept['default_factory'].value)}")
    if "validator" in kept:
        _check_validators(kept["validator"].value)
    return tuple(kept.values())


class Spec:
    """An immutable field description: a type and facts about it.

    Recognised keywords are ``name, nullable, listable, default, default_factory, validator, validator_mode`` ("after"
    when omitted, or "before") and the keywords of pydantic's ``Field`` such as ``description`` or ``ge``; others are
    kept as metadata and have no effect on a generated class. A sentinel value counts as not given.

    Args:
        base_type: The type of one item; None means anything.
        *metas: Facts as `Meta` objects.
        metadata: More of them.

    Raises:
        ValidationError: A key twice, both kinds of default, or a validator that cannot be called. It is a ValueError.
    """

    __slots__ = ("_hash", "_key", "_table", "base_type", "metadata")
    base_type: Any
    metadata: tuple[Meta, ...]
    _table: dict[str, Any]
    _key: tuple[object, ...] | None
    _hash: int

    def __init__(self, base_type: Any = None, *metas: Meta, metadata: Iterable[Meta] | None = None, **kw: Any) -> None:
        collected = _collect((*metas, *(metadata or ())), kw)
        _put(self, "base_type", Any if base_type is None else base_type)
        _put(self, "metadata", collected)
        _put(self, "_table", {meta.key: meta.value for meta in collected})
        _put(self, "_key", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Spec is immutable; use with_updates({name}=...)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Spec is immutable; {name} cannot be deleted")

    @property
    def name(self) -> str | None:
        """The field's name, None where it has none."""
        return self._table.get("name")

    @property
    def is_nullable(self) -> bool:
        """True where None is a legal value."""
        return bool(self._table.get("nullable"))

    @property
    def is_listable(self) -> bool:
        """True where the field holds a list of ``base_type``."""
        return bool(self._table.get("listable"))

    @property
    def default(self) -> Any:
        """The default, its factory where there is one, else ``Undefined``."""
        return self._table.get("default", self._table.get("default_factory", Undefined))

    @property
    def has_default_factory(self) -> bool:
        """True where `default` is a function that makes the default."""
        return "default_factory" in self._table

    @property
    def annotation(self) -> Any:
        """``base_type``, in ``list[...]`` where listable, with ``| None`` where nullable."""
        annotation: Any = self.base_type
        if self.is_listable:
            annotation = list[annotation]
        return annotation | None if self.is_nullable else annotation

    def annotated(self) -> Any:
        """Return ``Annotated[annotation, *metadata]``, or the bare annotation without metadata."""
        return Annotated[(self.annotation, *self.metadata)] if self.metadata else self.annotation

    def get(self, key: str, default: Any = Unset) -> Any:
        """Return the fact ``key``, or ``default``."""
        return self._table.get(key, default)

    def __getitem__(self, key: str) -> Any:
        return self._table[key]

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def with_updates(self, **kw: Any) -> Self:
        """Return a new Spec with these facts set; a sentinel removes one, ``base_type`` replaces the type."""
        base_type = kw.pop("base_type", self.base_type)
        kept = (meta for meta in self.metadata if meta.key not in kw)
        return type(self)(base_type, metadata=kept, **kw)

    def as_nullable(self) -> Self:
        """Return a new Spec for which None is legal."""
        return self.with_updates(nullable=True)

    def as_listable(self) -> Self:
        """Return a new Spec that holds a list."""
        return self.with_updates(listable=True)

    def with_default(self, value: Any) -> Self:
        """Return a new Spec with this default; a callable becomes the ``default_factory``.

        Raises:
            ValidationError: ``value`` is callable and the Spec has a plain default already, or the reverse.
        """
        return self.with_updates(**{"default_factory" if callable(value) else "default": value})

    def with_validator(self, validator: Callable[..., Any] | list[Callable[..., Any]]) -> Self:
        """Return a new Spec with this validator in place of the old one."""
        return self.with_updates(validator=validator)

    def _identity(self) -> tuple[object, ...]:
        if self._key is None:
            base = self.base_type
            # Unions and literals compare without regard to order, which pydantic looks at.
            type_key = base if isinstance(base, type) else (_hashable(base), repr(base))
            key = (type_key, tuple(meta.identity() for meta in self.metadata))
            _put(self, "_hash", hash(key))
            _put(self, "_key", key)
            return key
        return self._key

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Spec) and self._identity() == other._identity()

    def __hash__(self) -> int:
        self._identity()
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.base_type, *self.metadata)

    def __repr__(self) -> str:
        return f"Spec({self.name or '<unnamed>'}: {self.annotation})"
