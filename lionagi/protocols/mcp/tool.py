"""McpTool: a tool of an MCP server, in the form in which all tools are called."""

from typing import Any, Self, cast

from pydantic import PrivateAttr

from lionagi._errors import ExecutionError, ValidationError, short_repr
from lionagi.protocols.action.tool import Tool
from lionagi.protocols.mcp.server import McpServer

__all__ = ("McpTool",)

_SHOWN_PROBLEMS = 5
_NAME_LIMIT = 64


class McpTool(Tool):
    """A tool that an MCP server runs. Its arguments are checked against the server's own JSON schema beforehand.

    What a call returns is the server's structured content as it is; without that, the one content block, or the list
    of several: text as ``str``, other blocks as mappings. None where there is no content.
    """

    _server: McpServer = PrivateAttr()
    _remote_name: str = PrivateAttr()
    _validator: Any = PrivateAttr()

    @classmethod
    def of(
        cls, server: McpServer, listed: dict[str, Any], *, prefix: bool = False, timeout: float | None = None
    ) -> Self:
        """Return the tool that a server's listing describes.

        Args:
            server: Runs it.
            listed: ``name``, ``description`` and ``inputSchema`` as the server gave them.
            prefix: Put the server's name before the tool's.
            timeout: Seconds that one call may take.

        Raises:
            ValidationError: ``inputSchema`` is no JSON schema.
        """
        remote, parameters = str(listed["name"]), dict(listed.get("inputSchema") or {})
        function: dict[str, Any] = {
            "name": _exposed(f"{server.name}_{remote}" if prefix else remote),
            "description": listed.get("description") or listed.get("title"),
            "parameters": {"type": "object", "properties": {}, **parameters},
            "strict": None,
        }
        tool = cls(
            mcp_config={server.name: server.shown_config},
            tool_schema={"type": "function", "function": function},
            timeout=timeout,
        )
        tool._server, tool._remote_name = server, remote
        tool._validator = _validator_of(remote, server.name, parameters)
        return tool

    @property
    def server(self) -> McpServer:
        """Where it runs."""
        return self._server

    def validate_arguments(self, arguments: Any) -> dict[str, Any]:
        """Return the arguments as they are sent.

        Raises:
            ValidationError: They do not fit the server's schema; the message names each argument that does not.
        """
        from referencing.exceptions import Unresolvable

        checked = super().validate_arguments(arguments)
        try:
            problems = [_problem(error) for error in self._validator.iter_errors(checked)]
        except Unresolvable as error:
            problems = [f"the schema refers to what it does not hold: {error}"]
        if problems:
            shown = "; ".join(problems[:_SHOWN_PROBLEMS])
            raise ValidationError(f"The arguments must match the function schema of {self.function!r}: {shown}")
        return checked

    async def _run(self, arguments: dict[str, Any], on_late: Any) -> Any:
        result = await self._server.call_tool(self._remote_name, arguments)
        content = [_plain(block) for block in result.get("content") or ()]
        if result.get("isError"):
            said = "\n".join(str(block) for block in content) or "no reason given"
            raise ExecutionError(f"tool {self.function!r} failed: {said}")
        if result.get("structuredContent") is not None:
            return result["structuredContent"]
        return content[0] if len(content) == 1 else content or None


def _exposed(name: str) -> str:
    """Return the name by which models call the tool: what providers do not allow in names becomes "_"."""
    fit = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in name)
    return fit[:_NAME_LIMIT]


def _validator_of(tool: str, server: str, schema: dict[str, Any]) -> Any:
    from jsonschema import exceptions, validators
    from referencing import Registry

    made_by = cast("Any", validators.validator_for(schema, default=validators.Draft202012Validator))
    try:
        made_by.check_schema(schema)
    except exceptions.SchemaError as error:
        raise ValidationError(
            f"tool {tool!r} of MCP server {server!r} has no valid JSON schema: {short_repr(error.message)}; "
            "leave it out by naming the others in tools=",
            cause=error,
        ) from error
    # Without a registry of its own, jsonschema would fetch what a "$ref" points to from the network.
    return made_by(schema, registry=cast("Any", Registry)())


def _problem(error: Any) -> str:
    path = ".".join(str(part) for part in error.absolute_path)
    text = str(error.message)
    text = text if len(text) <= 200 else f"{text[:199]}…"
    return f"{path!r}: {text}" if path else text


def _plain(block: dict[str, Any]) -> Any:
    if block.get("type") == "text":
        return block.get("text", "")
    return {key: value for key, value in block.items() if value is not None}
