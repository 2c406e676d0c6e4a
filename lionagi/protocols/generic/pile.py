"""Pile: an ordered collection of elements with look-up by id."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast
from uuid import UUID

from pydantic import Field

from lionagi._errors import ExistsError, NotFoundError, ValidationError, short_repr
from lionagi.ln.files import append_line, write_atomic
from lionagi.ln.loops import PerLoop
from lionagi.ln.types import Undefined
from lionagi.protocols.generic.element import ID, Element
from lionagi.protocols.generic.progression import Progression

if TYPE_CHECKING:
    import asyncio

__all__ = ("Pile",)

T = TypeVar("T", bound=Element)


class Pile(Element, Generic[T]):
    """Elements in an order, each once. Adding at the end, and looking up by id, cost the same at any size.

    Keys are positions, slices, ids (an Element, a UUID or its text), lists of ids, or a predicate, which filters.
    Items are held, not copied. An absent key is a NotFoundError.

    Attributes:
        collections: The elements by id.
        item_type: The classes that members must have, None for any Element.
    """

    # Named `dict[UUID, Any]` so that pydantic neither checks nor rebuilds the members.
    collections: dict[UUID, Any] = Field(default_factory=dict[UUID, Any])
    item_type: tuple[Any, ...] | None = Field(default=None, exclude=True)
    # A slot, not a private attribute: that would cost a mapping in every instance.
    __slots__ = ("_locks",)
    if TYPE_CHECKING:
        _locks: PerLoop[Any] | None

    def __class_getitem__(cls, _item: Any) -> "type[Pile[Any]]":  # pyright: ignore[reportIncompatibleMethodOverride]
        # Pydantic would build a new class for each type argument; the argument matters to type checkers only.
        return cast("type[Pile[Any]]", cls)

    def __init__(
        self,
        collections: Any = None,
        item_type: type[Element] | Iterable[type[Element]] | None = None,
        order: Any = None,
        strict_type: bool = False,
        **fields: Any,
    ) -> None:
        types = (item_type,) if isinstance(item_type, type) else tuple(item_type) if item_type else None
        fields["item_type"] = types
        super().__init__(**fields)
        if strict_type:
            object.__setattr__(self, "_strict", True)
        object.__setattr__(self, "__pydantic_fields_set__", self.all_names)
        items = self._items_of(collections)
        self.collections = {item.id: item for item in items}
        if order is not None:
            self.progression.order[:] = self._checked_order(order)

    @property
    def strict_type(self) -> bool:
        """Whether subclasses of ``item_type`` are refused."""
        return "_strict" in self.__dict__

    @property
    def progression(self) -> Progression:
        """The order of the elements; changing it reorders the pile."""
        found = self._ordered()
        if found is None:
            # Until somebody asks, the order is that of the mapping: most piles only grow, and a progression is an
            # element of its own with id and time. It stands beside the fields, so that copies have it too.
            found = Progression(list(self.collections))
            self.progression = found
        return found

    @progression.setter
    def progression(self, value: Progression) -> None:
        object.__setattr__(self, "_progression", value)

    def _ordered(self) -> Progression | None:
        return self.__dict__.get("_progression")

    def _checked_order(self, order: Any) -> list[UUID]:
        ids = Progression(order).order
        if len(ids) != len(self.collections) or set(ids) != self.collections.keys():
            raise ValidationError("the order must name each item of the pile exactly once")
        return ids

    def _items_of(self, value: Any) -> list[T]:
        """Return the checked elements of one element, a mapping, or an iterable of elements."""
        if value is None:
            return []
        if isinstance(value, Pile):
            found: Any = cast("Pile[Any]", value).values()
        elif isinstance(value, dict):
            found = cast("dict[Any, Any]", value).values()
        elif isinstance(value, Element) or not isinstance(value, Iterable):
            found = (value,)
        else:
            found = cast("Iterable[Any]", value)
        return [self._checked(item) for item in found]

    def _checked(self, item: Any) -> T:
        if not isinstance(item, Element):
            raise ValidationError(f"Invalid pile item: {short_repr(item)} is not an Element")
        if self.item_type is not None:
            fits = type(item) in self.item_type if self.strict_type else isinstance(item, self.item_type)
            if not fits:
                names = sorted(one.__name__ for one in self.item_type)
                raise ValidationError(f"Invalid pile item: {type(item).__name__} is not {' or '.join(names)}")
        return cast("T", item)

    # -- reading

    def __len__(self) -> int:
        ordered = self._ordered()
        return len(self.collections if ordered is None else ordered.order)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[T]:  # pyright: ignore[reportIncompatibleMethodOverride]
        collections, ordered = self.collections, self._ordered()
        if ordered is None:
            return iter(list(collections.values()))
        return iter([collections[one] for one in ordered.order])

    def __contains__(self, item: object) -> bool:
        try:
            return ID.get_id(item) in self.collections
        except ValueError:
            return False

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (UUID, str, Element)):
            return self._one(key)
        if isinstance(key, int):
            return self.collections[self.progression[key]]
        if isinstance(key, slice):
            found = [self.collections[one] for one in self.progression.order[key]]
            return found[0] if len(found) == 1 else found
        if callable(key):
            return self.filter(cast("Callable[[T], bool]", key))
        found = [self[one] for one in key]
        return found[0] if len(found) == 1 else found

    def _one(self, key: Any) -> T:
        try:
            return self.collections[ID.get_id(key)]
        except (KeyError, ValueError):
            raise NotFoundError(f"{short_repr(key)} is not in the pile") from None

    def get(self, key: Any, default: Any = Undefined) -> Any:
        """Return what ``pile[key]`` returns; the default, where given, in place of a NotFoundError."""
        try:
            return self[key]
        except NotFoundError:
            if default is Undefined:
                raise
            return default

    def keys(self) -> list[UUID]:
        """Return the ids in order."""
        ordered = self._ordered()
        return list(self.collections if ordered is None else ordered.order)

    def values(self) -> list[T]:
        """Return the elements in order."""
        return list(self)

    def items(self) -> list[tuple[UUID, T]]:
        """Return (id, element) pairs in order."""
        return [(item.id, item) for item in self]

    def size(self) -> int:
        """Return the number of elements."""
        return len(self)

    def is_empty(self) -> bool:
        """Tell whether there is no element."""
        return not self

    def filter(self, predicate: Callable[[T], bool]) -> "Pile[T]":
        """Return a new pile of the same elements for which the predicate is true."""
        return Pile([item for item in self if predicate(item)], self.item_type, strict_type=self.strict_type)

    def filter_by_type(
        self,
        item_type: type[Any] | Iterable[type[Any]],
        strict_type: bool = False,
        as_pile: bool = False,
        reverse: bool = False,
        num_items: int | None = None,
    ) -> Any:
        """Return the elements of some classes, as a list or (``as_pile``) a pile.

        Args:
            item_type: The class or classes.
            strict_type: Whether their subclasses are left out.
            as_pile: Whether the result is a pile.
            reverse: Whether to go from the end.
            num_items: The most elements to return.
        """
        types = (item_type,) if isinstance(item_type, type) else tuple(item_type)
        found: list[T] = []
        ids = self.keys()
        for one in reversed(ids) if reverse else ids:
            if num_items is not None and len(found) >= num_items:
                break
            item = self.collections[one]
            if type(item) in types if strict_type else isinstance(item, types):
                found.append(item)
        return Pile[T](found, item_type=types, strict_type=strict_type) if as_pile else found

    # -- changing

    def append(self, item: T) -> None:
        """Add an element at the end; one with the same id is replaced where it stands."""
        if self.item_type is not None or not isinstance(item, Element):  # pyright: ignore[reportUnnecessaryIsInstance]
            item = self._checked(item)
        if "_progression" in self.__dict__ and item.id not in self.collections:
            self.progression.order.append(item.id)
        self.collections[item.id] = item

    def include(self, item: Any) -> None:
        """Add the elements that are absent."""
        for one in self._items_of(item):
            if one.id not in self.collections:
                self.append(one)

    def update(self, item: Any) -> None:
        """Add the elements, replacing those with the same ids where they stand."""
        items = cast("list[T]", item) if isinstance(item, list) else self._items_of(item)
        for one in items:
            self.append(one)

    def insert(self, index: int, item: Any) -> None:
        """Put the elements before a position; one that is there already is an ExistsError and changes nothing."""
        items = self._items_of(item)
        for one in items:
            if one.id in self.collections:
                raise ExistsError(f"{one.id} is in the pile already; use update() to replace it")
        self.progression.order[index:index] = [one.id for one in items]
        self.collections.update((one.id, one) for one in items)

    def __setitem__(self, key: Any, value: Any) -> None:
        items = self._items_of(value)
        if isinstance(key, int) and not -len(self) <= key < len(self):
            raise NotFoundError(f"no position {key} in a pile of {len(self)}")
        if isinstance(key, (int, slice)):
            place = cast("slice[Any, Any, Any]", key) if isinstance(key, slice) else slice(key, key + 1 or None)
            order = self.progression.order
            for one in order[place]:
                del self.collections[one]
            order[place] = [one.id for one in items]
            self.collections.update((one.id, one) for one in items)
            return
        if [one.id for one in items] != Progression(key).order:
            raise ValidationError("the key must name the elements that are set, in the same order")
        self.update(items)

    def remove(self, item: Any) -> None:
        """Remove elements by id; an absent one is a NotFoundError."""
        for one in Progression(item).order:
            if one not in self.collections:
                raise NotFoundError(f"{one} is not in the pile")
        self.exclude(item)

    def exclude(self, item: Any) -> None:
        """Remove elements by id where they are present."""
        gone = {one for one in Progression(item).order if self.collections.pop(one, None) is not None}
        if gone and (ordered := self._ordered()) is not None:
            ordered.order[:] = [one for one in ordered.order if one not in gone]

    def pop(self, key: Any, default: Any = Undefined) -> Any:
        """Remove and return what ``pile[key]`` returns; the default, where given, if it is absent."""
        found = self.get(key, Undefined if default is Undefined else _ABSENT)
        if found is _ABSENT:
            return default
        self.exclude(found)
        return found

    def clear(self) -> None:
        """Remove all elements."""
        self.collections.clear()
        if (ordered := self._ordered()) is not None:
            ordered.clear()

    # -- asynchronous twins: the same under the pile's lock

    @property
    def lock(self) -> "asyncio.Lock":
        """The pile's lock on the running event loop; ``async with pile`` takes it."""
        import asyncio

        locks = getattr(self, "_locks", None)
        if locks is None:
            locks = self._locks = PerLoop(asyncio.Lock)
        return locks.get()

    async def __aenter__(self) -> Self:
        await self.lock.acquire()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self.lock.release()

    async def _locked(self, method: Callable[..., Any], *args: Any) -> Any:
        async with self.lock:
            return method(*args)

    async def aget(self, key: Any, default: Any = Undefined) -> Any:
        """Do ``get`` under the lock."""
        return await self._locked(self.get, key, default)

    async def apop(self, key: Any, default: Any = Undefined) -> Any:
        """Do ``pop`` under the lock."""
        return await self._locked(self.pop, key, default)

    async def ainclude(self, item: Any) -> None:
        """Do ``include`` under the lock."""
        await self._locked(self.include, item)

    async def aexclude(self, item: Any) -> None:
        """Do ``exclude`` under the lock."""
        await self._locked(self.exclude, item)

    async def aremove(self, item: Any) -> None:
        """Do ``remove`` under the lock."""
        await self._locked(self.remove, item)

    async def aupdate(self, item: Any) -> None:
        """Do ``update`` under the lock."""
        await self._locked(self.update, item)

    async def aclear(self) -> None:
        """Do ``clear`` under the lock."""
        await self._locked(self.clear)

    async def asetitem(self, key: Any, value: Any) -> None:
        """Do ``pile[key] = value`` under the lock."""
        await self._locked(self.__setitem__, key, value)

    async def adump(self, fp: str | Path, obj_key: str = "json", mode: str = "w", clear: bool = False) -> None:
        """Do ``dump`` under the lock."""
        await self._locked(self.dump, fp, obj_key, mode, clear)

    # -- writing down

    def _dump(self, mode: Any) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "created_at": self.created_at,
            "metadata": self.metadata,
            "collections": [item.to_dict(mode) for item in self],
            "progression": self.progression.to_dict(mode),
            "strict_type": self.strict_type,
        }

    @classmethod
    def _restore(cls, data: dict[str, Any]) -> Self:
        data = dict(data)
        members: list[Any] = data.pop("collections", [])
        items = [Element.from_dict(cast("dict[str, Any]", one)) if isinstance(one, dict) else one for one in members]
        order = data.pop("progression", None)
        if isinstance(order, dict):
            order = Progression.from_dict(cast("dict[str, Any]", order))
        return cls(items, order=order, **data)

    def dump(self, fp: str | Path, obj_key: str = "json", mode: str = "w", clear: bool = False) -> None:
        """Write the elements to a file.

        Args:
            fp: The path.
            obj_key: "json" (one list) or "csv" (one element a row, mappings as JSON).
            mode: "w" replaces the file; "a" appends each element as one JSON line.
            clear: Whether the pile is emptied afterwards.
        """
        rows = [item.to_dict("json") for item in self]
        if mode == "a" and obj_key == "json":
            for row in rows:
                append_line(fp, json.dumps(row, ensure_ascii=False))
        elif mode == "w" and obj_key in ("json", "csv"):
            write_atomic(fp, json.dumps(rows, ensure_ascii=False) if obj_key == "json" else _csv(rows))
        else:
            raise ValidationError(f"a pile cannot be dumped as {obj_key!r} with mode {mode!r}; use 'json' or 'csv'")
        if clear:
            self.clear()


_ABSENT = object()


def _csv(rows: list[dict[str, Any]]) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    for row in rows:
        writer.writerow({k: json.dumps(v) if isinstance(v, (dict, list)) else v for k, v in row.items()})
    return out.getvalue()
