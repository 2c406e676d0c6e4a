"""`Operative`: the one owner of a call's request class and response class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel

from lionagi._errors import ConfigurationError, OperationError, ParseError, short_repr
from lionagi.ln.types import Operable
from lionagi.operations.schema.generated import RUNTIME_FIELDS, GeneratedPair, generated_pair
from lionagi.operations.schema.json_structure import structure_for

__all__ = ("Operative",)

_NOTHING = Operable()


class Operative:
    """The request class that a model fills and the response class that the caller gets, from one set of fields.

    Both inherit from ``base_type``; the response class inherits from the request class. They are made once for equal
    ingredients and kept in the base's own namespace.

    Args:
        name: What the classes are named after; the base's name when omitted, else "Operative".
        adapter: Only "pydantic" exists.
        strict: `validate_response` raises instead of returning None, and matches keys exactly.
        auto_retry_parse: A text that does not fit is read once more with repaired keys.
        max_retries: Carried for the adapter that reformats; nothing here loops.
        base_type: The caller's class.
        operable: The fields to add.
        request_exclude: Names of the fields that only the response has.
        dict_format: A caller's mapping whose keys become fields of both; results are then mappings.

    Raises:
        ConfigurationError: The adapter is unknown ("Unsupported adapter"). It is a ValueError.
    """

    __slots__ = (
        "_pair",
        "_should_retry",
        "adapter",
        "auto_retry_parse",
        "base_type",
        "dict_format",
        "max_retries",
        "name",
        "operable",
        "request_exclude",
        "response_model",
        "response_str_dict",
        "strict",
    )

    def __init__(
        self,
        name: str | None = None,
        adapter: Literal["pydantic"] = "pydantic",
        strict: bool = False,
        auto_retry_parse: bool = True,
        max_retries: int = 3,
        base_type: type[BaseModel] | None = None,
        operable: Operable | None = None,
        request_exclude: Iterable[str] | None = None,
        dict_format: dict[str, Any] | None = None,
    ) -> None:
        if adapter != "pydantic":
            raise ConfigurationError(f"Unsupported adapter {short_repr(adapter)}; use 'pydantic'")
        self.name: str = name or (base_type.__name__ if base_type is not None else "Operative")
        self.adapter = adapter
        self.strict = strict
        self.auto_retry_parse = auto_retry_parse
        self.max_retries = max_retries
        self.base_type = base_type
        self.operable: Operable = operable or _NOTHING
        self.request_exclude: frozenset[str] = frozenset(request_exclude or ())
        self.dict_format = dict_format or None
        self.response_model: BaseModel | None = None
        self.response_str_dict: str | None = None
        self._should_retry: bool | None = None
        self._pair: GeneratedPair | None = None

    @property
    def pair(self) -> GeneratedPair:
        """Both classes and their ingredients, made at the first use."""
        if self._pair is None:
            self._pair = generated_pair(
                base=self.base_type,
                name=self.name,
                operable=self.operable,
                exclude=self.request_exclude,
                mapping=self.dict_format,
            )
        return self._pair

    @property
    def request_type(self) -> type[BaseModel]:
        """The class that a model is asked for."""
        return self.pair.request

    @property
    def response_type(self) -> type[BaseModel]:
        """The class of the result."""
        return self.pair.response

    def create_request_model(self) -> type[BaseModel]:
        """Return `request_type`, named ``<name>Request``."""
        return self.pair.request

    def create_response_model(self) -> type[BaseModel]:
        """Return `response_type`, named ``<name>Response``."""
        return self.pair.response

    def validate_response(self, text: str, strict: bool | None = None) -> BaseModel | None:
        """Read ``text`` into `response_model` and return that.

        Args:
            text: What a model answered.
            strict: As in the constructor, for this call.

        Returns:
            The instance; None where the text does not fit and the call is not strict.

        Raises:
            ParseError: The text does not fit and the call is strict.
        """
        strict = self.strict if strict is None else strict
        try:
            self.response_model = _read(self, text, exact=True)
        except ParseError:
            self.response_str_dict = text
            self._should_retry = strict
            if strict:
                raise
            if not self.auto_retry_parse:
                return None
            try:
                self.response_model = _read(self, text, exact=False)
            except ParseError:
                return None
        self._should_retry = False
        return self.response_model

    def update_response_model(self, text: str | None = None, data: dict[str, Any] | None = None) -> Any:
        """Read ``text``, merge ``data`` into what is there, and return the result.

        Keys that are no fields are dropped; what is there already stays. The runtime's own fields are set as they are.

        Returns:
            The model, or ``text`` where it could not be read.

        Raises:
            OperationError: Neither is given ("Either text or data must be provided"). It is a ValueError.
            pydantic.ValidationError: ``data`` does not fit.
        """
        if text is None and data is None:
            raise OperationError("Either text or data must be provided to update_response_model")
        if text is not None:
            self.validate_response(text)
        if data is not None:
            self.response_model = self._merged(data)
        return self.response_model if self.response_model is not None else text

    def _merged(self, data: dict[str, Any]) -> BaseModel:
        target = self.pair.response
        known = {key: value for key, value in data.items() if key in target.model_fields}
        model = self.response_model
        if isinstance(model, target) and known.keys() <= RUNTIME_FIELDS:
            return model.model_copy(update=known)
        present: dict[str, Any] = {}
        if model is not None:
            present = {key: getattr(model, key) for key in target.model_fields if key in model.model_fields_set}
        return target.model_validate({_input_key(target, key): value for key, value in {**present, **known}.items()})

    def __repr__(self) -> str:
        return f"Operative({self.name}: {', '.join(sorted(self.operable.allowed())) or 'no added fields'})"


def _read(operative: Operative, text: str, *, exact: bool) -> BaseModel:
    target = operative.response_type
    value: Any = structure_for(target).parse(text, fuzzy_match_params=False if exact else None)
    return value if isinstance(value, BaseModel) else target.model_construct(**value)


def _input_key(target: type[BaseModel], name: str) -> str:
    alias = target.model_fields[name].validation_alias
    return alias if isinstance(alias, str) else name
