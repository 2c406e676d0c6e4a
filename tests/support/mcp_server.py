"""A small real MCP server over standard input and output, made with the SDK's low-level parts of either release line.

Run as a program. ``broken`` as its argument makes it end at once, ``mute`` never answer, ``odd`` list tools with a
name that providers refuse and with schemas that cannot be used, ``endless`` list pages without end, and
``silent`` never list anything.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import mcp.types
from mcp.server import lowlevel
from mcp.server.stdio import stdio_server

STRING: dict[str, Any] = {"type": "string"}


def tool(name: str, description: str, output: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": sorted(properties), "additionalProperties": False}
    listed = {"name": name, "description": description, "inputSchema": schema}
    return listed if output is None else {**listed, "outputSchema": output}


SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
COLOUR = {"type": "string", "enum": ["red", "green"]}
TOOLS = [
    tool("add", "Add two numbers.", SUM, a={"type": "number"}, b={"type": "integer", "minimum": 0}),
    tool("echo", "Say it again.", words=STRING),
    tool("paint", "Choose a colour.", colour=COLOUR),
    tool("several", "Say several things."),
    tool("nothing", "Say nothing."),
    tool("picture", "Show a picture."),
    tool("none", "Say None in a structure.", {"type": "object"}),
    tool("count", "Count the calls of this process."),
    tool("pid", "Tell the process's id."),
    tool("environment", "Tell the environment."),
    tool("fail", "Fail, and say so in the result."),
    tool("refuse", "Answer with a protocol error."),
    tool("hang", "Never answer."),
    tool("die", "End the process."),
]
ODD = [
    {"name": "files/read.all", "inputSchema": {"type": "object"}},
    {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "no such type"}}}},
    {"name": "far", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "http://example.invalid/schema"}}}},
]
ANSWERS: dict[str, Any] = {
    "several": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
    "nothing": [],
    "picture": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
}
SILENT: list[dict[str, Any]] = []
calls = 0


def said(text: Any, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(text)}], **more}


async def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    global calls
    calls += 1
    if name in ANSWERS:
        return {"content": ANSWERS[name]}
    if name == "add":
        total = arguments["a"] + arguments["b"]
        return said(total, structuredContent={"sum": total})
    if name == "none":
        return {"content": [], "structuredContent": {"value": None}}
    if name == "fail":
        return said("the cupboard is bare", isError=True)
    if name == "refuse":
        raise LookupError("no such drawer")
    if name == "hang":
        await asyncio.Event().wait()
    if name == "die":
        print("the roof fell in", file=sys.stderr, flush=True)
        os._exit(3)
    texts = {"count": calls, "pid": os.getpid(), "environment": json.dumps(dict(os.environ))}
    return said(texts[name] if name in texts else next(iter(arguments.values())))


def page(listed: list[dict[str, Any]], cursor: str | None) -> dict[str, Any]:
    """One half of the tools at a time; for an empty listing, one empty page after the other."""
    if not listed:
        return {"tools": [], "nextCursor": "more"}
    half = len(listed) // 2
    return {"tools": listed[half:]} if cursor else {"tools": listed[:half], "nextCursor": "more"}


def make(listed: list[dict[str, Any]]) -> Any:
    """Return a server of the SDK, whose low-level handlers are registered differently in its two release lines."""
    types: Any = mcp.types

    async def on_list(context: Any, params: Any) -> Any:
        if listed is SILENT:
            await asyncio.Event().wait()
        return types.ListToolsResult.model_validate(page(listed, params.cursor if params else None))

    async def on_call(context: Any, params: Any) -> Any:
        return types.CallToolResult.model_validate(await answer(params.name, params.arguments or {}))

    if not hasattr(mcp, "McpError"):
        return lowlevel.Server("test", on_list_tools=on_list, on_call_tool=on_call)
    server: Any = lowlevel.Server("test")

    async def list_v1(request: Any) -> Any:
        return types.ServerResult(await on_list(None, request.params))

    async def call_v1(request: Any) -> Any:
        return types.ServerResult(await on_call(None, request.params))

    server.request_handlers[types.ListToolsRequest] = list_v1
    server.request_handlers[types.CallToolRequest] = call_v1
    return server


async def serve(listed: list[dict[str, Any]]) -> None:
    server = make(listed)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main(mode: str) -> None:
    if mode == "broken":
        sys.exit("no configuration found")
    if mode == "mute":
        sys.stdin.read()
    else:
        asyncio.run(serve({"odd": ODD, "endless": [], "silent": SILENT}.get(mode, TOOLS)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
