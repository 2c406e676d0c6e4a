"""The one place that makes markup: autoescaped templates, and the elements for pieces, statuses and hidden characters.

Model text reaches a page only through the environment made here. It escapes every value, and it shows control,
direction and zero-width characters as their escapes in a box, so that what a person reads is what is there.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lionagi.ln.hidden import split_hidden

from ._format import size
from ._json import byte_size, pretty, thaw

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from ._pieces import Pieces

__all__ = ("MAX_VIEW", "render", "styles")

MAX_VIEW = 1_000_000  # characters of one view's markup
_FOLD = 10_000  # characters of one folded body
_BOX = "l-esc"

_ELEMENTS = {
    "t": ("", ""),
    "code": ("<code>", "</code>"),
    "b": ("<b>", "</b>"),
    "bcode": ("<b><code>", "</code></b>"),
    "dim": ('<span class="l-2">', "</span>"),
    "dimcode": ('<span class="l-2"><code>', "</code></span>"),
    "quote": ("“", "”"),
    "dimquote": ('<span class="l-2">“', "”</span>"),
}
_SEPARATOR = '<span class="l-2"> · </span>'


def render(template: str, css: str, **values: Any) -> str:
    """Return a view's self-contained markup: its styles, then its body in one `div`.

    Folded bodies are cut further, and in the end left out, where the whole would be longer than `MAX_VIEW`.
    """
    body = ""
    for fold in (_FOLD, _FOLD // 4, _FOLD // 16, 0):
        body = _environment().get_template(template).render(fold_limit=fold, **values)
        if len(body) <= MAX_VIEW:
            break
    return f"<style>{styles(css)}</style>\n{body}"


@cache
def styles(css: str) -> str:
    """Return the styles of every view and those of the file `css` ("" for none)."""
    folder = files("lionagi_nb") / "templates"
    names = ("base.css", css) if css else ("base.css",)
    return "\n".join((folder / name).read_text(encoding="utf-8").strip() for name in names)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    env = Environment(
        loader=PackageLoader("lionagi_nb"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    for name, function in (("pieces", _pieces), ("body", _body), ("long_text", _long_text)):
        env.filters[name] = function  # pyright: ignore[reportUnknownMemberType]
    env.tests["cautioned"] = _cautioned  # pyright: ignore[reportUnknownMemberType]
    return env


def _cautioned(body: Any) -> bool:
    return _BOX in str(body)


def _shown(value: Any) -> Any:
    """Escape a text and box its hidden characters; leave markup that is already made, and numbers, alone."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    from markupsafe import Markup, escape

    runs = split_hidden(value)
    if len(runs) == 1 and not runs[0][1]:
        return escape(value)
    box = Markup('<span class="' + _BOX + '">{}</span>')
    return Markup("").join(box.format(run) if boxed else escape(run) for run, boxed in runs)


def _pieces(pieces: Pieces) -> Markup:
    from markupsafe import Markup

    out: list[str] = []
    for role, text in pieces:
        if role == "sep":
            out.append(_SEPARATOR)
        else:
            opening, closing = _ELEMENTS[role]
            out += (opening, _shown(text), closing)
    return Markup("".join(out))


def _body(frozen: str, fold: int) -> Markup:
    """Return the laid-out form of a JSON text, cut at `fold` characters."""
    return _cut(pretty(thaw(frozen), fold + 1), byte_size(frozen), fold)


def _long_text(text: str, fold: int) -> Markup:
    return _cut(text, byte_size(text), fold)


def _cut(text: str, full: int, fold: int) -> Markup:
    from markupsafe import Markup

    if len(text) <= fold:
        return Markup(_shown(text))
    more = f"… {size(max(full - fold, 1))} more"
    return Markup("{}\n{}").format(_shown(text[:fold]), more) if fold else Markup("{}").format(more)
