"""A trace as OpenTelemetry spans, by the semantic conventions for generative AI (as of their version 1.41).

Loaded by :meth:`Trace.to_otel`, never by an import of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from lionagi._errors import MissingExtraError
from lionagi.ln._json_write import json_dumps
from lionagi.version import __version__

if TYPE_CHECKING:
    from lionagi.ln.trace import Span, Trace

__all__ = ("export_trace",)

_NANOSECONDS = 1_000_000_000
# The providers whose names the conventions write differently; any other goes by its own.
_PROVIDERS = {"azure": "azure.ai.openai", "bedrock": "aws.bedrock", "gemini": "gcp.gemini", "mistral": "mistral_ai"}


def export_trace(trace: Trace, tracer_provider: Any = None, *, content: bool = False) -> None:
    """Export a trace; see :meth:`lionagi.ln.trace.Trace.to_otel`, which is the way to call it.

    What the conventions have no name for is an attribute of ours: ``lionagi.status``, ``lionagi.reason`` (why a stage
    ended early, in words; also the event "early return" where nothing failed), and the span's own attributes.
    """
    try:
        from opentelemetry import trace as otel
    except ImportError as error:
        raise MissingExtraError(
            "exporting a trace needs the packages of the extra 'otel': pip install opentelemetry-api opentelemetry-sdk"
        ) from error
    tracer = otel.get_tracer("lionagi", __version__, tracer_provider)
    waiting: list[tuple[Span, Any, str | None]] = [(each, None, None) for each in reversed(trace.spans)]
    while waiting:
        each, context, conversation = waiting.pop()
        conversation = str(each.attributes["branch"]) if "branch" in each.attributes else conversation
        name, facts = _described(each, content)
        exported = tracer.start_span(
            name,
            context,
            otel.SpanKind.CLIENT if facts.get("gen_ai.operation.name") == "chat" else otel.SpanKind.INTERNAL,
            {**({"gen_ai.conversation.id": conversation} if conversation else {}), **facts},
            start_time=_at(trace, each.start),
        )
        failure = facts.get("error.type")
        if failure is not None:
            exported.set_status(otel.Status(otel.StatusCode.ERROR, each.reason))
        elif each.reason is not None:
            exported.add_event("early return", {"lionagi.reason": each.reason}, _at(trace, each.start + each.duration))
        exported.end(_at(trace, each.start + each.duration))
        inner = otel.set_span_in_context(exported, context)
        waiting.extend((child, inner, conversation) for child in reversed(each.children))


def _at(trace: Trace, seconds: float) -> int:
    return int((trace.started_at + seconds) * _NANOSECONDS)


def _described(each: Span, content: bool) -> tuple[str, dict[str, Any]]:
    """Return the span's name and attributes."""
    attributes = dict(each.attributes)
    facts: dict[str, Any] = {}
    if each.status == "error":
        facts["error.type"] = attributes.get("error", "_OTHER")
    name = each.name
    if (describe := _KINDS.get(each.name)) is not None:
        name = describe(attributes, facts)
        if content:
            facts |= _said(each)
    facts["lionagi.status"] = each.status
    if each.reason is not None:
        facts["lionagi.reason"] = each.reason
    facts |= {f"lionagi.{key}": _plain(value) for key, value in attributes.items() if value is not None}
    return name, facts


def _model_call(attributes: dict[str, Any], facts: dict[str, Any]) -> str:
    provider, model = attributes.pop("provider", None), attributes.pop("model", None)
    usage, finish = attributes.pop("usage", None), attributes.pop("finish_reason", None)
    facts["gen_ai.operation.name"] = "chat"
    if provider:
        facts["gen_ai.provider.name"] = _PROVIDERS.get(provider, provider)
    if model:
        facts["gen_ai.request.model"] = model
    if isinstance(usage, dict):
        counts = cast("dict[str, Any]", usage)
        for ours, names in _COUNTS.items():
            found = next((counts[key] for key in names if isinstance(counts.get(key), int)), None)
            if found is not None:
                facts[f"gen_ai.usage.{ours}"] = found
    if finish:
        facts["gen_ai.response.finish_reasons"] = [finish]
    return f"chat {model}" if model else "chat"


_COUNTS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
}


def _tool(attributes: dict[str, Any], facts: dict[str, Any]) -> str:
    name, outcome = str(attributes.pop("function", None) or ""), attributes.get("status", "ok")
    facts |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "function"}
    if (call := attributes.pop("call_id", None)) is not None:
        facts["gen_ai.tool.call.id"] = call
    if outcome != "ok":
        facts["error.type"] = attributes.pop("error", outcome)
    attributes["outcome"] = attributes.pop("status", None)
    return f"execute_tool {name}".rstrip()


def _agent(attributes: dict[str, Any], facts: dict[str, Any]) -> str:
    name = attributes.pop("branch_name", None)
    facts |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": str(attributes.pop("branch", ""))}
    if name:
        facts["gen_ai.agent.name"] = name
    return f"invoke_agent {name}" if name else "invoke_agent"


_KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any]], str]] = {
    "model call": _model_call,
    "operate": _agent,
    "tool": _tool,
}


def _said(each: Span) -> dict[str, Any]:
    said = each.content or {}
    found: dict[str, Any] = {}
    if "messages" in said:
        found["gen_ai.input.messages"] = json_dumps([_message(each) for each in said["messages"]])
    if "answer" in said:
        finish = each.attributes.get("finish_reason") or ""
        answer = {**_message({"role": "assistant", "content": said["answer"]}), "finish_reason": finish}
        found["gen_ai.output.messages"] = json_dumps([answer])
    if "arguments" in said:
        found["gen_ai.tool.call.arguments"] = json_dumps(said["arguments"], default=repr)
    if "output" in said:
        found["gen_ai.tool.call.result"] = json_dumps(said["output"], default=repr)
    return found


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content: Any = message.get("content")
    parts = cast("list[Any]", content) if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    return {"role": message.get("role"), "parts": [_part(part) for part in parts]}


def _part(part: dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "content": part["text"]} if part.get("type") == "text" else part


def _plain(value: Any) -> Any:
    """Return what OpenTelemetry takes as an attribute: a plain value, a list of texts, else the text."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [str(item) for item in cast("Sequence[Any]", value)]
    return str(value)
