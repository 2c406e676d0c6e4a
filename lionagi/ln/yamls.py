"""The one door to YAML.

Reading is bounded and never recursive: the parser's events are put together here, so that nothing is built that a cap
refuses. The data are JSON's: dicts, lists, text, numbers, true, false and null. A plain scalar is read as PyYAML's
``safe_load`` reads it, save where that would change what was written: ``1e5`` is a number as in JSON, ``12:30`` is
text rather than 750, and dates, ``NaN``, ``Infinity`` and numbers with leading zeros are refused or stay text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any, NoReturn

from lionagi._errors import ParseError, ValidationError, short_repr
from lionagi.ln.jsons import clean_surrogates
from lionagi.ln.patterns import late_pattern

__all__ = ("DEFAULT_MAX_DEPTH", "dump_yaml", "load_yaml", "load_yaml_lines")

DEFAULT_MAX_DEPTH = 200

Path = tuple[str | int, ...]

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {
    form: value
    for value, words in ((True, ("yes", "true", "on")), (False, ("no", "false", "off")))
    for word in words
    for form in (word, word.capitalize(), word.upper())
}
_INTEGER = late_pattern(r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+)\Z")
_FLOAT = late_pattern(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_SPECIAL_FLOAT = late_pattern(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_LEADING_ZERO = late_pattern(r"[-+]?0[0-9_]+\Z")
_DATE = late_pattern(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t]|\Z)")
_SEXAGESIMAL = late_pattern(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
# What no YAML text may hold; the parser says so without saying where.
_CONTROL = late_pattern("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Text to YAML; what a JSON writer puts where it had a float that is not finite.
_JSON_NOT_FINITE = frozenset(("NaN", "Infinity", "-Infinity"))
_SHORTEST_LONG_INTEGER = 500
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
_NO_KEY = object()


def load_yaml(
    text: str | bytes,
    *,
    max_bytes: int | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
    allow_aliases: bool = False,
    strict: bool = True,
) -> Any:
    """Return the data of a YAML text with one document; an empty text gives None.

    Args:
        text: Text, or bytes in UTF-8; a byte order mark is skipped.
        max_bytes: Refuse a longer text; no limit by default.
        max_depth: Refuse deeper nesting of mappings and lists.
        allow_aliases: Accept anchors and aliases; an alias gives the anchored object itself, not a copy.
        strict: Refuse a repeated key, a key that is not text, a date, a number with leading zeros and a number that is
            not finite. Otherwise the last key wins, and dates and such numbers stay text.

    Raises:
        ParseError: The text is no YAML.
        ValidationError: It is, and a cap or a rule refuses it. Tags and several documents are always refused.
            Both have ``details["line"]`` (from 1) where there is one.
    """
    return _build(_checked_text(text, max_bytes), _Builder(None, max_depth, allow_aliases, strict))


def load_yaml_lines(
    text: str | bytes,
    *,
    max_bytes: int | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
    allow_aliases: bool = False,
    strict: bool = True,
) -> tuple[Any, dict[tuple[str | int, ...], int]]:
    """Do what :func:`load_yaml` does; return as well the line (from 1) of each key, by its path of keys and indices."""
    lines: dict[Path, int] = {}
    return _build(_checked_text(text, max_bytes), _Builder(lines, max_depth, allow_aliases, strict)), lines


def _build(source: str, builder: _Builder) -> Any:
    for event in _events(source):
        builder.take(event)
    return builder.root


def _checked_text(text: str | bytes, max_bytes: int | None) -> str:
    if max_bytes is not None:
        size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
        if size > max_bytes:
            raise ValidationError(f"the YAML text has {size} bytes; at most {max_bytes} are accepted")
    if isinstance(text, str):
        return clean_surrogates(text).removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        message = f"the YAML text is not UTF-8 at byte {error.start} (line {line}); save it as UTF-8"
        raise ValidationError(message, details={"line": line}) from None


def _events(source: str) -> Iterator[Any]:
    import yaml

    library: Any = yaml
    try:
        yield from library.parse(source, Loader=getattr(library, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _unreadable(error, source) from None


def _unreadable(error: Any, source: str) -> ParseError | ValidationError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    line, where = None, ""
    if mark is not None:
        line, where = mark.line + 1, f" at line {mark.line + 1}, column {mark.column + 1}"
    elif (control := _CONTROL.search(source)) is not None:
        line = source.count("\n", 0, control.start()) + 1
        where = f" at line {line}, where {control.group()!r} stands"
    details = None if line is None else {"line": line}
    if "nesting depth" in problem:
        return ValidationError(f"YAML refused{where}: nested too deeply", details=details)
    return ParseError(f"not YAML{where}: {problem}", details=details)


class _Open:
    """A container that is being filled; ``key`` is the mapping key whose value comes next."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key: Any = _NO_KEY


