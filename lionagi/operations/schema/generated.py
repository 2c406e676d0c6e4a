"""Generated request and response classes: how they are made, where they are kept, how their instances pickle.

A pair is kept in the namespace of the caller's class, so that it goes when that class goes (a notebook cell that
redefines a model leaves nothing behind); pairs without such a class share one process-wide cache. Each cache holds at
most `MAX_CLASSES` classes; the least recently used pair goes first.
"""

from __future__ import annotations

import copyreg
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cache
from threading import RLock
from typing import Any, Final, cast
from uuid import uuid4
from weakref import WeakValueDictionary

from pydantic import BaseModel

from lionagi._errors import OperationError, ValidationError
from lionagi.ln.types import Operable, Spec, Unset
from lionagi.operations.fields import get_default_field
from lionagi.operations.schema._mapping import freeze, mapping_specs

__all__ = (
    "MAX_CLASSES",
    "RUNTIME_FIELDS",
    "GeneratedPair",
    "call_operable",
    "check_base",
    "clear_runtime_fields",
    "generated_pair",
    "pair_of",
)

MAX_CLASSES: Final = 16
RUNTIME_FIELDS: Final = frozenset({"action_responses"})
"""Fields that only the runtime fills; no model is ever asked for them."""

_PAIR = "__lionagi_pair__"
_CACHE = "__lionagi_generated__"
_ACTION_KINDS = ("action_required", "action_requests", "action_responses")
_lock = RLock()
# Finds the very class again when a result is unpickled in the process that pickled it.
_alive: WeakValueDictionary[str, type[BaseModel]] = WeakValueDictionary()


class GeneratedPair:
    """A request class, the response class that inherits from it, and what they were made from.

    Attributes:
        request: What a model is asked for; without the fields in ``exclude``.
        response: What the caller gets; all fields.
        base: The caller's class, None where there is none.
        name: The names are ``<name>Request`` and ``<name>Response``.
        operable: The added fields.
        exclude: Names of the fields that only the response has.
        mapping: The caller's dict format whose keys are fields too; results are then mappings.
        token: Identifies the pair within the process.
    """

    __slots__ = ("base", "exclude", "mapping", "name", "operable", "request", "response", "token")

    def __init__(
        self,
        request: type[BaseModel],
        response: type[BaseModel],
        base: type[BaseModel] | None,
        name: str,
        operable: Operable,
        exclude: frozenset[str],
        mapping: dict[str, Any] | None,
        token: str | None = None,
    ) -> None:
        self.request = request
        self.response = response
        self.base = base
        self.name = name
        self.operable = operable
        self.exclude = exclude
        self.mapping = mapping
        self.token: str = uuid4().hex if token is None else token


