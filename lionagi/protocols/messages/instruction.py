"""Instruction: what the user side asks, with its context, tools, format and images."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, cast
from weakref import WeakKeyDictionary

from pydantic import BaseModel
from pydantic_core import from_json, to_json

from lionagi import ln
from lionagi._errors import ValidationError, short_repr
from lionagi.ln.patterns import late_pattern
from lionagi.protocols.messages.formats import format_demand, json_shape, request_json_schema, schema_shape
from lionagi.protocols.messages.images import image_part
from lionagi.protocols.messages.message import Message, MessageContent
from lionagi.protocols.messages.text import clean_text, json_bytes, plain_data
from lionagi.protocols.messages.types import MessageRole

__all__ = ("Instruction", "InstructionContent")

_SECTIONS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


@dataclass(slots=True, init=False, repr=False, eq=False)
class InstructionContent(MessageContent):
    """What is asked.

    Attributes:
        instruction: The task: text, or JSON-like data.
        guidance: How to go about it.
        prompt_context: Facts, as a list. The constructor also takes ``context`` (one value or a list), and
            ``handle_context`` "extend" (the default: added to what is there) or "replace".
        plain_content: Text that is sent exactly as it is, in place of everything else (images aside).
        tool_schemas: Schemas of the tools on offer; also taken as one schema or as ``{"tools": ...}``.
        response_format: A model class, a model instance or a mapping that the answer shall fit. Anything else is
            ignored.
        structure: An object with ``render()`` and ``request_schema()``, in place of the default rendering.
        images: http(s) addresses, data URIs or base64 texts; checked when rendered.
        image_detail: "low", "high" or "auto".
    """

    instruction: Any = None
    guidance: Any = None
    prompt_context: list[Any] = field(default_factory=list[Any])
    plain_content: str | None = None
    tool_schemas: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    response_format: Any = None
    structure: Any = None
    images: list[str] = field(default_factory=list[str])
    image_detail: str | None = None
    # False where schema or tools go to the model natively, beside the prompt
    _render_schema: bool = True
    _render_tools: bool = True

    @classmethod
    def normalized(cls, fields: dict[str, Any], base: Any = None) -> dict[str, Any]:
        """Read ``context``, ``handle_context``, wrapped tool schemas and scalar images."""
        given = dict(fields)
        handle = given.pop("handle_context", "extend")
        if handle not in ("extend", "replace"):
            raise ValidationError(f"handle_context {short_repr(handle)} is not known; use 'extend' or 'replace'")
        if "context" in given:
            added = _as_list(given.pop("context"))
            held = given.get("prompt_context", base.prompt_context if base is not None else [])
            given["prompt_context"] = [*_as_list(held), *added] if handle == "extend" else added
        elif "prompt_context" in given:
            given["prompt_context"] = _as_list(given["prompt_context"])
        if "tool_schemas" in given:
            given["tool_schemas"] = _flat_tools(given["tool_schemas"])
        if "images" in given:
            given["images"] = _as_list(given["images"])
        if given.get("response_format") is not None and not _is_format(given["response_format"]):
            given["response_format"] = None
        if given.get("images") and not (given.get("image_detail") or (base is not None and base.image_detail)):
            given["image_detail"] = "auto"
        return given

    def to_dict(self, exclude: Any = None) -> dict[str, Any]:
        """Return the fields that are not empty; the format only where it is a mapping, the structure never."""
        skip = {"structure", *(exclude or ())}
        if not isinstance(self.response_format, dict):
            skip.add("response_format")
        return super(InstructionContent, self).to_dict(exclude=skip)

    def _render(self) -> Any:
        text = clean_text(self.plain_content) if self.plain_content else self._render_text()
        if not self.images:
            return text
        return [{"type": "text", "text": text}, *(image_part(one, self.image_detail) for one in self.images)]

    def _render_text(self) -> str:
        parts = [
            _section("Guidance", self.guidance),
            _section("Instruction", self.instruction),
            _section("Context", self.prompt_context),
        ]
        if self._render_tools and self.tool_schemas:
            try:
                key = to_json(self.tool_schemas)
            except ValueError:  # a lone surrogate or an object that JSON does not know
                key = json_bytes(self.tool_schemas)
            parts.append(_tools_section(key))
        if self._render_schema:
            parts.append(_format_sections(self.structure, self.response_format))
        return _joined(*parts) if sum(map(len, parts)) <= _KEPT_LENGTH else "".join(parts).strip()


# Branches that ask the same, which is common in batches and samplings, share the text of the prompt.
_KEPT_LENGTH = 16 * 1024


@lru_cache(maxsize=64)
def _joined(*parts: str) -> str:
    return "".join(parts).strip()


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else [value]


def _flat_tools(value: Any) -> list[Any]:
    """Return tool schemas as a flat list, out of any nesting of lists and ``{"tools": ...}``."""
    flat: list[Any] = []
    for item in _as_list(value):
        if isinstance(item, (list, tuple)):
            flat.extend(_flat_tools(item))
        elif isinstance(item, dict) and "tools" in item:
            flat.extend(_flat_tools(item["tools"]))
        else:
            flat.append(item)
    return flat


def _is_format(value: Any) -> bool:
    return isinstance(value, (dict, BaseModel)) or (isinstance(value, type) and issubclass(value, BaseModel))


# Texts that YAML writes without quotes, and those that it writes as a literal block. Both are a part of what YAML
# allows, and the part that nearly all instructions are; writing them takes a thousandth of the library's time.
_PLAIN = late_pattern(r"[A-Za-z][ -~]*[!-~]")
_NOT_PLAIN = late_pattern(r":(?: |$)| #")
_LITERAL = late_pattern(r"[!-~](?:[ -~]*[!-~])?(?:\n(?:[ -~]*[!-~])?)*\n[ -~]*[!-~]")
_WORDS = frozenset(["yes", "no", "true", "false", "on", "off", "null"])


def _section(key: str, value: Any) -> str:
    """Return ``key: value`` as YAML in block style, "" for an empty value."""
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and not _NOT_PLAIN.search(value) and value.lower() not in _WORDS:
            return f"{key}: {value}\n"
        if _LITERAL.fullmatch(value):
            lines = "\n".join(f"  {line}" if line else "" for line in value.split("\n"))
            return f"{key}: |-\n{lines}\n"
    return ln.dump_yaml({key: plain_data(value)})


@lru_cache(maxsize=32)
def _tools_section(schemas: bytes) -> str:
    """Return the Tools section of schemas as JSON: calls of one branch mostly offer the same tools."""
    return ln.dump_yaml({"Tools": from_json(schemas)})


def _format_sections(structure: Any, response_format: Any) -> str:
    """Return the ResponseSchema and ResponseFormat sections; kept for each class or structure as long as it lives."""
    source = structure if structure is not None else response_format
    if source is None or source == {}:
        return ""
    if isinstance(source, dict):
        return _section("ResponseFormat", format_demand(json_shape(source)))
    if structure is None and not isinstance(source, type):
        source = cast("type[BaseModel]", type(source))
    try:
        held = _SECTIONS.get(source)
        if held is None:
            held = _SECTIONS[source] = _build_sections(source, structure is not None)
    except TypeError:  # not hashable, or no weak references
        return _build_sections(source, structure is not None)
    return held


def _build_sections(source: Any, is_structure: bool) -> str:
    model: Any = source.request_schema() if is_structure else source
    schema = request_json_schema(cast("type[BaseModel]", model)) if isinstance(model, type) else {}
    demand = source.render() if is_structure else format_demand(schema_shape(schema))
    return _section("ResponseSchema", schema) + _section("ResponseFormat", demand)


class Instruction(Message):
    """A message that asks for something."""

    _role: ClassVar[MessageRole] = MessageRole.USER
    _content_type: ClassVar[type[MessageContent]] = InstructionContent