class _Builder:
    """Puts data together from the parser's events, refusing as early as possible."""

    def __init__(self, lines: dict[Path, int] | None, max_depth: int, allow_aliases: bool, strict: bool) -> None:
        self.root: Any = None
        self.lines = lines
        self._max_depth = max_depth
        self._allow_aliases = allow_aliases
        self._strict = strict
        self._open: list[_Open] = []
        self._path: list[str | int] = []
        self._anchors: dict[str, Any] = {}
        self._documents = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "ScalarEvent":
            self._check_node(event)
            self._put(self._scalar(event), event)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._check_node(event)
            self._start({} if kind == "MappingStartEvent" else [], event)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
            if self._open:
                self._close_item()
        elif kind == "AliasEvent":
            self._put(self._alias(event), event)
        elif kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                self._refuse("there are several documents in one text; keep one", event)

    def _refuse(self, problem: str, event: Any) -> NoReturn:
        line = event.start_mark.line + 1
        where = ".".join(str(each) for each in self._path)
        place = f", in {short_repr(where, 60)}" if where else ""
        message = f"YAML refused at line {line}{place}: {problem}"
        raise ValidationError(message, details={"line": line, "path": list(self._path)})

    def _check_node(self, event: Any) -> None:
        if event.anchor is not None and not self._allow_aliases:
            self._refuse(f"anchors such as &{event.anchor} are not accepted; write the value out", event)
        if event.tag is not None and not (event.tag in _TEXT_TAGS and type(event).__name__ == "ScalarEvent"):
            self._refuse(f"the tag {short_repr(event.tag)} is not accepted; write the value without it", event)

    def _start(self, container: Any, event: Any) -> None:
        if len(self._open) >= self._max_depth:
            self._refuse(f"nested more than {self._max_depth} deep", event)
        if self._wants_key():
            self._refuse("a key is a mapping or a list; keys are text", event)
        self._put(container, event, closed=False)
        self._open.append(_Open(container))

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is _NO_KEY

    def _put(self, value: Any, event: Any, *, closed: bool = True) -> None:
        if not self._open:
            self.root = value
        elif self._wants_key():
            self._take_key(value, event)
            return
        else:
            top = self._open[-1]
            if top.key is not _NO_KEY:
                top.value[top.key] = value
            else:
                self._path.append(len(top.value))
                top.value.append(value)
            if closed:
                self._close_item()
        if getattr(event, "anchor", None) is not None and type(event).__name__ != "AliasEvent":
            self._anchors[event.anchor] = value

    def _close_item(self) -> None:
        self._path.pop()
        self._open[-1].key = _NO_KEY

    def _take_key(self, key: Any, event: Any) -> None:
        top = self._open[-1]
        if self._strict and not isinstance(key, str):
            self._refuse(f"the key {short_repr(event.value)} is not text; put it in quotes", event)
        if self._strict and key in top.value:
            self._refuse(f"the key {short_repr(key)} is there twice", event)
        top.key = key
        self._path.append(key)
        if self.lines is not None:
            self.lines[tuple(self._path)] = event.start_mark.line + 1

    def _alias(self, event: Any) -> Any:
        if not self._allow_aliases:
            self._refuse(f"aliases such as *{event.anchor} are not accepted; write the value out", event)
        if event.anchor not in self._anchors:
            self._refuse(f"the alias *{event.anchor} refers to nothing", event)
        value = self._anchors[event.anchor]
        if self._wants_key() and not isinstance(value, str):
            self._refuse("a key is an alias of something that is not text", event)
        if any(each.value is value for each in self._open):
            self._refuse(f"the alias *{event.anchor} stands inside what it refers to", event)
        return value

    def _scalar(self, event: Any) -> Any:
        text = clean_surrogates(event.value)
        # The C parser gives a plain scalar the style "", the Python one None.
        if event.style or event.tag is not None:
            return text
        try:
            value, doubt = _plain(text)
        except ValueError:
            why = f"it has {len(text)} characters" if len(text) > _SHORTEST_LONG_INTEGER else "it has no digits"
            self._refuse(f"{short_repr(text[:40])} is no number that can be read: {why}", event)
        if doubt is not None and self._strict:
            self._refuse(f"{short_repr(text)} {doubt}", event)
        return value


