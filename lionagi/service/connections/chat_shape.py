"""The shape of an OpenAI-compatible chat answer: how to read one, and what is wrong with one that cannot be read."""

from __future__ import annotations

from typing import Any, cast

from lionagi._errors import ParseError, ProviderResponseError, short_repr
from lionagi.ln.jsons import clean_surrogates, loads_json
from lionagi.service.types import Answer, ToolCall

__all__ = ("answer_of",)


def answer_of(response: Any, provider: str) -> Answer:
    """Read a chat completion.

    An answer with neither text nor tool calls nor a refusal, or with parts of a wrong type, is a
    ProviderResponseError: it is never taken for an empty text.
    """
    choice = _first_choice(response, provider)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise _bad(provider, "its first choice has no message", choice)
    message = cast("dict[str, Any]", message)
    calls = _tool_calls(message.get("tool_calls"), provider)
    text = _text(message.get("content"), provider)
    finish = choice.get("finish_reason")
    refusal = message.get("refusal") or None
    if refusal is None and text is None and finish == "content_filter":
        refusal = "the provider's content filter withheld the answer"
    if text is None and not calls and refusal is None:
        hint = ": the token limit left no room for an answer, raise max_tokens" if finish == "length" else ""
        raise _bad(provider, f"its message has no content (finish reason {finish!r}){hint}", message)
    usage = response.get("usage")
    return Answer(
        text=text or "",
        tool_calls=calls,
        usage=cast("dict[str, Any]", usage) if isinstance(usage, dict) else None,
        finish_reason=finish if isinstance(finish, str) else None,
        refusal=clean_surrogates(str(refusal)) if refusal is not None else None,
        raw=response,
    )


def _first_choice(response: Any, provider: str) -> dict[str, Any]:
    if not isinstance(response, dict):
        raise _bad(provider, f"a JSON object was expected, not {type(response).__name__}", response)
    choices = cast("dict[str, Any]", response).get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _bad(provider, "it holds no choices", response)
    return cast("dict[str, Any]", choices[0])


def _text(content: Any, provider: str) -> str | None:
    if content is None:
        return None
    if isinstance(content, str):
        return content if content.isascii() else clean_surrogates(content)
    if isinstance(content, list):
        parts = [
            cast("dict[str, Any]", part).get("text") for part in cast("list[Any]", content) if isinstance(part, dict)
        ]
        return clean_surrogates("".join(part for part in parts if isinstance(part, str))) if parts else None
    raise _bad(provider, f"the content of its message is {type(content).__name__}", content)


def _tool_calls(calls: Any, provider: str) -> tuple[ToolCall, ...]:
    if calls is None:
        return ()
    if not isinstance(calls, list):
        raise _bad(provider, "its tool calls are no list", calls)
    return tuple(_tool_call(each, provider) for each in cast("list[Any]", calls))


def _tool_call(call: Any, provider: str) -> ToolCall:
    function = cast("dict[str, Any]", call).get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):  # pyright: ignore[reportUnknownMemberType]
        raise _bad(provider, "a tool call names no function", call)
    function = cast("dict[str, Any]", function)
    identity = cast("dict[str, Any]", call).get("id")
    return ToolCall(
        function["name"], _arguments(function.get("arguments")), identity if isinstance(identity, str) else None
    )


def _arguments(given: Any) -> dict[str, Any] | str:
    if given is None or given == "":
        return {}
    if isinstance(given, dict):
        return cast("dict[str, Any]", given)
    if not isinstance(given, str):
        return short_repr(given)
    try:
        value = loads_json(given)
    except ParseError:
        return clean_surrogates(given)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else given


def _bad(provider: str, what: str, value: Any) -> ProviderResponseError:
    return ProviderResponseError(
        f"{provider or 'the provider'} sent an answer that cannot be read: {what}: {short_repr(value)}. "
        "Check base_url and that the server speaks the chat completions format",
        provider=provider,
        raw=value,
    )
