"""`Structure`: one output format that knows how to ask for itself and how to read its answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self, cast

from pydantic import BaseModel

from lionagi._errors import OperationError, short_repr
from lionagi.ln.types import Operable, Spec
from lionagi.models import FieldModel
from lionagi.operations.schema.generated import (
    RUNTIME_FIELDS,
    GeneratedPair,
    call_operable,
    check_base,
    generated_pair,
    pair_of,
)

__all__ = ("Structure",)

_Specs = Mapping[str, Spec] | Iterable[Spec | FieldModel] | None


def _named(specs: _Specs) -> dict[str, Spec]:
    if isinstance(specs, Mapping):
        return dict(cast("Mapping[str, Spec]", specs))
    given = (item.to_spec() if isinstance(item, FieldModel) else item for item in specs or ())
    return {spec.name: spec for spec in given if spec.name}


class Structure(ABC):
    """An output format: a model class or a mapping, with fields that a call adds.

    Args:
        base: A model class, a model instance (its class counts) or a mapping of key to type, example or description;
            None for a format of added fields only.
        specs: Fields to add, as Specs or FieldModels, or by name.
        actions: Add the fields of tool calls.
        reason: Add the field ``reason``.
        name: What generated classes are named after; the base's name when omitted, "Structure" for a mapping.

    Raises:
        OperationError: The base is something else, or has a field that a flag would override. It is a ValueError.
    """

    def __init__(
        self,
        base: type[BaseModel] | BaseModel | dict[str, Any] | None = None,
        *,
        specs: _Specs = None,
        actions: bool = False,
        reason: bool = False,
        name: str | None = None,
    ) -> None:
        self._base: type[BaseModel] | None = None
        self._mapping: dict[str, Any] | None = None
        self._pair: GeneratedPair | None = None
        self._specs = _named(specs)
        self._actions = actions
        self._reason = reason
        self._name = name
        self._read_base(base)
        if self._specs or actions or reason or base is None:
            self._pair = self._generate()

    def _read_base(self, given: Any) -> None:
        base: Any = type(given) if isinstance(given, BaseModel) else given
        if base is None or isinstance(base, dict):
            self._mapping = cast("dict[str, Any] | None", base)
        elif isinstance(base, type) and issubclass(base, BaseModel):
            self._base = base
            self._pair = pair_of(base)
            self._mapping = self._pair.mapping if self._pair is not None else None
        else:
            raise OperationError(
                f"a format is a pydantic model class, an instance of one or a dict, not {short_repr(given)}"
            )

    def _generate(self) -> GeneratedPair:
        names = self._base.model_fields if self._base is not None else self._mapping or {}
        check_base(names, self.name, reason=self._reason, actions=self._actions)
        return generated_pair(
            base=self._base,
            name=self.name,
            operable=self.operable,
            exclude=RUNTIME_FIELDS if self._actions else frozenset(),
            mapping=None if self._base is not None else self._mapping,
        )

    @property
    def base(self) -> type[BaseModel] | dict[str, Any] | None:
        """The class or the mapping that the format was made from."""
        return self._base if self._base is not None else self._mapping

    @property
    def base_dict(self) -> dict[str, Any] | None:
        """The mapping in dict mode, else None."""
        return self._mapping

    @cached_property
    def is_dict_mode(self) -> bool:
        """True where the answer is read as a mapping."""
        return self._mapping is not None

    @property
    def name(self) -> str:
        """What generated classes are named after."""
        if self._name:
            return self._name
        if self._base is None:
            return "Structure"
        known = pair_of(self._base)
        return known.name if known is not None else self._base.__name__

    @property
    def operable(self) -> Operable:
        """The added fields."""
        return call_operable(self._reason, self._actions, self._specs)

    @property
    def request_type(self) -> type[BaseModel] | None:
        """The class that a model is asked for; None for a bare mapping."""
        return self._pair.request if self._pair is not None else self._base

    @cached_property
    def response_type(self) -> type[BaseModel] | None:
        """The class of parsed answers, with the runtime's own fields; None for a bare mapping."""
        if self._pair is None or self._base is self._pair.request:
            return self._base
        return self._pair.response

    @property
    def runtime_fields(self) -> frozenset[str]:
        """Names of the fields that are never asked for and whose values in an answer are dropped."""
        return self._pair.exclude if self._pair is not None else frozenset()

    def request_schema(self) -> type[BaseModel] | dict[str, Any]:
        """Return `request_type`, or the mapping where that is all there is; the base itself where nothing is added."""
        return self.request_type or self._mapping or {}

    def response_schema(self) -> type[BaseModel] | dict[str, Any]:
        """Return `response_type`, or the mapping where that is all there is; the base itself where nothing is added."""
        return self.response_type or self._mapping or {}

    def to_format(self, parsed: Any) -> Any:
        """Return a mapping or a model instance in this format: a mapping in dict mode, else a `response_type`.

        Raises:
            pydantic.ValidationError: The value does not fit the class.
        """
        if self.is_dict_mode:
            return parsed.model_dump(by_alias=True) if isinstance(parsed, BaseModel) else parsed
        target = self.response_type
        if target is None or isinstance(parsed, target):
            return parsed
        return target.model_validate(parsed.model_dump(by_alias=True) if isinstance(parsed, BaseModel) else parsed)

    def _changed(self, **changes: Any) -> Self:
        given: dict[str, Any] = {
            "specs": self._specs,
            "actions": self._actions,
            "reason": self._reason,
            "name": self._name,
        }
        return type(self)(self.base, **{**given, **changes})

    def with_specs(self, specs: _Specs) -> Self:
        """Return a new structure that has these fields as well."""
        return self._changed(specs={**self._specs, **_named(specs)})

    def with_actions(self, actions: bool = True) -> Self:
        """Return a new structure with or without the fields of tool calls."""
        return self._changed(actions=actions)

    def with_reason(self, reason: bool = True) -> Self:
        """Return a new structure with or without the field ``reason``."""
        return self._changed(reason=reason)

    def __repr__(self) -> str:
        flags = [flag for flag, on in (("actions", self._actions), ("reason", self._reason)) if on]
        return f"{type(self).__name__}({', '.join([self.name, *self._specs, *flags])})"

    @abstractmethod
    def render(self) -> str:
        """Return the words that ask a model for this format."""

    @abstractmethod
    def parse(self, text: str, *, fuzzy_match_params: Any = None) -> Any:
        """Return the answer ``text`` in this format, without asking anyone.

        Raises:
            ParseError: ExtractionError where no value is found, SchemaRejectedError where it does not fit.
        """
