"""Log: a record of what happened, held in memory."""

from typing import Any, Self

from pydantic import SkipValidation

from lionagi.protocols.generic.element import Element

__all__ = ("Log",)


class Log(Element):
    """One record.

    Attributes:
        content: The facts; the mapping is kept as given, never copied.
    """

    content: SkipValidation[dict[str, Any]]

    def __setattr__(self, name: str, value: Any) -> None:
        if "_frozen" in self.__dict__:
            raise AttributeError("This Log is immutable. It was restored from a record; make a new Log instead.")
        super().__setattr__(name, value)

    @classmethod
    def create(cls, content: Element | dict[str, Any]) -> "Log":
        """Make a log of an element's facts or of a mapping; an empty one is noted as such, with a warning."""
        facts = content.to_dict("json") if isinstance(content, Element) else content
        if not facts:
            import logging

            logging.getLogger(__name__).warning("a log without content was created")
            facts = {"error": "No content to log."}
        return cls(content=facts)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Restore a record as it was written; the result cannot be changed."""
        log = super().from_dict(data)
        # Beside the fields: a private attribute would cost a mapping in each of the many records.
        object.__setattr__(log, "_frozen", True)
        return log
