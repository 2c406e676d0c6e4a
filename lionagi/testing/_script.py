"""ScriptModel: which answer a call gets. Serving is flat in the number of positional entries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lionagi._errors import ConfigurationError, ScriptExhaustedError, short_repr
from lionagi.ln.yamls import dump_yaml, load_yaml

from ._explain import ScriptExplanation, explain, problems_of
from ._matching import Conditions
from ._types import ResponseEntry, ScriptRecording, TextResponse, last_user_text

__all__ = ("KNOWN_VERSIONS", "ScriptModel")

KNOWN_VERSIONS = (1, 2)
"""1: entries and conditions. 2: the same with recording blocks."""

_TYPES = ("error", "stream", "structured", "text", "tool_call")


class _State:
    """Where a script stands; built at the first call, because most scripts are copied before they serve."""

    __slots__ = ("conditions", "plain", "position", "size", "source")

    def __init__(self, responses: list[ResponseEntry]) -> None:
        self.source = responses
        self.size = len(responses)
        self.position = 0
        self.plain: list[int] = []
        self.conditions: Conditions | None = None
        for index, entry in enumerate(responses):
            if entry.when is None or entry.when.is_empty():
                self.plain.append(index)
            else:
                self.conditions = self.conditions or Conditions()
                self.conditions.add(index, entry.when)

    @property
    def conditional(self) -> int:
        """How many conditional entries are unserved."""
        return 0 if self.conditions is None else len(self.conditions)

    @property
    def served(self) -> set[int]:
        """Indexes of the entries that were served."""
        by_condition = set[int]() if self.conditions is None else self.conditions.served
        return {*self.plain[: self.position], *by_condition}

    def follow(self, other: _State) -> None:
        """Count what ``other`` served as served here."""
        last = other.plain[other.position - 1] if other.position else -1
        self.position = sum(1 for index in self.plain if index <= last)
        if self.conditions is not None and other.conditions is not None:
            self.conditions.drop(other.conditions.served)


class ScriptModel(BaseModel):
    """A list of answers and the rule by which a call gets one of them.

    In mode "auto" the first unserved entry whose condition holds is served, else the next entry without a condition;
    "positional" never looks at conditions and never serves a conditional entry; "when_only" never falls back to
    position. Each entry is served at most once. A file of version 2 is a recording (see ``lionagi.testing.record``).
    Entries that are added to ``responses`` after the first call are seen; ``reset()`` reads the list afresh.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    version: int = 1
    mode: str = Field(default="auto", pattern="^(auto|positional|when_only)$")
    responses: list[Annotated[ResponseEntry, Field(discriminator="type")]] = Field(default_factory=list[ResponseEntry])
    recording: ScriptRecording | None = None

    if TYPE_CHECKING:
        _state: _State | None = None

    def model_post_init(self, _context: Any) -> None:
        # as the entries do, see there
        object.__setattr__(self, "__pydantic_fields_set__", _NAMES)

    @field_validator("version")
    @classmethod
    def _known_version(cls, value: int) -> int:
        if value not in KNOWN_VERSIONS:
            known = " and ".join(map(str, KNOWN_VERSIONS))
            raise ValueError(f"unknown script version {value}; known versions are {known}")
        return value

    @field_validator("responses", mode="before")
    @classmethod
    def _known_types(cls, value: object) -> object:
        for entry in cast("list[object]", value) if isinstance(value, list) else ():
            _check_entry(entry)
        return cast("object", value)

    @classmethod
    def coerce(cls, source: Any) -> Self:
        """Return a script of ``source``: a script (deep copy), a YAML/JSON path, a list of entries, or a mapping.

        Raises:
            TypeError: ``source`` is none of these.
            ValueError: It does not describe a script.
        """
        if isinstance(source, cls):
            return deepcopy(source)
        if isinstance(source, str | Path):
            suffix = Path(source).suffix.lower()
            return cls.from_yaml(source) if suffix in (".yaml", ".yml") else cls.from_json(source)
        if isinstance(source, list):
            return cls.from_responses(cast("list[Any]", source))
        if isinstance(source, Mapping):
            return cls.model_validate(dict(cast("Mapping[str, Any]", source)))
        raise TypeError(
            f"cannot coerce {short_repr(source)} to a script; "
            "give a ScriptModel, a path, a list of entries or a mapping"
        )

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Return the script of a YAML file (an empty file is an empty script); aliases and repeated keys are legal."""
        data = load_yaml(Path(path).read_text(encoding="utf-8"), allow_aliases=True, strict=False)
        return cls._of_file(path, data)

    @classmethod
    def from_json(cls, path: str | Path) -> Self:
        """Return the script of a JSON file (``null`` is an empty script)."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"the script file {str(path)!r} is not JSON: {error}", cause=error) from error
        return cls._of_file(path, data)

    @classmethod
    def _of_file(cls, path: str | Path, data: Any) -> Self:
        if data is None:
            data = {}
        if isinstance(data, list):
            return cls.from_responses(cast("list[Any]", data))
        if not isinstance(data, Mapping):
            raise ConfigurationError(
                f"the script file {str(path)!r} holds {short_repr(data)}; "
                "it must hold a mapping with responses, or a list"
            )
        return cls.model_validate(data)

    @classmethod
    def from_responses(cls, responses: Sequence[dict[str, Any] | ResponseEntry], **kwargs: Any) -> Self:
        """Return a script of entries, given as mappings or objects; ``kwargs`` are further fields such as ``mode``."""
        return cls.model_validate({"responses": list(responses), **kwargs})

    def next(self, payload: dict[str, Any], call_index: int) -> tuple[ResponseEntry, str]:
        """Serve the answer to one call.

        Args:
            payload: What is sent; its last user message and its tools are matched.
            call_index: The call's number, from 0.

        Returns:
            The entry, and how it was chosen: "positional", "when:prompt_contains:'x'", "when:call_index:2" …

        Raises:
            ScriptExhaustedError: No entry is left for this call.
        """
        entry, matched_by, _ = self.serve(payload, call_index)
        return entry, matched_by

    def serve(self, payload: dict[str, Any], call_index: int) -> tuple[ResponseEntry, str, int]:
        """Do what ``next`` does and return the entry's index in ``responses`` too."""
        state = self._held()
        if state is None or state.source is not self.responses or state.size != len(state.source):
            state = self._read()
        if state.conditions is not None and self.mode != "positional":
            found = state.conditions.take(payload, call_index)
            if found is not None:
                return state.source[found.index], found.label, found.index
        if self.mode == "when_only":
            raise self._unanswered(_no_match(payload, call_index, state), payload, call_index)
        if state.position == len(state.plain):
            raise self._unanswered(_exhausted(payload, call_index, state), payload, call_index)
        index = state.plain[state.position]
        state.position += 1
        return state.source[index], "positional", index

    def _unanswered(self, message: str, payload: Mapping[str, Any], call_index: int) -> ScriptExhaustedError:
        closest = self.explain(payload, call_index).closest
        if closest is None:
            return ScriptExhaustedError(f"{message}; the script is empty, add an entry")
        message = f"{message}; closest is entry {closest.index} ({closest.entry.type}): {closest.reason}"
        return ScriptExhaustedError(
            f"{message}; add an entry for this call", closest=closest.index, reason=closest.reason
        )

    def explain(self, payload: Mapping[str, Any], call_index: int = 0) -> ScriptExplanation:
        """Return, entry by entry, why it would or would not be served now; nothing is served.

        Args:
            payload: What would be sent: ``messages`` and, where tools are offered, ``tools``.
            call_index: The call's number, from 0.

        Returns:
            ``entries`` holds one verdict per entry (``index``, ``entry``, ``serves``, ``reason``), ``served`` the one
            that answers, ``closest`` that one or else the nearest. Printed, it is a line per entry.
        """
        return explain(self.responses, self.mode, self._read().served, payload, call_index)

    def unused_entries(self) -> list[tuple[int, ResponseEntry]]:
        """Return index and entry of whatever was not served yet, entries that this mode never serves included."""
        served = self._read().served
        return [(index, entry) for index, entry in enumerate(self.responses) if index not in served]

    def problems(self) -> list[str]:
        """Return a sentence for each entry or condition that can never count; an empty list is a sound script."""
        return problems_of(self.responses, self.mode)

    def to_mapping(self) -> dict[str, Any]:
        """Return the script as its files are written: version, types, and whatever differs from the defaults."""
        responses = [
            {"type": entry.type, **entry.model_dump(mode="json", exclude_defaults=True, fallback=str)}
            for entry in self.responses
        ]
        written: dict[str, Any] = {"version": self.version}
        if self.mode != "auto":
            written["mode"] = self.mode
        if (block := self.recording) is not None:
            written["recording"] = block.model_dump(mode="json", exclude=None if block.others else {"others"})
        return {**written, "responses": responses}

    def to_yaml(self) -> str:
        """Return the script as YAML text, which ``from_yaml`` reads back."""
        return dump_yaml(self.to_mapping())

    def reset(self) -> None:
        """Start again: no entry counts as served."""
        self._state = None

    @property
    def cursor(self) -> int:
        """Index in ``responses`` from which positional serving goes on."""
        state = self._held()
        return state.plain[state.position - 1] + 1 if state is not None and state.position else 0

    @property
    def exhausted(self) -> bool:
        """True where no entry is left: by position, or in mode "when_only" by condition."""
        state = self._read()
        if self.mode == "when_only":
            return not state.conditional
        return state.position == len(state.plain)

    def _held(self) -> _State | None:
        # beside the fields: a private attribute would be a mapping more, and found by a slow __getattr__
        return self.__dict__.get("_state")

    def _read(self) -> _State:
        """Return the state for the present list; what was served stays served."""
        old, responses = self._held(), self.responses
        if old is not None and old.source is responses and old.size == len(responses):
            return old
        state = _State(responses)
        if old is not None:
            state.follow(old)
        self._state = state
        return state

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        copies = [entry.model_copy() if _is_flat(entry) else deepcopy(entry, memo) for entry in self.responses]
        twin = self.model_copy(update={"responses": copies, "recording": deepcopy(self.recording, memo)})
        state = self._held()
        twin._state = None
        if state is not None:
            twin._state = _State(copies)
            twin._state.follow(state)
        return twin


