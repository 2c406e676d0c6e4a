"""Node: an element with content, the base of messages."""

from typing import Any

from pydantic import field_validator
from pydantic_core import from_json

from lionagi._errors import short_repr
from lionagi.protocols.generic.element import Element

__all__ = ("Node",)


class Node(Element):
    """An element that carries content of any type and, optionally, an embedding.

    Attributes:
        content: The payload; it is neither copied nor checked here.
        embedding: A vector of floats; its JSON text is accepted.
    """

    content: Any = None
    embedding: list[float] | None = None

    @field_validator("embedding", mode="before")
    @classmethod
    def _read_embedding(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return from_json(value)
        except ValueError as error:
            raise ValueError(f"embedding {short_repr(value)} is not a JSON list of numbers") from error
