"""Helpers that know nothing of models or messages; names load on first use.

``lionagi.ln.trace`` is the module; import its function ``trace`` from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from lionagi.ln import types
    from lionagi.ln.calls import AlcallParams, BcallParams, alcall, bcall, is_coro_func, lcall
    from lionagi.ln.clock import SYSTEM_CLOCK, Clock, ManualClock, NoWaitClock, SystemClock
    from lionagi.ln.dicts import to_dict
    from lionagi.ln.files import append_line, remove_file, write_atomic
    from lionagi.ln.fuzzy import FuzzyMatchKeysParams, fuzzy_match_keys, fuzzy_validate_mapping, fuzzy_validate_pydantic
    from lionagi.ln.jsons import clean_surrogates, extract_json, fuzzy_json, json_dumpb, json_dumps, loads_json
    from lionagi.ln.lists import to_list
    from lionagi.ln.loops import PerLoop
    from lionagi.ln.otel import export_trace
    from lionagi.ln.secrets import CREDENTIAL_HEADERS, Secret, mask_headers, scrub
    from lionagi.ln.threads import call_in_thread, run_in_thread
    from lionagi.ln.trace import Span, StreamSpan, Trace, is_tracing, note, set_trace_sink, span, stream_span
    from lionagi.ln.yamls import dump_yaml, load_yaml, load_yaml_lines

__all__ = (
    "CREDENTIAL_HEADERS",
    "SYSTEM_CLOCK",
    "AlcallParams",
    "BcallParams",
    "Clock",
    "FuzzyMatchKeysParams",
    "ManualClock",
    "NoWaitClock",
    "PerLoop",
    "Secret",
    "Span",
    "StreamSpan",
    "SystemClock",
    "Trace",
    "alcall",
    "append_line",
    "bcall",
    "call_in_thread",
    "clean_surrogates",
    "dump_yaml",
    "export_trace",
    "extract_json",
    "fuzzy_json",
    "fuzzy_match_keys",
    "fuzzy_validate_mapping",
    "fuzzy_validate_pydantic",
    "is_coro_func",
    "is_tracing",
    "json_dumpb",
    "json_dumps",
    "lcall",
    "load_yaml",
    "load_yaml_lines",
    "loads_json",
    "mask_headers",
    "note",
    "remove_file",
    "run_in_thread",
    "scrub",
    "set_trace_sink",
    "span",
    "stream_span",
    "to_dict",
    "to_list",
    "types",
    "write_atomic",
)

_HOMES: dict[str, tuple[str, ...]] = {
    "calls": (
        "AlcallParams",
        "BcallParams",
        "alcall",
        "bcall",
        "is_coro_func",
        "lcall",
    ),
    "clock": (
        "SYSTEM_CLOCK",
        "Clock",
        "ManualClock",
        "NoWaitClock",
        "SystemClock",
    ),
    "dicts": ("to_dict",),
    "files": (
        "append_line",
        "remove_file",
        "write_atomic",
    ),
    "fuzzy": (
        "FuzzyMatchKeysParams",
        "fuzzy_match_keys",
        "fuzzy_validate_mapping",
        "fuzzy_validate_pydantic",
    ),
    "jsons": (
        "clean_surrogates",
        "extract_json",
        "fuzzy_json",
        "json_dumpb",
        "json_dumps",
        "loads_json",
    ),
    "lists": ("to_list",),
    "loops": ("PerLoop",),
    "otel": ("export_trace",),
    "secrets": (
        "CREDENTIAL_HEADERS",
        "Secret",
        "mask_headers",
        "scrub",
    ),
    "threads": (
        "call_in_thread",
        "run_in_thread",
    ),
    "trace": (
        "Span",
        "StreamSpan",
        "Trace",
        "is_tracing",
        "note",
        "set_trace_sink",
        "span",
        "stream_span",
    ),
    "yamls": (
        "dump_yaml",
        "load_yaml",
        "load_yaml_lines",
    ),
}
_MODULE_OF = {name: f".{module}" for module, names in _HOMES.items() for name in names}

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF, modules=("types",))
