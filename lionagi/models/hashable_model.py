"""`HashableModel`: the strict pydantic base of the package's own value models."""

from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict

from lionagi.ln.types import is_sentinel

__all__ = ("HashableModel",)


class HashableModel(BaseModel):
    """A pydantic model that refuses unknown keys and validates assignments and defaults.

    Two instances of one class with equal fields are equal. In spite of the name, which callers rely on, instances
    are mutable and therefore not hashable: ``hash()`` raises TypeError.
    """

    model_config = ConfigDict(
        populate_by_name=True,
        validate_assignment=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        use_enum_values=True,
        validate_default=True,
        defer_build=True,  # the validators are built at the first use, so that the import stays cheap
    )

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]

    def to_dict(self, mode: Literal["python", "json"] = "python", **kwargs: Any) -> dict[str, Any]:
        """Return the fields as a dict without those that hold ``Undefined`` or ``Unset``.

        Args:
            mode: "python" keeps Python values, "json" has JSON-compatible values only.
            **kwargs: Passed to ``model_dump``.
        """
        absent = {name for name in type(self).model_fields if is_sentinel(getattr(self, name))}
        if absent:
            kwargs["exclude"] = absent.union(kwargs.get("exclude") or ())
        return self.model_dump(mode=mode, **kwargs)

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        """Validate ``data`` into an instance; pydantic's ValidationError says what does not fit."""
        return cls.model_validate(data, **kwargs)

    def to_json(self, **kwargs: Any) -> str:
        """Return the fields as JSON text, sentinels left out."""
        absent = {name for name in type(self).model_fields if is_sentinel(getattr(self, name))}
        return self.model_dump_json(exclude=absent or None, **kwargs)

    @classmethod
    def from_json(cls, text: str | bytes, **kwargs: Any) -> Self:
        """Validate JSON text into an instance; pydantic's ValidationError says what does not fit."""
        return cls.model_validate_json(text, **kwargs)
