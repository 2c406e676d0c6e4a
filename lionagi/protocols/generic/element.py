"""Element: an identified, time-stamped value that can be written down and read back as the class it was."""

import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, cast
from uuid import UUID, uuid4
from weakref import WeakValueDictionary

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic_core import from_json, to_json

from lionagi._errors import NotFoundError, ValidationError, short_repr
from lionagi.ln.jsons import json_dumpb
from lionagi.ln.types import is_sentinel

__all__ = ("ID", "Element", "load_element_class")

_CLASSES: "WeakValueDictionary[str, type[Element]]" = WeakValueDictionary()


def _timestamp(value: Any) -> Any:
    """Read a datetime or ISO text as seconds since the epoch; a text without a zone is UTC."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return value


class Element(BaseModel):
    """The base of everything that has an identity.

    Attributes:
        id: A random UUID; text is accepted and read. Equality and hash go by it alone.
        created_at: Seconds since the epoch; datetimes and ISO texts are accepted.
        metadata: Free facts. ``lion_class`` is reserved: it must name the element's own class.
    """

    model_config = ConfigDict(
        extra="forbid",
        arbitrary_types_allowed=True,
        use_enum_values=True,
        populate_by_name=True,
        protected_namespaces=(),
        defer_build=True,  # most programs use few of the subclasses, and each validator takes a millisecond
    )

    id: UUID = Field(default_factory=uuid4, frozen=True)
    created_at: Annotated[float, BeforeValidator(_timestamp)] = Field(default_factory=time.time, frozen=True)
    metadata: dict[str, Any] = Field(default_factory=dict)

    # One set of all names for the instances that say they are complete: pydantic's own takes 200 bytes in each.
    all_names: ClassVar[set[str]] = set()

    @classmethod
    def __pydantic_init_subclass__(cls, **_kwargs: Any) -> None:
        _CLASSES[cls.class_name(full=True)] = cls
        cls.all_names = set(cls.model_fields)

    @field_validator("metadata", mode="before")
    @classmethod
    def _check_class(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return {} if value is None else value
        named = cast("dict[str, Any]", value).get("lion_class")
        if named is not None and named != cls.class_name(full=True):
            raise ValueError(f"Metadata class mismatch: {short_repr(named)} is not {cls.class_name(full=True)!r}")
        return cast("dict[str, Any]", value)

    @classmethod
    def class_name(cls, full: bool = False) -> str:
        """Return the class's name, with ``full`` the dotted path by which ``from_dict`` finds it again."""
        return f"{cls.__module__}.{cls.__qualname__}" if full else cls.__name__

    @property
    def created_datetime(self) -> datetime:
        """The creation time as an aware datetime in UTC."""
        return datetime.fromtimestamp(self.created_at, tz=UTC)

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Element) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __bool__(self) -> bool:
        return True

    def to_dict(
        self, mode: Literal["python", "json", "db"] = "python", db_meta_key: str | None = None
    ) -> dict[str, Any]:
        """Return the fields as a mapping from which ``from_dict`` restores the element.

        Args:
            mode: "python" keeps Python objects as field values; "json" and "db" hold JSON types only.
            db_meta_key: In mode "db" the key that metadata gets, as the last one; "node_metadata" when omitted.
        """
        if mode not in ("python", "json", "db"):
            raise ValidationError(f"unknown mode {short_repr(mode)}; use 'python', 'json' or 'db'")
        data = {k: v for k, v in self._dump("python" if mode == "python" else "json").items() if not is_sentinel(v)}
        data["id"] = str(self.id)
        data["metadata"] = {**data["metadata"], "lion_class": self.class_name(full=True)}
        if mode == "db":
            data[db_meta_key or "node_metadata"] = data.pop("metadata")
        return data

    def _dump(self, mode: Literal["python", "json"]) -> dict[str, Any]:
        """Return the fields; subclasses add what they show beyond their fields."""
        return self._dumped_fields(mode)

    def _dumped_fields(self, mode: Literal["python", "json"], exclude: set[str] | None = None) -> dict[str, Any]:
        """Return the fields as they are, or as JSON types with the repr of what JSON does not know."""
        data = self.model_dump(exclude=exclude)
        # By way of the text: a lone surrogate, as in the name of a file that is no UTF-8, is replaced on it.
        return data if mode == "python" else from_json(json_dumpb(data, default=repr))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Restore an element from ``to_dict`` of any mode, as the class named in ``metadata["lion_class"]``."""
        data = dict(data)
        metadata = dict(data.pop("node_metadata", None) or data.get("metadata") or {})
        named = metadata.pop("lion_class", None)
        data["metadata"] = metadata
        target = cls if named in (None, cls.class_name(full=True)) else load_element_class(named)
        if target is cls or not issubclass(target, cls):
            return cls._restore(data)
        return target._restore(data)

    @classmethod
    def _restore(cls, data: dict[str, Any]) -> Self:
        """Build from a mapping that names no class any more; subclasses drop what is not a field."""
        return cls.model_validate(data)

    def to_json(self, decode: bool = True) -> str | bytes:
        """Return ``to_dict("json")`` as JSON, as text or (``decode=False``) as UTF-8 bytes."""
        raw = to_json(self.to_dict("json"))
        return raw.decode() if decode else raw

    @classmethod
    def from_json(cls, data: str | bytes) -> Self:
        """Restore an element from the JSON of ``to_json``."""
        return cls.from_dict(from_json(data))


def load_element_class(name: str) -> type[Element]:
    """Return the Element class of a dotted path.

    Only modules of this package are imported for it: a name in a data file must not choose what code runs. A class of
    another module is found once that module has been imported.

    Raises:
        NotFoundError: No such class is known.
    """
    if (known := _CLASSES.get(name)) is not None:
        return known
    module_name, _, class_name = name.rpartition(".")
    module = sys.modules.get(module_name)
    if module is None and module_name.split(".")[0] == "lionagi":
        try:
            module = import_module(module_name)
        except ImportError:
            module = None
    found = getattr(module, class_name, None)
    if isinstance(found, type) and issubclass(found, Element):
        return found
    raise NotFoundError(f"no element class {short_repr(name)}; import the module that defines it first")


class ID:
    """Reads ids: an Element, a UUID or its text all name the same item."""

    Ref: TypeAlias = UUID | Element | str
    RefSeq: TypeAlias = list[UUID | Element | str]
    Item: TypeAlias = UUID | Element
    ItemSeq: TypeAlias = list[UUID | Element]
    IDSeq: TypeAlias = list[UUID]

    @staticmethod
    def get_id(item: object) -> UUID:
        """Return the UUID of an Element, a UUID or a UUID's text; anything else is a ValidationError."""
        if isinstance(item, UUID):
            return item
        if isinstance(item, Element):
            return item.id
        if isinstance(item, str):
            try:
                return UUID(item)
            except ValueError:
                pass
        raise ValidationError(f"{short_repr(item)} is not an id: use an Element, a UUID or its text")

    @staticmethod
    def is_id(item: object) -> bool:
        """Tell whether ``get_id`` would accept the value."""
        try:
            ID.get_id(item)
        except ValueError:
            return False
        return True
