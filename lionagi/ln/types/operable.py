"""`Operable`: an ordered set of Specs, and the pydantic class that is made from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast, overload

from lionagi._errors import ConfigurationError, ValidationError, short_repr

from .sentinels import Unset
from .spec import Spec

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

__all__ = ("Operable", "pydantic_field", "pydantic_validators")

_put = object.__setattr__

_FIELD_KEYWORDS = frozenset(
    {
        "alias",
        "alias_priority",
        "decimal_places",
        "deprecated",
        "description",
        "discriminator",
        "examples",
        "exclude",
        "frozen",
        "ge",
        "gt",
        "json_schema_extra",
        "le",
        "lt",
        "max_digits",
        "max_length",
        "min_length",
        "multiple_of",
        "pattern",
        "repr",
        "serialization_alias",
        "strict",
        "title",
        "validate_default",
        "validation_alias",
    }
)


def _checked(specs: Iterable[Spec]) -> tuple[Spec, ...]:
    checked: list[Spec] = []
    seen: set[str] = set()
    for index, spec in enumerate(specs):
        if not isinstance(spec, Spec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"All specs must be Spec objects; item {index} is {short_repr(spec)}")
        if spec.name:
            if spec.name in seen:
                raise ValidationError(f"Duplicate field name {spec.name!r}; each Spec of an Operable needs its own")
            seen.add(spec.name)
        checked.append(spec)
    return tuple(checked)


class Operable:
    """An immutable, ordered set of Specs from which a model class can be made.

    Args:
        specs: The fields; names must differ. A Spec without a name is kept and adds no field.
        name: The default name of the class that `create_model` makes.

    Raises:
        TypeError: A member is no Spec.
        ValidationError: Two members have the same name. It is a ValueError.
    """

    __slots__ = ("__op_fields__", "_hash", "name")
    __op_fields__: tuple[Spec, ...]
    name: str | None
    _hash: int | None

    def __init__(self, specs: Iterable[Spec] = (), *, name: str | None = None) -> None:
        _put(self, "__op_fields__", _checked(specs))
        _put(self, "name", name)
        _put(self, "_hash", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Operable is immutable; make a new one instead of setting {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Operable is immutable; {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Operable) and self.name == other.name and self.__op_fields__ == other.__op_fields__

    def __hash__(self) -> int:
        if self._hash is None:
            _put(self, "_hash", hash((self.name, self.__op_fields__)))
        return self._hash  # pyright: ignore[reportReturnType]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.__op_fields__, self.name)

    def __repr__(self) -> str:
        return f"Operable({', '.join(sorted(self.allowed()))})"

    def allowed(self) -> frozenset[str]:
        """Return the names of the named fields."""
        return frozenset(spec.name for spec in self.__op_fields__ if spec.name)

    @overload
    def check_allowed(self, *names: str, as_boolean: Literal[True]) -> bool: ...
    @overload
    def check_allowed(self, *names: str, as_boolean: Literal[False] = False) -> Literal[True]: ...
    def check_allowed(self, *names: str, as_boolean: bool = False) -> bool:
        """Tell whether all ``names`` are fields.

        Raises:
            ValidationError: One is not, and ``as_boolean`` is false. It is a ValueError.
        """
        unknown = set(names) - self.allowed()
        if unknown and not as_boolean:
            raise ValidationError(
                f"Fields not allowed: {', '.join(sorted(unknown))}; known are {', '.join(sorted(self.allowed()))}"
            )
        return not unknown

    def get(self, name: str, default: Any = Unset) -> Any:
        """Return the Spec called ``name``, or ``default``."""
        return next((spec for spec in self.__op_fields__ if spec.name == name), default)

    def get_specs(
        self, *, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> tuple[Spec, ...]:
        """Return the Specs, all of them or a selection by name, in order.

        Raises:
            ValidationError: Both selections are given, or one names an unknown field. It is a ValueError.
        """
        if include is not None and exclude is not None:
            raise ValidationError("get_specs takes include or exclude, not both")
        if include is not None:
            self.check_allowed(*include)
            return tuple(spec for spec in self.__op_fields__ if spec.name in include)
        if exclude is not None:
            self.check_allowed(*exclude)
            return tuple(spec for spec in self.__op_fields__ if spec.name not in exclude)
        return self.__op_fields__

    def create_model(
        self,
        adapter: Literal["pydantic"] = "pydantic",
        model_name: str | None = None,
        include: Collection[str] | None = None,
        exclude: Collection[str] | None = None,
        *,
        base_type: type[BaseModel] | None = None,
        doc: str | None = None,
    ) -> type[BaseModel]:
        """Make a new pydantic class with one field per named Spec.

        A nullable Spec without a default gets None. The class is made afresh at every call (about a millisecond);
        callers that repeat themselves keep it.

        Args:
            adapter: Only "pydantic" exists.
            model_name: The class's name; else the Operable's name, else "DynamicModel".
            include: Names of the fields to take; all when omitted.
            exclude: Names of the fields to leave out.
            base_type: The class to inherit from, BaseModel when omitted.
            doc: The class's docstring.

        Raises:
            ConfigurationError: The adapter is unknown ("Unsupported adapter"). It is a ValueError.
            ValidationError: The selection names an unknown field.
        """
        if adapter != "pydantic":
            raise ConfigurationError(f"Unsupported adapter {short_repr(adapter)}; use 'pydantic'")
        specs = self.get_specs(include=include, exclude=exclude)
        return _materialize(model_name or self.name or "DynamicModel", specs, base_type, doc)


def _restore(specs: tuple[Spec, ...], name: str | None) -> Operable:
    return Operable(specs, name=name)


def pydantic_field(spec: Spec) -> FieldInfo:
    """Return the pydantic field of ``spec`` without its annotation; a nullable Spec without a default gets None."""
    from pydantic import Field

    keywords: dict[str, Any] = {meta.key: meta.value for meta in spec.metadata if meta.key in _FIELD_KEYWORDS}
    if "default_factory" in spec:
        keywords["default_factory"] = spec["default_factory"]
    elif "default" in spec:
        keywords["default"] = spec["default"]
    elif spec.is_nullable:
        keywords["default"] = None
    return cast("FieldInfo", Field(**keywords))


def _plain(function: Any) -> Any:
    # Pydantic looks at the signature, which says little for a builtin, a class or an object that can be called.
    return function if isinstance(function, FunctionType | MethodType) else lambda value: function(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownLambdaType]


def pydantic_validators(spec: Spec) -> dict[str, Any]:
    """Return the validators of a named ``spec`` as pydantic decorators, keyed by an attribute name each."""
    from pydantic import field_validator

    given = spec.get("validator", ())
    functions: list[Any] = list(given) if isinstance(given, list | tuple) else [given]  # pyright: ignore[reportUnknownArgumentType]
    make = cast("Callable[[Any], Any]", field_validator(spec.name or "", mode=spec.get("validator_mode", "after")))
    return {
        f"spec_validator_{index}_of_{spec.name}": make(_plain(function)) for index, function in enumerate(functions)
    }


def _materialize(
    name: str, specs: Iterable[Spec], base_type: type[BaseModel] | None, doc: str | None
) -> type[BaseModel]:
    from pydantic import BaseModel, create_model

    fields: dict[str, Any] = {}
    validators: dict[str, Any] = {}
    for spec in specs:
        if spec.name:
            fields[spec.name] = spec.annotation, pydantic_field(spec)
            validators.update(pydantic_validators(spec))
    base = base_type or BaseModel
    return create_model(
        name, __base__=base, __module__=base.__module__ if base_type else __name__, __doc__=doc,
        __validators__=validators, **fields,
    )  # fmt: skip