class _PairCache:
    """At most `MAX_CLASSES` classes, two for each pair; an empty one when it is copied or pickled."""

    __slots__ = ("_pairs",)

    def __init__(self) -> None:
        self._pairs: OrderedDict[Any, GeneratedPair] = OrderedDict()

    def get(self, key: Any) -> GeneratedPair | None:
        pair = self._pairs.get(key)
        if pair is not None:
            try:
                self._pairs.move_to_end(key)
            except KeyError:  # another thread has just evicted it
                return pair
        return pair

    def put(self, key: Any, pair: GeneratedPair) -> None:
        self._pairs[key] = pair
        while len(self._pairs) * 2 > MAX_CLASSES:
            self._pairs.popitem(last=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _PairCache, ()

    def __deepcopy__(self, memo: object) -> _PairCache:
        return _PairCache()


_without_base = _PairCache()


def _cache_of(base: type[BaseModel] | None) -> _PairCache:
    if base is None:
        return _without_base
    found = base.__dict__.get(_CACHE)
    if found is None:
        found = _PairCache()
        type.__setattr__(base, _CACHE, found)
    return found


@cache
def _flag_specs(reason: bool, actions: bool) -> tuple[tuple[Spec, ...], tuple[Spec, ...]]:
    first = (get_default_field("reason").to_spec(),) if reason else ()
    last = tuple(get_default_field(kind).to_spec() for kind in _ACTION_KINDS) if actions else ()
    return first, last


@cache
def _flag_operable(reason: bool, actions: bool) -> Operable:
    first, last = _flag_specs(reason, actions)
    return Operable(first + last)


def call_operable(reason: bool, actions: bool, fields: Mapping[str, Spec] | None = None) -> Operable:
    """Return the fields that a call adds: the reason, then the named fields, then those of actions.

    A named field takes its key as its name, and the place of a generated field of that name.
    """
    if not fields:
        return _flag_operable(reason, actions)
    first, last = _flag_specs(reason, actions)
    own = {key: spec if spec.name == key else spec.with_updates(name=key) for key, spec in fields.items()}
    return Operable(
        (
            *(spec for spec in first if spec.name not in own),
            *own.values(),
            *(spec for spec in last if spec.name not in own),
        )
    )


def check_base(names: Mapping[str, Any], what: str, *, reason: bool, actions: bool) -> None:
    """Refuse a format of the caller's that has a field which a flag would override.

    Args:
        names: The format's fields by name.
        what: The format's name for the message.
        reason: Whether the field ``reason`` is going to be added.
        actions: Whether the three fields of actions are.

    Raises:
        OperationError: There is such a field. It is a ValueError.
    """
    added = (("reason",) if reason else ()) + (_ACTION_KINDS if actions else ())
    taken = [name for name in added if name in names]
    if taken:
        flags = "reason" if taken == ["reason"] else "actions"
        raise OperationError(
            f"{what} has the field {', '.join(taken)}, which {flags}=True would override; "
            f"rename the field or leave {flags} off"
        )


def generated_pair(
    *,
    base: type[BaseModel] | None,
    name: str,
    operable: Operable,
    exclude: frozenset[str] = frozenset(),
    mapping: dict[str, Any] | None = None,
) -> GeneratedPair:
    """Return the pair for these ingredients; equal ingredients give the same pair while it is cached.

    Args:
        base: The class that both inherit from.
        name: What the classes are named after.
        operable: The fields to add.
        exclude: Names of fields that the request does not have.
        mapping: A dict format whose keys become required fields of both.

    Raises:
        OperationError: Pydantic cannot make the class; the message has its words. It is a ValueError.
    """
    kept = _cache_of(base)
    key = (name, operable, exclude, None if mapping is None else freeze(mapping))
    pair = kept.get(key)
    if pair is None:
        with _lock:
            pair = kept.get(key)
            if pair is None:
                pair = _make_pair(base, name, operable, exclude, mapping)
                kept.put(key, pair)
    return pair


def _make_pair(
    base: type[BaseModel] | None,
    name: str,
    operable: Operable,
    exclude: frozenset[str],
    mapping: dict[str, Any] | None,
) -> GeneratedPair:
    specs = operable.get_specs()
    if base is not None and specs and base.__pydantic_root_model__:
        raise OperationError(
            f"{base.__name__} is a RootModel, which cannot have further fields; wrap it in a model with one field "
            "or leave reason, actions and field_models off"
        )
    asked = [*mapping_specs(mapping or {}), *(spec for spec in specs if spec.name not in exclude)]
    hidden = [spec for spec in specs if spec.name in exclude]
    request = _make_class(f"{name}Request", asked, base)
    response = _make_class(f"{name}Response", hidden, request)
    pair = GeneratedPair(request, response, base, name, operable, exclude, mapping)
    for part, cls in (("request", request), ("response", response)):
        type.__setattr__(cls, _PAIR, pair)
        type.__setattr__(cls, "__reduce__", _reduce)
        _alive[pair.token + part] = cls
    return pair


def _make_class(name: str, specs: list[Spec], base: type[BaseModel] | None) -> type[BaseModel]:
    try:
        # A class's docstring is its schema's description, and is not inherited.
        doc = base.__doc__ if base is not None else None
        return Operable(specs).create_model(model_name=name, base_type=base, doc=doc or None)
    except (ValidationError, TypeError, ValueError, NameError) as error:
        raise OperationError(f"the class {name} cannot be made: {error}") from error


def pair_of(cls: object) -> GeneratedPair | None:
    """Return the pair that ``cls`` is one half of, None for any other object."""
    return cls.__dict__.get(_PAIR) if isinstance(cls, type) else None


def clear_runtime_fields(value: BaseModel) -> None:
    """Set the runtime's fields of a generated result to None, in place: a model has invented their values."""
    pair = pair_of(type(value))
    if pair is None:
        return
    state = vars(value)
    for name in pair.exclude:
        if state.get(name) is not None:
            state[name] = None
        value.__pydantic_fields_set__.discard(name)


def _reduce(self: BaseModel) -> tuple[Any, ...]:
    cls = type(self)
    pair = pair_of(cls)
    if pair is None:  # a subclass that the caller wrote: it pickles by its own name
        return copyreg.__newobj__, (cls,), self.__getstate__()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    part = "request" if cls is pair.request else "response"
    operable = Operable(_portable(spec) for spec in pair.operable.get_specs())
    made_from = (pair.base, pair.name, operable, pair.exclude, pair.mapping)
    return _rebuild, (pair.token, part, made_from), self.__getstate__()


def _rebuild(token: str, part: str, made_from: tuple[Any, ...]) -> BaseModel:
    cls = _alive.get(token + part)
    if cls is None:
        base, name, operable, exclude, mapping = made_from
        pair = generated_pair(base=base, name=name, operable=operable, exclude=exclude, mapping=mapping)
        cls = cast("type[BaseModel]", getattr(pair, part))
    return cls.__new__(cls)


def _portable(spec: Spec) -> Spec:
    """Return ``spec`` without the functions that another process cannot find by their names.

    An instance that is unpickled is not validated, so it lacks nothing.
    """
    changes: dict[str, Any] = {}
    for meta in spec.metadata:
        value: Any = meta.value
        if meta.key == "validator":
            functions = cast("list[Any]", value if isinstance(value, list) else [value])
            changes["validator"] = [function for function in functions if _is_importable(function)]
        elif callable(value) and not _is_importable(value):
            changes[meta.key] = Unset
    return spec.with_updates(**changes) if changes else spec


def _is_importable(value: Callable[..., Any]) -> bool:
    found: Any = sys.modules.get(getattr(value, "__module__", None) or "")
    for part in getattr(value, "__qualname__", "?").split("."):
        found = getattr(found, part, None)
    return found is value
