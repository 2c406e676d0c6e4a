"""One streamed exchange: messages as they arrive, recorded as one block when the stream has ended.

A stream that fails or is cancelled leaves the history as it was; the error carries the text that had arrived. A
consumer that stops early keeps what it has seen: that much is recorded.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from lionagi._errors import ExecutionError, TimeoutError
from lionagi.ln.trace import StreamSpan, span, stream_span
from lionagi.operations._answer import read_answer
from lionagi.operations._records import failed_call, log_model_call
from lionagi.operations._turn import Turn, turn_for, under_way
from lionagi.operations.chat._prepare import Prepared, add_context, prepare_request
from lionagi.operations.run._collect import Collector
from lionagi.operations.run._persist import Persistence
from lionagi.operations.types import ChatParam, ParseParam, RunParam, StructuredOutput
from lionagi.service import connections

if TYPE_CHECKING:
    from lionagi.protocols.messages.message import Message
    from lionagi.service.api_calling import APICalling
    from lionagi.service.imodel import iModel
    from lionagi.service.types import StreamChunk
    from lionagi.session.branch import Branch

__all__ = ("prepare_run_param", "run", "run_and_collect")


def prepare_run_param(
    branch: Branch,
    *,
    chat_model: iModel | None = None,
    guidance: Any = None,
    context: Any = None,
    sender: Any = None,
    recipient: Any = None,
    images: list[Any] | None = None,
    image_detail: Any = "auto",
    stream_persist: bool = False,
    persist_dir: str | None = None,
    snapshot_dir: str | None = None,
    response_format: Any = None,
    structured_output: StructuredOutput = "auto",
    **kwargs: Any,
) -> RunParam:
    """Return the parameters of :func:`run` for the public call; see ``Branch.run``."""
    values: dict[str, Any] = {} if persist_dir is None else {"persist_dir": persist_dir}
    return RunParam(
        guidance=guidance,
        context=context,
        sender=sender or branch.user or "user",
        recipient=recipient or branch.id,
        response_format=response_format,
        images=images,
        image_detail=image_detail,
        imodel=chat_model or branch.chat_model,
        imodel_kw=kwargs,
        structured_output=structured_output,
        stream_persist=stream_persist,
        snapshot_dir=snapshot_dir,
        **values,
    )


async def run(branch: Branch, instruction: Any, param: RunParam) -> AsyncGenerator[Message]:
    """Stream one exchange: the instruction first, then each message as it is complete.

    Works with every endpoint that streams. The per-call model never replaces the branch's.

    Args:
        branch: Where the exchange is recorded.
        instruction: Text, mapping, list or Instruction.
        param: The call's parameters. ``timeout`` in ``imodel_kw`` is one deadline in seconds for the whole stream.

    Raises:
        ExecutionError: The call failed; ``details["partial_text"]`` holds what had arrived.
        TimeoutError: The deadline passed.
    """
    with stream_span("run", branch=branch.id, branch_name=branch.name) as stage:
        with stage.inside():
            exchange = _Exchange(branch, instruction, param, turn_for(branch, "run"), stage)
            if branch.context_providers:
                await add_context(exchange.prepared, param)
        async with aclosing(exchange.messages()) as messages:
            async for message in messages:
                yield message


class _Exchange:
    """One streamed exchange, from the request to the recorded block."""

    def __init__(
        self, branch: Branch, instruction: Any, param: RunParam, turn: Turn, stage: StreamSpan | None = None
    ) -> None:
        timeout = None
        if param.imodel_kw and "timeout" in param.imodel_kw:
            keywords = dict(param.imodel_kw)
            timeout = keywords.pop("timeout")
            param = param.with_updates(imodel_kw=keywords)
        self.timeout: float | None = timeout if timeout and timeout > 0 else None
        self.stage = stage
        self.turn = turn
        self.branch = branch
        self.prepared: Prepared = prepare_request(branch, instruction, param, turn)
        asked = self.prepared.instruction
        self.collector = Collector(branch, asked, self.prepared.model.endpoint)
        self.persistence = Persistence(branch, param, asked, turn) if param.stream_persist else None

    def so_far(self) -> list[Message]:
        """Return the instruction and what the stream has brought, the answer that is still arriving included."""
        return [self.prepared.instruction, *self.collector.so_far()]

    async def messages(self) -> AsyncGenerator[Message]:
        """Yield the messages; record the block however the stream ends, unless it fails."""
        collector = self.collector
        failed = False
        under_way[self] = None
        try:
            if self.persistence is not None:
                self.persistence.begin()
            yield self.prepared.instruction
            async with aclosing(self._chunks()) as chunks:
                async for chunk in chunks:
                    for message in collector.feed(chunk):
                        yield message
            for message in collector.finish():
                yield message
        except GeneratorExit:
            collector.finish()
            raise
        except BaseException:
            failed = True
            raise
        finally:
            del under_way[self]
            try:
                if not failed and collector.messages:
                    await self.turn.record([self.prepared.instruction, *collector.messages])
            finally:
                if self.persistence is not None:
                    self.persistence.end()

    def _check_end(self) -> None:
        if self.collector.error is not None and not self.collector.ended:
            said = self.collector.error
            raise failed_call(connections.failures.classify_provider_error(said)(said), self.collector.text)

    def _said(self, call: APICalling) -> str:
        """Return the text that arrived: as deltas, else in the final response."""
        try:
            return self.collector.text or call.answer.text
        except ExecutionError:
            return ""

    async def _chunks(self) -> AsyncGenerator[StreamChunk]:
        """Yield the model's chunks; log the call however it ends; failures become the verbs' one error."""
        import asyncio

        model = self.prepared.model
        with stream_span("model call", self.stage) as step:
            if step.span.name:  # nothing is looked up where nobody traces
                step.span.set(provider=model.provider, model=model.model_name)
            call = model.create_api_calling(**self.prepared.request, stream=True)
            deadline = None if self.timeout is None else asyncio.get_running_loop().time() + self.timeout
            try:
                async with aclosing(model.stream(call)) as stream, aclosing(_until(deadline, stream)) as chunks:
                    async for chunk in chunks:
                        if self.persistence is not None:
                            self.persistence.chunk(chunk)
                        yield chunk
                        if self.collector.ended:
                            break
            except builtins.TimeoutError as error:
                if deadline is None or asyncio.get_running_loop().time() < deadline:
                    raise failed_call(error, self.collector.text) from error
                raise TimeoutError(
                    f"The stream passed its deadline of {self.timeout} s; {len(self.collector.text)} characters had "
                    "arrived. Give a longer timeout or a shorter task.",
                    details={"partial_text": self.collector.text},
                ) from error
            except Exception as error:
                failure = failed_call(error, self.collector.text)
                if failure is error:
                    raise
                raise failure from error
            finally:
                await log_model_call(self.prepared, call)
                if step.span.name:
                    step.span.set(usage=call.usage, finish_reason=call.finish_reason)
                    step.span.keep(messages=call.payload["messages"], answer=self._said(call))
            self._check_end()


def _until(deadline: float | None, stream: AsyncGenerator[StreamChunk]) -> AsyncGenerator[StreamChunk]:
    """Return the stream, ended by a TimeoutError at the deadline where there is one."""
    return stream if deadline is None else _timed(deadline, stream)


async def _timed(deadline: float, stream: AsyncGenerator[StreamChunk]) -> AsyncGenerator[StreamChunk]:
    import asyncio

    while True:
        async with asyncio.timeout_at(deadline):
            chunk = await anext(stream, None)
        if chunk is None:
            return
        yield chunk


async def run_and_collect(
    branch: Branch,
    instruction: Any,
    chat_param: ChatParam,
    parse_param: ParseParam | None = None,
    clear_messages: bool = False,
    skip_validation: bool = False,
) -> Any:
    """Stream one exchange to its end and return the answer in the asked-for form, None for an empty stream.

    Args:
        branch: Where the exchange is recorded.
        instruction: Text, mapping, list or Instruction.
        chat_param: The call's parameters; a plain ChatParam streams with the defaults of RunParam.
        parse_param: How the answer is read; None returns its text.
        clear_messages: Clear the history (the system message stays) before asking.
        skip_validation: Return the answer's text as it is.
    """
    turn = turn_for(branch, "run")
    if clear_messages:
        branch.msgs.clear_messages()
        turn.forget()
    param = chat_param if isinstance(chat_param, RunParam) else RunParam(**chat_param.to_dict())
    with span("run", branch=branch.id, branch_name=branch.name) as step:
        exchange = _Exchange(branch, instruction, param, turn)
        if branch.context_providers:
            await add_context(exchange.prepared, param)
        async with aclosing(exchange.messages()) as messages:
            async for _ in messages:
                pass
        answers = exchange.collector.answers
        if not answers:
            step.note("no answer: the stream held neither text nor tool calls")
            return None
        text = "\n\n".join(part for answer in answers if (part := answer.content.assistant_response))
        value = await read_answer(exchange.prepared, text, answers, parse_param, skip_validation=skip_validation)
        if turn.save is not None and "original_model_response" in answers[-1].metadata:
            turn.save()
        return value
