"""``%load_ext lionagi_nb``: formatters for core types, the magics, a ring of traces, and their complete removal."""

from __future__ import annotations

from typing import Any

from ._forms.view import errors
from ._magics import register_magics, unregister_magics
from ._schema.view import schema
from ._timeline.view import timeline
from ._trace.ring import start_keeping, stop_keeping

__all__ = ("load_ipython_extension", "unload_ipython_extension")

_SHOWN = {
    ("lionagi.session.branch", "Branch"): timeline,
    ("lionagi.operations.operate.operative", "Operative"): schema,
    ("lionagi.work.form", "WorkForm"): errors,
}
_KEPT = "_lionagi_nb_kept"


def load_ipython_extension(shell: Any) -> None:
    """Show branches, operatives and forms as their views, and add the magics; loading twice does nothing more."""
    formatter = shell.display_formatter.mimebundle_formatter
    if hasattr(shell, _KEPT):
        return
    kept = {key: formatter.for_type_by_name(*key, _bundle(view)) for key, view in _SHOWN.items()}
    object.__setattr__(shell, _KEPT, (kept, register_magics(shell)))
    start_keeping()


def unload_ipython_extension(shell: Any) -> None:
    """Put back what `load_ipython_extension` found: formatters and magics that others had registered, or none."""
    formatter = shell.display_formatter.mimebundle_formatter
    if not hasattr(shell, _KEPT):
        return
    kept, magics = getattr(shell, _KEPT)
    unregister_magics(shell, magics)
    stop_keeping()
    for (module, name), before in kept.items():
        formatter.pop(f"{module}.{name}", None)
        if before is not None:
            formatter.for_type_by_name(module, name, before)
    object.__delattr__(shell, _KEPT)


def _bundle(view: Any) -> Any:
    def show(value: Any, include: Any = None, exclude: Any = None) -> dict[str, str]:
        made = view(value)
        return {"text/plain": made.text(), "text/html": made.html()}

    return show
