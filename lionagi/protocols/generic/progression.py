"""Progression: an order of ids, apart from the items themselves."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self, overload
from uuid import UUID

from pydantic import Field, field_validator

from lionagi._errors import NotFoundError, ValidationError, short_repr
from lionagi.protocols.generic.element import ID, Element

__all__ = ("Progression",)

_put = object.__setattr__


def _ids(value: Any) -> list[UUID]:
    """Return the ids that a value names: one item, or any nesting of iterables of items."""
    if isinstance(value, (UUID, str)) or (isinstance(value, Element) and not isinstance(value, Progression)):
        return [ID.get_id(value)]
    if isinstance(value, Progression):
        return value.order
    if value is None:
        return []
    try:
        items = list(value)
    except TypeError:
        return [ID.get_id(value)]
    return [one for item in items for one in _ids(item)]


class Progression(Element):
    """An ordered list of ids, in which an id may occur several times through ``append``.

    Every method takes an Element, a UUID or its text; the methods of many items take iterables of these.
    Equality compares order and name.

    Attributes:
        order: The ids. Change it through the methods where possible.
        name: A label.
    """

    order: list[UUID] = Field(default_factory=list[UUID])
    name: str | None = None
    # Slots, not private attributes: those cost a mapping in every instance, and most are never asked for members.
    __slots__ = ("_known", "_members")
    if TYPE_CHECKING:
        _known: int
        _members: set[UUID]

    def __init__(self, order: Any = None, name: str | None = None, **fields: Any) -> None:
        fields.update(order=order, name=name)
        super().__init__(**fields)
        _put(self, "__pydantic_fields_set__", self.all_names)

    @field_validator("order", mode="before")
    @classmethod
    def _read_order(cls, value: Any) -> list[UUID]:
        return list(_ids(value))

    def _set(self) -> set[UUID]:
        """Return the ids of ``order``; kept, and right while their number is; removals set it to -1."""
        if not self._is_known():
            self._members = set(self.order)
            self._known = len(self.order)
        return self._members

    def _is_known(self) -> bool:
        return getattr(self, "_known", -1) == len(self.order)

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[UUID]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return iter(self.order)

    def __reversed__(self) -> Iterator[UUID]:
        return reversed(self.order)

    def __contains__(self, item: object) -> bool:
        try:
            return all(one in self._set() for one in _ids(item))
        except ValueError:
            return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Progression):
            return NotImplemented
        return self.order == other.order and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.id)

    @overload
    def __getitem__(self, key: int) -> UUID: ...
    @overload
    def __getitem__(self, key: slice) -> "Progression": ...
    def __getitem__(self, key: int | slice) -> "UUID | Progression":
        if isinstance(key, slice):
            return Progression(self.order[key], name=self.name)
        try:
            return self.order[key]
        except IndexError:
            raise NotFoundError(f"no position {key} in a progression of {len(self.order)}") from None

    def __setitem__(self, key: int | slice, value: Any) -> None:
        ids = _ids(value)
        if isinstance(key, slice):
            self.order[key] = ids
        elif len(ids) == 1:
            self.order[key] = ids[0]
        else:
            raise ValidationError(f"one position takes one id, not {len(ids)}")
        self._known = -1

    def __delitem__(self, key: int | slice) -> None:
        del self.order[key]
        self._known = -1

    def __add__(self, other: Any) -> "Progression":
        return Progression([*self.order, *_ids(other)], name=self.name)

    def __sub__(self, other: Any) -> "Progression":
        gone = set(_ids(other))
        return Progression([one for one in self.order if one not in gone], name=self.name)

    def __iadd__(self, other: Any) -> Self:
        self.append(other)
        return self

    def __isub__(self, other: Any) -> Self:
        self.exclude(other)
        return self

    def append(self, item: Any) -> None:
        """Add one or several ids at the end, whether or not they are there already."""
        for one in _ids(item):
            if self._is_known():
                self._members.add(one)
                self._known += 1
            self.order.append(one)

    def include(self, item: Any) -> bool:
        """Add the ids that are absent; tell whether any was."""
        members = self._set()
        absent = [one for one in dict.fromkeys(_ids(item)) if one not in members]
        self.append(absent)
        return bool(absent)

    def exclude(self, item: Any) -> bool:
        """Remove every occurrence of the ids; tell whether there was any. Absent ids are no error."""
        members = self._set()
        gone = {one for one in _ids(item) if one in members}
        if gone:
            self.order[:] = [one for one in self.order if one not in gone]
            self._known = -1
        return bool(gone)

    def extend(self, other: "Progression") -> None:
        """Append another progression's ids."""
        if not isinstance(other, Progression):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValidationError(f"extend takes a Progression, not {short_repr(other)}; append takes ids")
        self.append(other)

    def insert(self, index: int, item: Any) -> None:
        """Put the ids before the position."""
        self.order[index:index] = _ids(item)
        self._known = -1

    def remove(self, item: Any) -> None:
        """Remove the first occurrence of each id; an absent id is a NotFoundError and leaves all in place."""
        ids = _ids(item)
        for one in ids:
            if one not in self._set():
                raise NotFoundError(f"{one} is not in the progression")
        for one in ids:
            self.order.remove(one)
        self._known = -1

    def pop(self, index: int = -1) -> UUID:
        """Remove and return the id at a position, the last when omitted."""
        try:
            one = self.order.pop(index)
        except IndexError:
            raise NotFoundError(f"no position {index} in a progression of {len(self.order)}") from None
        self._known = -1
        return one

    def popleft(self) -> UUID:
        """Remove and return the first id."""
        return self.pop(0)

    def index(self, item: Any) -> int:
        """Return the first position of an id; an absent id is a NotFoundError."""
        one = ID.get_id(item)
        try:
            return self.order.index(one)
        except ValueError:
            raise NotFoundError(f"{one} is not in the progression") from None

    def count(self, item: Any) -> int:
        """Return how often an id occurs."""
        return self.order.count(ID.get_id(item))

    def move(self, from_index: int, to_index: int) -> None:
        """Take the id at one position and put it before what is then at the other."""
        self.insert(to_index, self.pop(from_index))

    def swap(self, first: int, second: int) -> None:
        """Exchange the ids at two positions."""
        one, two = self[first], self[second]
        self.order[first], self.order[second] = two, one

    def reverse(self) -> None:
        """Reverse the order in place."""
        self.order.reverse()

    def clear(self) -> None:
        """Remove all ids."""
        self.order.clear()
        self._known = -1

    def _dump(self, mode: Any) -> dict[str, Any]:
        data = self._dumped_fields(mode, {"order"})
        data["order"] = [str(one) for one in self.order]
        return data
