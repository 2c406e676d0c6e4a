"""`Step`: where a call's Operative is made."""

from __future__ import annotations

import warnings
from typing import Any, Final, Literal

from pydantic import BaseModel

from lionagi._errors import short_repr
from lionagi.ln.types import Operable, Spec
from lionagi.models import FieldModel
from lionagi.operations._guards import reject_removed_kwargs
from lionagi.operations.operate.operative import Operative
from lionagi.operations.schema.generated import RUNTIME_FIELDS, call_operable, check_base

__all__ = ("Step",)

_REMOVED: Final = {"inherit_base": "", "frozen": ""}
_IGNORED: Final = frozenset(
    {
        "config_dict",
        "doc",
        "exclude_fields",
        "field_descriptions",
        "new_model_name",
        "parameter_fields",
        "parse_kwargs",
        "request_params",
    }
)
_NO_FIELDS: Final[frozenset[str]] = frozenset()


class Step:
    """The factory of Operatives; it has no state."""

    @staticmethod
    def request_operative(
        *,
        name: str | None = None,
        operative_name: str | None = None,
        adapter: Literal["pydantic"] = "pydantic",
        reason: bool = False,
        actions: bool = False,
        fields: dict[str, Spec] | None = None,
        field_models: list[FieldModel | Spec] | None = None,
        max_retries: int = 3,
        auto_retry_parse: bool = True,
        base_type: type[BaseModel] | None = None,
        **kwargs: Any,
    ) -> Operative:
        """Return the Operative of a call; its classes are made when they are first looked at.

        Args:
            name: What the classes are named after.
            operative_name: Another word for ``name``.
            adapter: Only "pydantic" exists.
            reason: Add the field ``reason``.
            actions: Add ``action_required``, ``action_requests`` and, in the response only, ``action_responses``.
            fields: Further fields; the key is the name. One of the names above replaces the generated field.
            field_models: Further fields, used where ``fields`` is empty; an entry without a name adds none.
            max_retries: Carried for the adapter that reformats.
            auto_retry_parse: See `Operative`.
            base_type: The caller's class.
            **kwargs: ``dict_format``, a caller's mapping whose keys become fields too; and names of an earlier
                release, which have no effect and warn.

        Raises:
            ConfigurationError: The adapter is unknown.
            OperationError: The caller's class or mapping has a field that a flag would override.
            TypeError: An entry of ``field_models`` is neither FieldModel nor Spec, or a keyword is unknown.
        """
        dict_format = _read_extra(kwargs) if kwargs else None
        named = fields or _named(field_models)
        if base_type is not None:
            check_base(base_type.model_fields, base_type.__name__, reason=reason, actions=actions)
        elif dict_format:
            check_base(dict_format, "the response_format", reason=reason, actions=actions)
        return Operative(
            name=name or operative_name,
            adapter=adapter,
            auto_retry_parse=auto_retry_parse,
            max_retries=max_retries,
            base_type=base_type,
            operable=call_operable(bool(reason), bool(actions), named),
            request_exclude=RUNTIME_FIELDS if actions else _NO_FIELDS,
            dict_format=dict_format,
        )

    @staticmethod
    def respond_operative(operative: Operative, additional_fields: dict[str, Spec] | None = None) -> Operative:
        """Return an Operative whose response class is made: the same one, or a new one with ``additional_fields``.

        Args:
            operative: What `request_operative` returned.
            additional_fields: Further fields of both classes; the key is the name and replaces a field of that name.
        """
        if additional_fields:
            added = {
                key: spec if spec.name == key else spec.with_updates(name=key)
                for key, spec in additional_fields.items()
            }
            kept = (spec for spec in operative.operable.get_specs() if spec.name not in added)
            operative = Operative(
                name=operative.name,
                strict=operative.strict,
                auto_retry_parse=operative.auto_retry_parse,
                max_retries=operative.max_retries,
                base_type=operative.base_type,
                operable=Operable((*kept, *added.values())),
                request_exclude=operative.request_exclude,
                dict_format=operative.dict_format,
            )
        operative.create_response_model()
        return operative


def _read_extra(kwargs: dict[str, Any]) -> dict[str, Any] | None:
    reject_removed_kwargs(kwargs, _REMOVED, where="Step.request_operative")
    dict_format = kwargs.pop("dict_format", None)
    unknown = sorted(kwargs.keys() - _IGNORED)
    if unknown:
        raise TypeError(f"Step.request_operative() got an unexpected keyword argument {unknown[0]!r}")
    ignored = sorted(key for key, value in kwargs.items() if value is not None)
    if ignored:
        text = f"Step.request_operative() ignores {', '.join(ignored)}; use fields= or base_type= to shape the classes."
        warnings.warn(text, DeprecationWarning, stacklevel=3)
    return dict_format


def _named(field_models: list[FieldModel | Spec] | None) -> dict[str, Spec]:
    named: dict[str, Spec] = {}
    for item in field_models or ():
        spec = item.to_spec() if isinstance(item, FieldModel) else item
        if not isinstance(spec, Spec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Expected FieldModel or Spec, got {short_repr(item)}")
        if spec.name:
            named[spec.name] = spec
    return named
