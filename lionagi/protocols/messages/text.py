"""Making text and data from a model safe to keep: lone surrogates cannot be written as UTF-8."""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import from_json, to_json

from lionagi.ln.jsons import clean_surrogates

__all__ = ("clean_data", "clean_text", "clip_text", "json_bytes", "plain_data")

clean_text = clean_surrogates


def clean_data(value: Any) -> Any:
    """Return JSON-like data whose texts are clean; the same object where nothing had to be replaced."""
    try:
        to_json(value, serialize_unknown=True)
    except (ValueError, UnicodeEncodeError):
        return _cleaned(value)
    return value


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_surrogates(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in cast("list[Any]", value)]
    return value


def plain_data(value: Any) -> Any:
    """Return the value as JSON types only (models as mappings, what JSON does not know as its repr), clean."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return clean_surrogates(value)
    return from_json(json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """Return the value as JSON in UTF-8, with the repr of what JSON does not know."""
    try:
        return to_json(value, fallback=repr, inf_nan_mode="strings")
    except ValueError:
        return to_json(_cleaned(value), fallback=lambda one: clean_surrogates(repr(one)), inf_nan_mode="strings")


def clip_text(text: str, limit: int) -> str:
    """Return the text, or its first ``limit`` bytes (UTF-8) and a note saying how many bytes there were."""
    if len(text) * 4 <= limit:
        return text
    raw = text.encode(errors="replace")
    if len(raw) <= limit:
        return text
    return f"{raw[:limit].decode(errors='ignore')}… [clipped: {limit} of {len(raw)} bytes]"
