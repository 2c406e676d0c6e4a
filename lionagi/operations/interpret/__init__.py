"""One verb of the branch; see the module of the same name, which is loaded at the verb's first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.operations.interpret import interpret

__all__ = ("interpret",)

__getattr__, __dir__ = lazy_names(__name__, modules=__all__)
