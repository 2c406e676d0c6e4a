"""A branch's models by name."""

from __future__ import annotations

from lionagi._errors import ConfigurationError, short_repr
from lionagi.service.imodel import iModel

__all__ = ("iModelManager",)


class iModelManager:
    """Models by name; "chat" and "parse" are the ones that the verbs ask for.

    Args:
        *models: Positional models are named "chat" and "parse", in this order.
        **named: Models under names of your own.
    """

    def __init__(self, *models: iModel, **named: iModel) -> None:
        if len(models) > 2:
            raise ConfigurationError(f"at most two unnamed models, chat and parse, not {len(models)}: name the others")
        self.registry: dict[str, iModel] = {}
        for name, model in [*zip(("chat", "parse"), models, strict=False), *named.items()]:
            self.register_imodel(name, model)

    @property
    def chat(self) -> iModel | None:
        """The model that answers."""
        return self.registry.get("chat")

    @property
    def parse(self) -> iModel | None:
        """The model that reformats answers; the chat model where none is named."""
        return self.registry.get("parse") or self.chat

    def register_imodel(self, name: str, model: iModel) -> None:
        """Put a model under a name, in place of an earlier one; anything but an iModel is a ConfigurationError."""
        if not isinstance(model, iModel):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError(f"a model must be an iModel, not {short_repr(model)}")
        self.registry[name] = model

    async def shutdown(self, timeout: float = 5.0) -> None:
        """Close all models; one that fails or takes longer than ``timeout`` seconds is logged and left."""
        import asyncio
        import logging

        for name, model in self.registry.items():
            try:
                async with asyncio.timeout(timeout):
                    await model.close()
            except Exception as error:
                logging.getLogger(__name__).warning("model %r did not close: %s", name, error)