_NAMES = set(ScriptModel.model_fields)


def _is_flat(entry: ResponseEntry) -> bool:
    # ten thousand entries of text need no deep copy each: their fields are strings
    return type(entry) is TextResponse and entry.when is None and entry.recording is None


def _check_entry(entry: object) -> None:
    if isinstance(entry, ResponseEntry):
        return
    if not isinstance(entry, Mapping):
        raise TypeError(f"response entry must be dict or a response object, not {short_repr(entry)}")
    kind = cast("Mapping[str, Any]", entry).get("type")
    if kind not in _TYPES:
        raise ValueError(f"unknown response type {kind!r}; expected one of {list(_TYPES)}")


def _asked(payload: Mapping[str, Any]) -> str:
    text = last_user_text(payload)
    return f"payload last user message={short_repr(text)}"


def _no_match(payload: Mapping[str, Any], call_index: int, state: _State) -> str:
    left = state.conditional
    return (
        f"no when: matcher matched call_index={call_index}; {_asked(payload)}; {left} conditional entries are unserved"
    )


def _exhausted(payload: Mapping[str, Any], call_index: int, state: _State) -> str:
    conditional = f"; {state.conditional} conditional entries did not match" if state.conditional else ""
    return (
        f"script exhausted at call_index={call_index}; only {len(state.plain)} positional entries available; "
        f"{_asked(payload)}{conditional}"
    )
