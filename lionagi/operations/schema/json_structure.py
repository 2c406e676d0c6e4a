"""`JsonStructure`: the format as JSON."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pydantic
from pydantic import BaseModel

from lionagi import ln
from lionagi._errors import ExtractionError, ParseError, SchemaRejectedError, ValidationError, short_repr
from lionagi.ln.jsons import extract_json, json_dumpb, loads_json
from lionagi.operations.schema.generated import clear_runtime_fields, pair_of
from lionagi.operations.schema.structure import Structure
from lionagi.protocols.messages.formats import format_demand, json_shape, request_json_schema, schema_shape

__all__ = ("JsonStructure", "structure_for")

_STRUCTURE = "__lionagi_structure__"


def structure_for(form: Any) -> JsonStructure:
    """Return the JsonStructure of a format; for a class the same object at every call, so that renderings are kept."""
    if not isinstance(form, type):
        return JsonStructure(form)
    found = form.__dict__.get(_STRUCTURE)
    if found is None:
        found = JsonStructure(form)
        type.__setattr__(form, _STRUCTURE, found)
    return found


@cache
def _default_matching() -> ln.FuzzyMatchKeysParams:
    return ln.FuzzyMatchKeysParams(handle_unmatched="force", fill_value=None)


def _matching(given: Any) -> ln.FuzzyMatchKeysParams | None:
    """Return the parameters of key matching, None for none."""
    if given is None:
        return _default_matching()
    if isinstance(given, ln.FuzzyMatchKeysParams):
        return given
    if isinstance(given, dict):
        return ln.FuzzyMatchKeysParams(**cast("dict[str, Any]", given)) if given else None
    return _default_matching() if given else None


class JsonStructure(Structure):
    """A format that is asked for and read as one JSON object."""

    def render(self) -> str:
        """Return the demand for JSON of this shape; the shape in it is valid JSON."""
        return self._format_response_format(self.request_schema())

    @staticmethod
    def _format_response_format(form: type[BaseModel] | dict[str, Any] | None) -> str:
        if not form:
            return ""
        shape = json_shape(form) if isinstance(form, dict) else schema_shape(request_json_schema(form))
        return format_demand(shape)

    def parse(self, text: str | dict[str, Any] | BaseModel, *, fuzzy_match_params: Any = None) -> Any:
        """Return the answer as an instance of `response_type`, or as a mapping in dict mode.

        Valid JSON is validated at once. Else the JSON is looked for in the text (fenced or in prose) and repaired where
        it is small enough; then misspelt keys are matched. The runtime's own fields are dropped from what a model says.

        Args:
            text: The answer; a mapping or an instance of `response_type` is taken as it is.
            fuzzy_match_params: FuzzyMatchKeysParams or a dict of its fields; None for the default ("force", missing
                keys None); another false value for exact keys. In model mode a missing key keeps the field's own
                default, and is None only where the field has none and allows it.

        Raises:
            ExtractionError: There is no JSON object in the text.
            SchemaRejectedError: There is one, and it does not fit; ``validation_error`` is the reason.
        """
        target = self.response_type
        matching = _matching(fuzzy_match_params)
        if not self.is_dict_mode and target is not None:
            if isinstance(text, target):
                return text
            if isinstance(text, str) and (quick := _read_valid(target, text, matching is None)) is not None:
                return quick
        first_error: ParseError | None = None
        for value in _candidates(text, target):
            try:
                return self._read(value, target, matching)
            except ParseError as error:
                first_error = first_error or error
        raise first_error or ExtractionError(f"no JSON object was found in {short_repr(text)}")

    def _read(self, value: Any, target: type[BaseModel] | None, matching: ln.FuzzyMatchKeysParams | None) -> Any:
        if isinstance(value, dict):
            data = {k: v for k, v in cast("dict[str, Any]", value).items() if k not in self.runtime_fields}
            if self.is_dict_mode or target is None:
                return self._read_mapping(data, matching)
            value = data if matching is None else self._match_fields(data, target, matching)
        elif target is None:
            raise ExtractionError(f"the answer is no JSON object but {short_repr(value)}")
        return _validate(target, value)

    def _match_fields(
        self, data: dict[str, Any], target: type[BaseModel], matching: ln.FuzzyMatchKeysParams
    ) -> dict[str, Any]:
        """Return ``data`` with its keys matched; a missing key is None where the field has no default and allows it."""
        if target.__pydantic_root_model__:
            return data
        keys, nullable = _expected(target, data, self.runtime_fields)
        if matching.handle_unmatched not in ("fill", "force") or matching.fill_value or matching.fill_mapping:
            nullable = []
        else:
            # Filling every missing key with None would override the fields' own defaults.
            keep = matching.handle_unmatched == "fill" or target.model_config.get("extra") == "allow"
            matching = matching.with_updates(handle_unmatched="ignore" if keep else "remove")
        matched = _match(data, keys, matching)
        if data and not any(key in matched for key in keys):
            raise SchemaRejectedError(f"none of the keys {short_repr(list(data))} is asked for; use {', '.join(keys)}")
        return {**dict.fromkeys(nullable), **matched}

    def _read_mapping(self, data: dict[str, Any], matching: ln.FuzzyMatchKeysParams | None) -> dict[str, Any]:
        keys = [*(self._mapping or ())]
        if self._pair is not None:
            added = (spec.name for spec in self._pair.operable.get_specs())
            keys += [name for name in added if name and name not in self.runtime_fields]
        if matching is not None and keys:
            data = _match(data, keys, matching)
        requests = data.get("action_requests")
        if self.runtime_fields and isinstance(requests, dict):
            data["action_requests"] = [requests]
        return data


def _read_valid(target: type[BaseModel], text: str, exact_keys: bool) -> BaseModel | None:
    """Return the instance that ``text`` is the JSON of, None where it is not or where keys may be misspelt."""
    try:
        value = target.model_validate_json(text)
    except (pydantic.ValidationError, RecursionError):
        return None
    clear_runtime_fields(value)
    if exact_keys or _all_keys_known(target, value, text):
        return value
    return None


def _all_keys_known(target: type[BaseModel], value: BaseModel, text: str) -> bool:
    fields = target.model_fields
    if target.__pydantic_root_model__ or target.model_config.get("extra") in ("allow", "forbid"):
        return True
    pair = pair_of(target)
    hidden = pair.exclude if pair is not None else frozenset[str]()
    if len(value.model_fields_set) + len(hidden) >= len(fields):
        return True
    try:
        data = loads_json(text)
    except ParseError:
        return False
    known = {*fields, *(key for info in fields.values() if isinstance(key := info.validation_alias, str))}
    return known.issuperset(data)


def _candidates(text: Any, target: type[BaseModel] | None) -> list[Any]:
    """Return the values in ``text`` that may be the answer, the likeliest first."""
    if isinstance(text, dict):
        return [text]
    if isinstance(text, BaseModel):
        return [text.model_dump(by_alias=True)]
    if not isinstance(text, str):
        return []
    found: Any = extract_json(text, fuzzy_parse=True)
    if target is not None and target.__pydantic_root_model__ and found != []:
        return [found]
    values: list[Any] = cast("list[Any]", found) if isinstance(found, list) else [found]
    return [value for value in values if isinstance(value, dict)]


def _match(data: dict[str, Any], keys: list[str], matching: ln.FuzzyMatchKeysParams) -> dict[str, Any]:
    try:
        return matching(data, keys)
    except (ValidationError, ValueError) as error:
        raise SchemaRejectedError(f"the keys do not fit: {error}", validation_error=error) from error


def _expected(target: type[BaseModel], data: dict[str, Any], hidden: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return the keys that an answer may have, and those of them that are required and may be None."""
    keys: list[str] = []
    nullable: list[str] = []
    for name, info in target.model_fields.items():
        if name in hidden:
            continue
        key = info.validation_alias if isinstance(info.validation_alias, str) else name
        if key != name and name in data and key not in data:
            key = name  # the class may take the plain name as well
        keys.append(key)
        if info.is_required() and _allows_none(info.annotation):
            nullable.append(key)
    return keys, nullable


def _allows_none(annotation: Any) -> bool:
    return annotation is Any or annotation is type(None) or type(None) in getattr(annotation, "__args__", ())


def _validate(target: type[BaseModel], value: Any) -> BaseModel:
    try:
        # As JSON text: a strict model takes a date, an enum or a tuple from JSON, not from Python's str and list.
        result = target.model_validate_json(json_dumpb(value))
    except (pydantic.ValidationError, RecursionError) as error:
        raise SchemaRejectedError(
            f"the answer does not fit {target.__name__}: {_reasons(error)}",
            validation_error=error,
        ) from error
    clear_runtime_fields(result)
    return result


def _reasons(error: Exception) -> str:
    if not isinstance(error, pydantic.ValidationError):
        return str(error)
    found = [
        f"{'.'.join(str(part) for part in item['loc']) or 'value'}: {item['msg']} (got {short_repr(item['input'], 60)})"
        for item in error.errors(include_url=False, include_context=False)[:5]
    ]
    return "; ".join(found)
