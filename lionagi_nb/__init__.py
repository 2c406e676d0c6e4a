"""Views of lionagi's runs for notebooks: values with a text form, self-contained markup and plain data.

    import lionagi_nb as nb
    nb.schema(Model, reason=True, actions=branch)   nb.actions(branch)   nb.timeline(branch)
    nb.transcript(branch)   nb.compare(before, after)   nb.errors(form)   nb.trace(branch)
    branch.gate = nb.approval()   nb.scripted_input({…})   nb.run_sync(coro)

Importing this package loads neither IPython nor a view, and changes nothing. `%load_ext lionagi_nb` registers
formatters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lionagi._lazy import lazy_names

if TYPE_CHECKING:
    from ._actions.view import actions
    from ._approval.gate import approval
    from ._compare.view import compare
    from ._extension import load_ipython_extension, unload_ipython_extension
    from ._forms.view import errors
    from ._nested import enable_nested_loops
    from ._run_sync import run_sync
    from ._schema.view import schema
    from ._scripted import scripted_input
    from ._timeline.view import timeline
    from ._trace.view import trace
    from ._transcript.view import transcript

__all__ = (
    "actions",
    "approval",
    "compare",
    "enable_nested_loops",
    "errors",
    "load_ipython_extension",
    "run_sync",
    "schema",
    "scripted_input",
    "timeline",
    "trace",
    "transcript",
    "unload_ipython_extension",
)

_HOMES = {
    "actions": "._actions.view",
    "approval": "._approval.gate",
    "compare": "._compare.view",
    "enable_nested_loops": "._nested",
    "errors": "._forms.view",
    "load_ipython_extension": "._extension",
    "run_sync": "._run_sync",
    "schema": "._schema.view",
    "scripted_input": "._scripted",
    "timeline": "._timeline.view",
    "trace": "._trace.view",
    "transcript": "._transcript.view",
    "unload_ipython_extension": "._extension",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
