"""Helpers that know nothing of models or messages; names load on first use.

``lionagi.ln.trace`` is the module; import its function ``trace`` from there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lionagi.ln.clock import SYSTEM_CLOCK, Clock, ManualClock, NoWaitClock, SystemClock
    from lionagi.ln.loops import PerLoop
    from lionagi.ln.secrets import CREDENTIAL_HEADERS, Secret, mask_headers, scrub
    from lionagi.ln.threads import call_in_thread, run_in_thread
    from lionagi.ln.trace import Span, Trace, is_tracing, note, set_trace_sink, span

__all__ = (
    "CREDENTIAL_HEADERS",
    "SYSTEM_CLOCK",
    "Clock",
    "ManualClock",
    "NoWaitClock",
    "PerLoop",
    "Secret",
    "Span",
    "SystemClock",
    "Trace",
    "call_in_thread",
    "is_tracing",
    "mask_headers",
    "note",
    "run_in_thread",
    "scrub",
    "set_trace_sink",
    "span",
)

_HOMES: dict[str, tuple[str, ...]] = {
    "clock": ("SYSTEM_CLOCK", "Clock", "ManualClock", "NoWaitClock", "SystemClock"),
    "loops": ("PerLoop",),
    "secrets": ("CREDENTIAL_HEADERS", "Secret", "mask_headers", "scrub"),
    "threads": ("call_in_thread", "run_in_thread"),
    "trace": ("Span", "Trace", "is_tracing", "note", "set_trace_sink", "span"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
