"""Branch: one conversation, its models and its tools, and the verbs on it. The facade holds no logic."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager
from operator import attrgetter
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from lionagi import operations, session
from lionagi.ln.trace import trace
from lionagi.operations.act._gate import Gate, authorize
from lionagi.operations.act.act import act, prepare_act_kw
from lionagi.operations.chat.chat import chat, prepare_chat_kw
from lionagi.operations.communicate.communicate import communicate, prepare_communicate_kw
from lionagi.operations.operate.operate import operate, prepare_operate_kw
from lionagi.operations.parse.parse import parse, prepare_parse_kws
from lionagi.operations.run._persist import recover_branch
from lionagi.operations.run.run import prepare_run_param, run
from lionagi.operations.types import HandleValidation
from lionagi.protocols.action.manager import ActionManager
from lionagi.protocols.control import ToolInvocation
from lionagi.protocols.generic.element import Element
from lionagi.protocols.generic.log import Log
from lionagi.protocols.generic.pile import Pile
from lionagi.protocols.generic.progression import Progression
from lionagi.protocols.messages.manager import MessageManager
from lionagi.protocols.messages.message import Message
from lionagi.protocols.messages.render import WireCache
from lionagi.protocols.messages.system import System
from lionagi.service.imodel import iModel
from lionagi.service.manager import iModelManager
from lionagi.session._copies import clone_branch, logs_of, model_of, operation_of, parts_of, restore_branch, snapshot_of

if TYPE_CHECKING:
    from lionagi.hooks.bus import HookBus
    from lionagi.ln.calls import AlcallParams
    from lionagi.ln.trace import Trace
    from lionagi.ln.types import Spec
    from lionagi.models.field_model import FieldModel
    from lionagi.operations.fields import ActionResponseModel
    from lionagi.operations.operate.operative import Operative
    from lionagi.operations.schema.structure import Structure
    from lionagi.operations.types import Middle, StructuredOutput
    from lionagi.session.context import ContextProviderRegistry, ProviderReport

__all__ = ("Branch",)

Data: TypeAlias = dict[str, Any]
DumpMode: TypeAlias = Literal["python", "json", "db"]


class Branch(Element):
    """One conversation with a model.

    Args:
        user: Who speaks to the model; the sender of instructions.
        name: A name for people.
        messages: A history to start from.
        system: The system message's text, or a System message.
        chat_model: An iModel, its name ("local", "openai/gpt-4.1-mini"), or its ``to_dict``. Without one, the
            environment decides at the first call; constructing needs neither key nor network.
        parse_model: The model that reformats answers; the chat model when omitted.
        tools: Functions or Tools to register.
        system_datetime: True for the present time in the system message, or a text.
    """

    user: Any = None
    name: str | None = None
    # Not pydantic's private attributes: those are found by a slow __getattr__, and each tool call asks for ten.
    if TYPE_CHECKING:
        _msgs: MessageManager
        _acts: ActionManager
        _mdls: iModelManager
        _logs: Pile[Log]
        _wire_cache: WireCache
        _gate: Gate | None
        _observer: Any
        _hooks: HookBus | None
        _operations: Mapping[str, Callable[..., Any]] | None
        _context_providers: ContextProviderRegistry | None

    # Every call looks here; a getter in C keeps that out of its walk.
    context_providers = property(attrgetter("_context_providers"), doc="``providers``, None before its first use.")

    def __init__(
        self,
        *,
        user: Any = None,
        name: str | None = None,
        messages: Any = None,
        system: System | str | None = None,
        system_sender: Any = None,
        chat_model: iModel | dict[str, Any] | str | None = None,
        parse_model: iModel | dict[str, Any] | str | None = None,
        tools: Any = None,
        system_datetime: bool | str | None = None,
        logs: Any = None,
        **fields: Any,
    ) -> None:
        own: dict[str, Any] = {"user": user, "name": name, **fields}
        super().__init__(**own)
        object.__setattr__(self, "__pydantic_fields_set__", self.all_names)
        self._gate = self._observer = self._hooks = self._operations = self._context_providers = None
        self._logs = Pile(item_type=Log)
        self._wire_cache = WireCache()
        self._msgs = MessageManager(messages=messages)
        self._acts = ActionManager()
        chat_with = model_of(chat_model) if chat_model is not None else iModel()
        parse_with = chat_with if parse_model is None else model_of(parse_model)
        self._mdls = iModelManager(chat=chat_with, parse=parse_with)
        if logs is not None:
            self._logs.include(logs)
        if system is not None or system_datetime:
            facts: dict[str, Any] = {"system": system, "system_datetime": system_datetime, "recipient": self.id}
            sender = system_sender or user or "system"
            self._msgs.set_system(MessageManager.create_system(sender=sender, **facts))
        if tools is not None:
            self.register_tools(tools)

    # -- parts

    @property
    def msgs(self) -> MessageManager:
        """The manager of the messages."""
        return self._msgs

    @property
    def acts(self) -> ActionManager:
        """The manager of the tools."""
        return self._acts

    @property
    def mdls(self) -> iModelManager:
        """The manager of the models."""
        return self._mdls

    @property
    def messages(self) -> Pile[Message]:
        """The history, the system message included."""
        return self._msgs.messages

    @property
    def progression(self) -> Progression:
        """The order of the history."""
        return self._msgs.progression

    @property
    def system(self) -> System | None:
        """The system message."""
        return self._msgs.system

    @property
    def logs(self) -> Pile[Log]:
        """What happened: model calls, tool calls and turns, each a mapping with a ``kind``."""
        return self._logs

    @property
    def tools(self) -> dict[str, Any]:
        """The registered tools by name."""
        return self._acts.registry

    @property
    def wire_cache(self) -> WireCache:
        """The wire form of the history, kept from call to call."""
        return self._wire_cache

    @property
    def chat_model(self) -> iModel:
        """The model that the verbs ask; settable."""
        return self._mdls.registry["chat"]

    @chat_model.setter
    def chat_model(self, model: iModel | dict[str, Any] | str) -> None:
        self._mdls.register_imodel("chat", model_of(model))

    @property
    def parse_model(self) -> iModel:
        """The model that reformats answers; settable."""
        return self._mdls.registry["parse"]

    @parse_model.setter
    def parse_model(self, model: iModel | dict[str, Any] | str) -> None:
        self._mdls.register_imodel("parse", model_of(model))

    @property
    def gate(self) -> Gate | None:
        """Decides whether a tool may run: called with a ToolInvocation, only ``True`` allows; settable."""
        return self._gate

    @gate.setter
    def gate(self, gate: Gate | None) -> None:
        self._gate = gate

    @property
    def hooks(self) -> HookBus | None:
        """The handlers of TOOL_PRE, TOOL_POST and TOOL_ERROR; settable, None for none."""
        return self._hooks

    @hooks.setter
    def hooks(self, hooks: HookBus | None) -> None:
        self._hooks = hooks

    @property
    def providers(self) -> ContextProviderRegistry:
        """What is asked for context before a call and hears of tool responses; see its ``register``."""
        if self._context_providers is None:
            self._context_providers = session.ContextProviderRegistry()
        return self._context_providers

    @property
    def last_context_report(self) -> ProviderReport | None:
        """What became of the context providers in the last call, None where there was none."""
        return None if self._context_providers is None else self._context_providers.last_report

    @property
    def is_gated(self) -> bool:
        """Whether anybody is asked before a tool runs."""
        return self._gate is not None or (self._observer is not None and bool(self._observer.gates))

    # -- tools, authorization, records

    def register_tools(self, tools: Any, update: bool = False) -> None:
        """Register one tool or a list: functions, async functions, methods, partials or Tools.

        Raises:
            ValueError: A tool of that name is registered already and ``update`` is false.
        """
        self._acts.register_tools(tools, update=update)

    def join(self, observer: Any, hooks: HookBus, named: Mapping[str, Callable[..., Any]] | None = None) -> None:
        """Take part in a session: its observer, gate and named operations, and its hooks unless it has its own."""
        self._observer = observer
        self._hooks = self._hooks or hooks
        self._operations = named

    def leave(self) -> None:
        """Stand alone again."""
        self._observer = self._hooks = self._operations = None

    async def authorize(self, action: ToolInvocation) -> bool:
        """Return whether a tool call may run; all gates have to say ``True``, and a gate that fails says no."""
        return not self.is_gated or await authorize(self._gate, self._observer, action)

    async def emit(self, event: Any) -> list[Any]:
        """Show an event to the observer and return what its handlers returned; empty where nobody observes."""
        return [] if self._observer is None else await self._observer.emit(event)

    async def emit_and_log(self, event: Log) -> None:
        """Keep a record, then show it to the observer."""
        self._logs.append(event)
        if self._observer is not None:
            await self._observer.emit(event)

    def trace(self) -> AbstractContextManager[Trace]:
        """Collect the stages of this branch's verbs within a block: ``with branch.trace() as seen: …``."""
        return trace(self.id)

    # -- verbs

    async def chat(
        self,
        instruction: Any = None,
        guidance: Any = None,
        context: Any = None,
        sender: Any = None,
        recipient: Any = None,
        request_fields: Any = None,
        response_format: Any = None,
        progression: Any = None,
        imodel: iModel | None = None,
        tool_schemas: list[dict[str, Any]] | None = None,
        images: list[Any] | None = None,
        image_detail: Literal["low", "high", "auto"] | None = None,
        plain_content: str | None = None,
        return_ins_res_message: bool = False,
        include_token_usage_to_model: bool = False,
        *,
        structured_output: StructuredOutput = "auto",
        **kwargs: Any,
    ) -> Any:
        """Ask once and return the text; the history stays as it is.

        Returns:
            The answer's text, or ``(Instruction, AssistantResponse)`` with ``return_ins_res_message``.

        Raises:
            ExecutionError: The call failed.
        """
        arguments = dict(locals())
        return await chat(arguments.pop("self"), **prepare_chat_kw(self, **arguments))

    async def parse(
        self,
        text: str,
        handle_validation: HandleValidation = "return_value",
        max_retries: int = 3,
        request_type: Any = None,
        operative: Operative | None = None,
        similarity_algo: str = "jaro_winkler",
        similarity_threshold: float = 0.85,
        fuzzy_match: bool = True,
        handle_unmatched: Literal["ignore", "raise", "remove", "fill", "force"] = "force",
        fill_value: Any = None,
        fill_mapping: dict[str, Any] | None = None,
        strict: bool = False,
        response_format: Any = None,
        *,
        structure: Structure | None = None,
        num_parse_retries: int | None = None,
        parse_model: iModel | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return ``text`` as a model or mapping: read locally, else reformatted by the parse model.

        Args:
            text: What to read.
            handle_validation: What to do where nothing worked: "raise", "return_value" (the text) or "return_none".
            max_retries: Reformatting calls, 0 for none; ``num_parse_retries`` is the same and wins.
            request_type: The format, as ``response_format``.
            operative: Gives its request type as the format.
            similarity_algo: How misspelt keys are matched.
            similarity_threshold: From 0 to 1; keys at least this similar match.
            fuzzy_match: Whether keys are matched at all beyond equality.
            handle_unmatched: What to do with keys that match nothing.
            fill_value: For missing keys.
            fill_mapping: For missing keys, by name.
            strict: Missing keys are a failure.
            response_format: Model class, model instance or dict.
            structure: A Structure of your own that reads the text.
            num_parse_retries: Reformatting calls.
            parse_model: The model that reformats.
            **kwargs: Further options for that model.
        """
        arguments = dict(locals())
        del arguments["self"], arguments["kwargs"]
        return await parse(self, **prepare_parse_kws(self, **arguments, **kwargs))

    async def communicate(self, instruction: Any = None, **kwargs: Any) -> Any:
        """Ask once, record the exchange, and return the answer in the asked-for form.

        Takes the keywords of :func:`~lionagi.operations.communicate.communicate.prepare_communicate_kw`:
        ``guidance``, ``context``, ``plain_content``, ``sender``, ``recipient``, ``progression``,
        ``response_format``, ``request_fields``, ``chat_model``, ``parse_model``, ``skip_validation``, ``images``,
        ``image_detail``, ``num_parse_retries``, ``clear_messages``, ``include_token_usage_to_model``, ``structure``,
        ``structured_output``; all others go to the model.

        Raises:
            ExecutionError: The call failed; the history is unchanged.
            ParseError: The answer could not be read.
        """
        return await communicate(self, **prepare_communicate_kw(self, instruction, **kwargs))

    async def act(
        self,
        action_request: Any,
        *,
        strategy: Literal["sequential", "concurrent"] = "concurrent",
        verbose_action: bool = False,
        suppress_errors: bool = True,
        call_params: AlcallParams | None = None,
        tool_timeout: float | None = None,
    ) -> list[ActionResponseModel]:
        """Run tool requests under authorization; one response each, in request order.

        Raises:
            ValueError: A request is neither a mapping nor a model; nothing ran.
            Exception: With ``suppress_errors=False``, the tool's own error.
        """
        arguments = dict(locals())
        return await act(arguments.pop("self"), **prepare_act_kw(self, **arguments))

    async def interpret(
        self, text: str, domain: str | None = None, style: str | None = None, interpret_model: Any = None, **kwargs: Any
    ) -> str:
        """Return what a person wrote as a clear prompt for a model; the history stays as it is.

        Args:
            text: What the person wrote.
            domain: The field it is about; "general" when omitted.
            style: How to write; "concise" when omitted.
            interpret_model: A model for this call; the branch's stays.
            **kwargs: ``sample_writing``, a text whose style is to be followed; all others are options for the model,
                of which ``temperature`` is 0.1 when omitted.

        Raises:
            ExecutionError: The call failed.
        """
        verb = operations.interpret.interpret
        prepared = verb.prepare_interpret_kw(self, text, domain, style, interpret_model, **kwargs)
        return await verb.interpret(self, **prepared)

    async def run(
        self,
        instruction: Any = "",
        *,
        chat_model: iModel | None = None,
        guidance: Any = None,
        context: Any = None,
        sender: Any = None,
        recipient: Any = None,
        images: list[Any] | None = None,
        image_detail: Literal["low", "high", "auto"] | None = "auto",
        stream_persist: bool = False,
        persist_dir: str | None = None,
        snapshot_dir: str | None = None,
        response_format: Any = None,
        structured_output: StructuredOutput = "auto",
        **kwargs: Any,
    ) -> AsyncGenerator[Message]:
        """Stream one exchange: yields the instruction, then each message as it is complete.

        Args:
            instruction: Text, mapping, list or Instruction.
            chat_model: A model for this call; the branch's stays.
            guidance: How to go about it.
            context: What to know.
            sender: Of the instruction.
            recipient: Of the instruction.
            images: URLs, data URIs or base64 texts.
            image_detail: How closely to look.
            stream_persist: Write a snapshot and a chunk buffer.
            persist_dir: Where the buffer goes.
            snapshot_dir: Where the snapshot goes; ``persist_dir`` when omitted.
            response_format: The format to ask for.
            structured_output: Where the format goes.
            **kwargs: Further options for the model; ``timeout`` is one deadline in seconds for the whole stream.
        """
        arguments = dict(locals())
        del arguments["self"], arguments["kwargs"], arguments["instruction"]
        param = prepare_run_param(self, **arguments, **kwargs)
        stream = run(self, instruction, param)
        try:
            async for message in stream:
                yield message
        finally:
            await stream.aclose()

    async def operate(
        self,
        *,
        instruct: Any = None,
        instruction: Any = None,
        guidance: Any = None,
        context: Any = None,
        sender: Any = None,
        recipient: Any = None,
        progression: Any = None,
        chat_model: iModel | None = None,
        invoke_actions: bool = True,
        tool_schemas: list[dict[str, Any]] | None = None,
        images: list[Any] | None = None,
        image_detail: Literal["low", "high", "auto"] | None = None,
        parse_model: iModel | None = None,
        skip_validation: bool = False,
        tools: Any = None,
        operative: Operative | None = None,
        response_format: Any = None,
        actions: bool = False,
        reason: bool = False,
        call_params: AlcallParams | None = None,
        action_strategy: Literal["sequential", "concurrent"] | None = "concurrent",
        verbose_action: bool = False,
        field_models: list[FieldModel | Spec] | None = None,
        exclude_fields: Any = None,
        handle_validation: HandleValidation = "return_value",
        include_token_usage_to_model: bool = False,
        clear_messages: bool = False,
        stream_persist: bool = False,
        persist_dir: str | None = None,
        snapshot_dir: str | None = None,
        middle: Middle | None = None,
        structure: Structure | None = None,
        structured_output: StructuredOutput = "auto",
        num_parse_retries: int | None = None,
        tool_timeout: float | None = None,
        max_tool_calls: int = 64,
        max_concurrent_tools: int = 16,
        **kwargs: Any,
    ) -> Any:
        """Ask once for typed fields, run the accepted tool requests, and return one enriched result.

        The value is checked before any tool runs: a mismatch never has a side effect.

        Args:
            instruct: An Instruct or a mapping of its fields; the loose instruction, guidance and context are then
                ignored, and it is never changed.
            instruction: Text, mapping, list or Instruction.
            guidance: How to go about it.
            context: What to know.
            sender: Of the instruction.
            recipient: Of the instruction.
            progression: Ids of the messages that the model sees, instead of the whole history.
            chat_model: A model for this call; the branch's stays.
            invoke_actions: False returns the validated value and runs no tool.
            tool_schemas: Tools to offer where no action is enabled; nothing of them runs.
            images: URLs, data URIs or base64 texts.
            image_detail: How closely to look.
            parse_model: The model that reformats; the chat model of this call when omitted.
            skip_validation: Return the raw answer at once; no actions.
            tools: Which registered tools may be asked for and run; None for all, [] for none.
            operative: No effect (deprecated).
            response_format: Model class, model instance or dict that the answer has to fit.
            actions: Let the model ask for tools.
            reason: Ask for its reasons.
            call_params: How concurrent requests run.
            action_strategy: "concurrent" or "sequential"; None lets the Instruct decide.
            verbose_action: Log a preview of the arguments.
            field_models: Further fields to ask for.
            exclude_fields: No effect (deprecated).
            handle_validation: On a mismatch "return_value", "return_none" or "raise".
            include_token_usage_to_model: Tell the model what it has used so far.
            clear_messages: Clear the history first; the system message stays.
            stream_persist: Write a snapshot and a chunk buffer.
            persist_dir: Where the buffer goes.
            snapshot_dir: Where the snapshot goes.
            middle: An exchange of your own instead of communicate or run.
            structure: A Structure of your own that renders and reads the format.
            structured_output: Where the format goes: "auto", "native", "prompt" or "both".
            num_parse_retries: Reformatting calls for an answer that cannot be read, 0 for none; 3 when omitted.
            tool_timeout: Seconds after which one tool call ends as "timeout".
            max_tool_calls: Accepted tool calls in this turn; later ones are recorded refusals.
            max_concurrent_tools: Tool calls in flight at a time.
            **kwargs: Further options for the model, such as ``temperature``.

        Returns:
            An instance of the caller's model (a subclass with the generated fields), a mapping, text, or None.

        Raises:
            ExecutionError: The model call failed.
            ValueError: A mismatch under "raise", an unknown policy, or an unknown tool selector.
            TypeError: A removed keyword, or a field model of another type.
        """
        arguments = dict(locals())
        del arguments["self"], arguments["kwargs"]
        if exclude_fields is None:
            del arguments["exclude_fields"]
        return await operate(self, **prepare_operate_kw(self, **arguments, **kwargs))

    # -- copies and records

    def clone(self, sender: Any = None) -> Branch:
        """Return a branch with copies of the messages, the same tools, and a new identity.

        Args:
            sender: Becomes the sender of the copied messages; this branch's id when omitted.

        Raises:
            ValueError: ``sender`` is no id.
        """
        return clone_branch(self, sender)

    def snapshot(self) -> dict[str, Any]:
        """Return ``to_dict("json")`` with the exchanges that are under way at its end.

        An answer that is still arriving is there with the text so far, its metadata ``partial``. The exchanges are
        named in ``metadata["under_way"]``, from the instruction's id to the ids of the messages it got so far.
        """
        return snapshot_of(self)

    @classmethod
    def from_snapshot(cls, path: str | PathLike[str], persist_dir: str | PathLike[str] | None = None) -> Self:
        """Return the branch that a turn with ``stream_persist`` left on disk, also where it was killed in mid-stream.

        The snapshot is read, and what the chunk buffer holds of the turns that were under way follows their
        instructions: all whole lines count, a torn one is skipped with a warning. An answer that had not ended has
        ``metadata["partial"]``. Nothing is written; the next turn with ``stream_persist`` removes the buffer.

        Args:
            path: The snapshot, ``<snapshot_dir or persist_dir>/<branch id>.json``.
            persist_dir: Where the buffer is; beside the snapshot when omitted.

        Raises:
            NotFoundError: There is no such file.
            ValidationError: The file does not hold a branch.
        """
        return recover_branch(cls, path, persist_dir)

    def to_dict(self, mode: DumpMode = "python", db_meta_key: str | None = None, *, include_logs: bool = False) -> Data:
        """Return the branch as data: identity, messages, system message and models; never keys, tools, gates or hooks.

        Args:
            mode: "python" keeps Python objects as field values; "json" and "db" hold JSON types only.
            db_meta_key: In mode "db" the key that metadata gets.
            include_logs: Add the records. Each model call's holds the messages it sent, so they grow with the square
                of a conversation's length.
        """
        data = super().to_dict(mode, db_meta_key)
        return {**data, **logs_of(self)} if include_logs else data

    def _dump(self, mode: Literal["python", "json"]) -> dict[str, Any]:
        return {**super()._dump(mode), **parts_of(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any], *, chat_model: Any = None, parse_model: Any = None) -> Self:
        """Restore a branch from ``to_dict`` of any mode; it stands alone and has no tools.

        Args:
            data: Not changed.
            chat_model: A model in place of the described one.
            parse_model: The same for reformatting; the chat model where neither is given nor described.
        """
        given = {"chat_model": chat_model, "parse_model": parse_model}
        return super().from_dict({**data, **{name: model for name, model in given.items() if model is not None}})

    @classmethod
    def _restore(cls, data: dict[str, Any]) -> Self:
        return restore_branch(cls, data)

    def get_operation(self, name: str) -> Callable[..., Any] | None:
        """Return the method of that name, else the session's operation of that name for this branch, else None."""
        return operation_of(self, name, self._operations)
