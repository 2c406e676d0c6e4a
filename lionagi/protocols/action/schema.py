"""Tool schemas: a function's signature and docstring as the JSON schema that a model is shown."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import types
from collections.abc import Callable
from typing import Any, Literal
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import to_jsonable_python

from lionagi._errors import ValidationError, short_repr
from lionagi.protocols.action.signature import (
    EMPTY,
    Signature,
    SignatureParameter,
    bare_function,
    read_signature,
    tool_name,
)

__all__ = ("adapter_of", "function_to_schema", "json_schema_of")

# -- one schema and one validator per annotation

_lock = threading.Lock()
_class_schemas: WeakKeyDictionary[type, dict[str, Any]] = WeakKeyDictionary()


def adapter_of(annotation: Any) -> TypeAdapter[Any]:
    """Return the validator of an annotation; a class that pydantic does not know is checked with isinstance."""
    try:
        return TypeAdapter(annotation)
    except PydanticSchemaGenerationError:
        return TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=True))


def json_schema_of(annotation: Any) -> dict[str, Any]:
    """Return pydantic's JSON schema of an annotation; shared, so it must not be changed.

    It is built once per annotation: for a class as long as the class lives, otherwise in a cache of 256 annotations.

    Raises:
        ValidationError: The type has no JSON form.
    """
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        with _lock:
            held = _class_schemas.get(annotation)
            if held is None:
                held = _class_schemas[annotation] = _build_schema(annotation)
        return held
    try:
        hash(annotation)
    except TypeError:
        return _build_schema(annotation)
    return _cached_schema(annotation)


def _build_schema(annotation: Any) -> dict[str, Any]:
    try:
        return adapter_of(annotation).json_schema()
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise ValidationError(f"{short_repr(annotation)} has no JSON form: {error.message}", cause=error) from error


_cached_schema = functools.lru_cache(maxsize=256)(_build_schema)


# -- the schema of a function


def function_to_schema(
    f_: Callable[..., Any],
    style: str = "google",
    *,
    request_options: type[BaseModel] | dict[str, Any] | None = None,
    strict: bool | None = None,
    func_description: str | None = None,
    parametert_description: dict[str, str] | None = None,
    signature: Signature | None = None,
) -> dict[str, Any]:
    """Return ``{"type": "function", "function": {"name", "description", "parameters", "strict"}}`` of a function.

    Args:
        f_: A function, a method or a partial.
        style: Kept for callers of older releases; Google, NumPy and reST docstrings are all read.
        request_options: A model, or a JSON schema, in place of the parameters that the signature gives.
        strict: Passed on as it is.
        func_description: The description; the docstring's first line when omitted.
        parametert_description: Descriptions by parameter name, before those of the docstring.
        signature: The function's signature where it has been read already.

    Raises:
        ValidationError: A required parameter has no JSON form or its annotation cannot be resolved.
    """
    texts: dict[str, str] = {}
    summary = None
    doc = inspect.getdoc(bare_function(f_))
    if doc:
        summary, texts = _read_docstring(doc)
    if request_options is not None:
        parameters = request_options if isinstance(request_options, dict) else json_schema_of(request_options)
    else:
        parameters = _parameters_schema(
            tool_name(f_), signature or read_signature(f_), {**texts, **(parametert_description or {})}
        )
    return {
        "type": "function",
        "function": {
            "name": tool_name(f_),
            "description": func_description or summary,
            "parameters": parameters,
            "strict": strict,
        },
    }


def _parameters_schema(function: str, signature: Signature, texts: dict[str, str]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    defs: dict[str, Any] = {}
    for parameter in signature.parameters:
        try:
            schema = dict(_annotation_schema(parameter))
        except ValidationError as error:
            if not parameter.required:
                continue  # no model can pass it, and the function does without
            raise ValidationError(
                f"parameter {parameter.name!r} of {function}() cannot come from a model: {error}; annotate it with a "
                "JSON type, give it a default or bind it with functools.partial",
                cause=error,
            ) from error
        found = schema.pop("$defs", {})
        if any(name in defs and defs[name] != one for name, one in found.items()):
            return _joint_schema(signature, texts)
        defs.update(found)
        properties[parameter.name] = _annotated(schema, parameter, texts)
    return _object_schema(signature, properties, defs)


def _annotation_schema(parameter: SignatureParameter) -> dict[str, Any]:
    if parameter.annotation is not EMPTY:
        return json_schema_of(parameter.annotation)
    # Without an annotation the default tells the type; without both, text is what a model can always give.
    plain = type(parameter.default) in (bool, int, float, str, list, dict)
    return json_schema_of(type(parameter.default) if plain else str)


def _annotated(schema: dict[str, Any], parameter: SignatureParameter, texts: dict[str, str]) -> dict[str, Any]:
    if parameter.name in texts:
        schema["description"] = texts[parameter.name]
    if not parameter.required:
        with contextlib.suppress(ValueError):  # a default that JSON cannot show stays the function's own affair
            schema["default"] = to_jsonable_python(parameter.default)
    return schema


def _object_schema(signature: Signature, properties: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": [p.name for p in signature.parameters if p.required and p.name in properties],
    }
    if signature.extra is not None:
        schema["additionalProperties"] = True if signature.extra is Any else json_schema_of(signature.extra)
    if defs:
        schema["$defs"] = defs
    return schema


def _joint_schema(signature: Signature, texts: dict[str, str]) -> dict[str, Any]:
    """Return the schema of parameters that use different models of one name, which pydantic then tells apart."""
    usable = [p for p in signature.parameters if p.required or p.annotation is not EMPTY]
    keyed: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = [
        (p.name, "validation", adapter_of(str if p.annotation is EMPTY else p.annotation)) for p in usable
    ]
    schemas, shared = TypeAdapter.json_schemas(keyed)
    properties = {p.name: _annotated(dict(schemas[p.name, "validation"]), p, texts) for p in usable}
    return _object_schema(signature, properties, shared.get("$defs", {}))


def _read_docstring(doc: str) -> tuple[str | None, dict[str, str]]:
    """Return a docstring's first line and its parameter descriptions, in whichever of the usual styles."""
    import docstring_parser

    summary = doc.strip().partition("\n")[0].strip() or None
    try:
        parsed = docstring_parser.parse(doc)
    except docstring_parser.ParseError:
        return summary, {}
    return summary, {
        name.strip(" *"): " ".join(p.description.split())
        for p in parsed.params
        if p.description
        for name in p.arg_name.split(",")
    }
