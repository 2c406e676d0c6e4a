"""One-dimensional lists out of whatever was given."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from lionagi._errors import ValidationError
from lionagi.ln.types import Undefined, Unset

__all__ = ("to_list",)

_ATOMS = (str, bytes, bytearray, Mapping, enum.Enum)


def to_list(
    x: Any,
    /,
    *,
    flatten: bool = False,
    dropna: bool = False,
    unique: bool = False,
    use_values: bool = False,
    flatten_tuple_set: bool = False,
) -> list[Any]:
    """Return ``x`` as a new list.

    None and sentinels give an empty list; text, bytes, mappings, enum members and pydantic models are single items;
    any other iterable gives its items.

    Args:
        x: A value or an iterable.
        flatten: Put the items of nested lists in place of the lists, at every level.
        dropna: Leave out None and sentinels.
        unique: Keep the first of equal items; needs ``flatten``.
        use_values: Take the values of a mapping and of an enum class instead.
        flatten_tuple_set: Flatten tuples and sets too.

    Raises:
        ValidationError: ``unique`` without ``flatten`` (a ValueError).
    """
    if unique and not flatten:
        raise ValidationError("unique=True works on flat lists only; pass flatten=True as well")
    items = _items(x, use_values)
    if flatten:
        items = list(_flat(items, flatten_tuple_set))
    if dropna:
        items = [item for item in items if item is not None and item is not Unset and item is not Undefined]
    return _distinct(items) if unique else items


def _items(x: Any, use_values: bool) -> list[Any]:
    if x is None or x is Unset or x is Undefined:
        return []
    if use_values and isinstance(x, Mapping):
        return list(cast("Mapping[Any, Any]", x).values())
    if isinstance(x, type):
        if issubclass(x, enum.Enum):
            return [member.value if use_values else member for member in x]
        return [x]
    if isinstance(x, _ATOMS) or _is_model(x) or not isinstance(x, Iterable):
        return [x]
    return list(cast("Iterable[Any]", x))


def _is_model(x: Any) -> bool:
    # A model can only be there once pydantic is; asking this way does not load it.
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(x, pydantic.BaseModel)


def _flat(items: list[Any], flatten_tuple_set: bool) -> Iterator[Any]:
    kinds = (list, tuple, set, frozenset) if flatten_tuple_set else (list,)
    stack = [iter(items)]
    while stack:
        for item in stack[-1]:
            if isinstance(item, kinds):
                stack.append(iter(cast("Iterable[Any]", item)))
                break
            yield item
        else:
            stack.pop()


def _distinct(items: list[Any]) -> list[Any]:
    seen: set[Any] = set()
    unhashable: list[Any] = []
    kept: list[Any] = []
    for item in items:
        try:
            known = item in seen
            seen.add(item)
        except TypeError:
            known = item in unhashable
            unhashable.append(item)
        if not known:
            kept.append(item)
    return kept
