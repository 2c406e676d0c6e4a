"""`FieldModel`: a reusable field template, the spelling of `Spec` for callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

from pydantic.fields import FieldInfo

from lionagi._errors import ValidationError
from lionagi.ln.types import Spec, Unset, not_sentinel
from lionagi.ln.types.operable import pydantic_field, pydantic_validators

__all__ = ("FieldModel",)

_put = object.__setattr__


class FieldModel:
    """An immutable template of one field of a generated class.

    Args:
        base_type: The type of one item, anything when omitted.
        annotation: Another word for ``base_type``.
        name: The field's name; an empty one adds no field.
        field: Another word for ``name``.
        nullable: None is legal, and the default unless one is given.
        listable: The field holds a list of items.
        validator: One function or a list; ``(value)`` or ``(cls, value)``, returning the value to keep.
        default: The default, or a function that makes it.
        description: What the model is told about the field.
        **extra: Keywords of pydantic's ``Field`` (``ge``, ``max_length``, …) or other metadata.

    Raises:
        ValidationError: ``validator`` cannot be called, or the two words for one thing disagree. It is a ValueError.
    """

    __slots__ = ("_spec",)
    _spec: Spec

    def __init__(
        self,
        base_type: Any = Unset,
        name: str | None = None,
        *,
        annotation: Any = Unset,
        field: str | None = None,
        nullable: bool = False,
        listable: bool = False,
        validator: Callable[..., Any] | list[Callable[..., Any]] | None = None,
        default: Any = Unset,
        description: str | None = None,
        **extra: Any,
    ) -> None:
        if name is not None and field is not None and name != field:
            raise ValidationError(f"FieldModel got name={name!r} and field={field!r}; give one of them")
        chosen = base_type if not_sentinel(base_type) else annotation
        facts: dict[str, Any] = {"name": next((n for n in (name, field) if n is not None), "field"), **extra}
        if nullable:
            facts["nullable"] = True
        if listable:
            facts["listable"] = True
        if validator is not None:
            facts["validator"] = validator
        if not_sentinel(default):
            facts["default_factory" if callable(default) else "default"] = default
        if description is not None:
            facts["description"] = description
        _put(self, "_spec", Spec(chosen if not_sentinel(chosen) else Any, **facts))

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Return the template that stands for ``spec``."""
        new = object.__new__(cls)
        _put(new, "_spec", spec)
        return new

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"FieldModel is immutable; use with_metadata({name!r}, ...)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"FieldModel is immutable; {name} cannot be deleted")

    @property
    def name(self) -> str:
        """The field's name, "" where it has none."""
        return self._spec.name or ""

    @property
    def base_type(self) -> Any:
        """The type of one item."""
        return self._spec.base_type

    @property
    def annotation(self) -> Any:
        """The whole type, with the list and None around the item's type."""
        return self._spec.annotation

    @property
    def is_nullable(self) -> bool:
        """True where None is legal."""
        return self._spec.is_nullable

    @property
    def is_listable(self) -> bool:
        """True where the field holds a list."""
        return self._spec.is_listable

    @property
    def field_validator(self) -> dict[str, Any] | None:
        """The validators as pydantic decorators keyed by attribute name, None where there are none."""
        return pydantic_validators(self._spec) or None

    def to_spec(self) -> Spec:
        """Return the Spec; the same object at every call."""
        return self._spec

    def create_field(self) -> FieldInfo:
        """Return a new pydantic field that holds the type, the default and the description."""
        info = pydantic_field(self._spec)
        info.annotation = self._spec.annotation
        return info

    def as_nullable(self) -> Self:
        """Return a new template for which None is legal."""
        return self.from_spec(self._spec.as_nullable())

    def as_listable(self) -> Self:
        """Return a new template that holds a list."""
        return self.from_spec(self._spec.as_listable())

    def with_default(self, value: Any) -> Self:
        """Return a new template with this default; a callable makes the default at each use."""
        return self.from_spec(self._spec.with_default(value))

    def with_validator(self, validator: Callable[..., Any] | list[Callable[..., Any]]) -> Self:
        """Return a new template with this validator in place of the old one."""
        return self.from_spec(self._spec.with_validator(validator))

    def with_description(self, description: str) -> Self:
        """Return a new template with this description."""
        return self.with_metadata("description", description)

    def with_metadata(self, key: str, value: Any) -> Self:
        """Return a new template with the fact ``key`` set to ``value``."""
        return self.from_spec(self._spec.with_updates(**{key: value}))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldModel) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash(self._spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_spec, (self._spec,)

    def __repr__(self) -> str:
        return f"FieldModel({self.name or '<unnamed>'}: {self.annotation})"