def _plain(text: str) -> tuple[Any, str | None]:
    """Return what a plain scalar means, and why strict reading refuses it."""
    if text in _NULLS:
        return None, None
    if text in _BOOLS:
        return _BOOLS[text], None
    if text in _JSON_NOT_FINITE:
        return text, "is not a finite number; put it in quotes if it is text"
    if text[0] not in "-+.0123456789":
        return text, None
    if _INTEGER.match(text):
        return _integer(text.replace("_", "")), None
    if _FLOAT.match(text):
        value = float(text.replace("_", ""))
        return value, None if math.isfinite(value) else "is too large a number"
    return _doubtful(text)


def _integer(text: str) -> int:
    value = int(text, 0)
    if len(text) > _SHORTEST_LONG_INTEGER:
        str(value)  # a hexadecimal number may be too long to be written in digits, which its reader would find out
    return value


def _doubtful(text: str) -> tuple[Any, str | None]:
    if _SPECIAL_FLOAT.match(text):
        return float(text.replace(".", "")), "is not a finite number"
    if _LEADING_ZERO.match(text):
        return text, "has a leading zero, which may mean octal; put it in quotes or leave the zero out"
    if _DATE.match(text):
        return text, "would be read as a date; put it in quotes"
    return text, None


def dump_yaml(data: Any) -> str:
    """Return ``data`` as block-style YAML in insertion order, without aliases, lines never folded.

    Text of several lines is a literal block. What comes out is read back by :func:`load_yaml` as the same data.

    Args:
        data: What JSON can hold; tuples and sets are written as lists, subclasses of str as text.

    Raises:
        ValidationError: Another type, or data that contain themselves.
    """
    import yaml

    try:
        return yaml.dump(data, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=2**31 - 1, indent=2)
    except yaml.YAMLError as error:
        raise ValidationError(f"cannot be written as YAML: {error}; convert it to plain data first") from error
    except RecursionError:
        raise ValidationError("cannot be written as YAML: nested too deeply, or it contains itself") from None


@cache
def _dumper() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    Dumper.add_multi_representer(str, _represent_text)
    Dumper.add_representer(str, _represent_text)
    for kind in (set, frozenset):
        Dumper.add_representer(kind, _represent_set)
    return Dumper


def _represent_set(dumper: Any, items: Any) -> Any:
    return dumper.represent_list(list(items))


def _represent_text(dumper: Any, text: str) -> Any:
    plain = clean_surrogates(str(text))
    style = "|" if "\n" in plain else "'" if _reads_as_other(plain) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", plain, style=style)


def _reads_as_other(text: str) -> bool:
    """Return whether a plain scalar of that text is anything but the text, for this reader or for PyYAML's."""
    if text == "" or text in _NULLS or text in _BOOLS or text in _JSON_NOT_FINITE:
        return True
    if text[0] not in "-+.0123456789":
        return False
    try:
        return _plain(text) != (text, None) or _SEXAGESIMAL.match(text) is not None
    except ValueError:
        return True
