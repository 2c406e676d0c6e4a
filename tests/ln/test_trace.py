from __future__ import annotations

import asyncio
import pickle
import sys
import tracemalloc
from collections.abc import AsyncGenerator, Iterator

import pytest

from lionagi.ln import trace as trace_module
from lionagi.ln.threads import run_in_thread
from lionagi.ln.trace import StreamSpan, Trace, is_tracing, note, set_trace_sink, span, stream_span, trace


def test_spans_nest_in_the_order_in_which_they_start():
    with trace() as seen:
        with span("operate"):
            with span("prepare"):
                pass
            with span("parse", attempt=1):
                note("direct")
        with span("after"):
            pass
    assert seen.outline() == "operate\n  prepare\n  parse: direct\nafter"


def test_attributes_are_kept_and_can_be_added():
    with trace() as seen, span("call", model="m") as step:
        step.set(chunks=3)
    assert seen.spans[0].attributes == {"model": "m", "chunks": 3}


def test_times_are_relative_to_the_start_of_the_trace():
    with trace() as seen, span("a"), span("b"):
        pass
    outer, inner = seen.walk()
    assert 0 <= outer.start <= inner.start
    assert inner.start + inner.duration <= outer.start + outer.duration


def test_an_exception_marks_the_spans_it_passes():
    with trace() as seen, pytest.raises(ValueError, match="bad"), span("outer"), span("inner"):
        raise ValueError("bad")
    assert seen.outline() == "outer [error]: ValueError: bad\n  inner [error]: ValueError: bad"


def test_a_reason_given_in_words_wins_over_the_exception():
    def fail() -> None:
        with span("parse") as step:
            step.note("no JSON in the text")
            raise ValueError("x")

    with trace() as seen, pytest.raises(ValueError, match="x"):
        fail()
    assert seen.spans[0].reason == "no JSON in the text"


async def test_a_cancelled_task_marks_its_span_cancelled():
    async def work() -> None:
        with span("wait"):
            await asyncio.sleep(60)

    with trace() as seen:
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert seen.outline() == "wait [cancelled]: CancelledError"


async def test_concurrent_tasks_keep_their_own_branches():
    async def work(name: str) -> None:
        with span(name):
            await asyncio.sleep(0)
            with span(f"{name}.inner"):
                await asyncio.sleep(0)

    with trace() as seen, span("act"):
        await asyncio.gather(work("a"), work("b"))
    assert seen.outline() == "act\n  a\n    a.inner\n  b\n    b.inner"


async def test_spans_follow_into_our_threads():
    def work() -> None:
        with span("in thread"):
            pass

    with trace() as seen, span("tool"):
        await run_in_thread(work)
    assert seen.outline() == "tool\n  in thread"


def test_a_running_span_is_open():
    with trace() as seen, span("a"):
        assert seen.outline() == "a [open]"


def test_find_gives_every_span_of_that_name():
    with trace() as seen, span("parse"), span("parse"):
        pass
    assert [each.name for each in seen.find("parse")] == ["parse", "parse"]
    assert seen.find("nothing") == []
    assert len(list(seen.spans[0].walk())) == 2


def test_a_trace_pickles_with_its_spans():
    with trace() as seen, span("a", n=1), span("b"):
        pass
    again = pickle.loads(pickle.dumps(seen))
    assert again == seen


def test_a_trace_inside_a_trace_keeps_its_own_spans():
    with trace() as outer:
        with trace() as inner, span("in"):
            pass
        with span("out"):
            pass
    assert (outer.outline(), inner.outline()) == ("out", "in")


def test_without_a_trace_span_is_one_shared_object():
    assert not is_tracing()
    assert span("a", x=1) is span("b")
    with span("a") as step:
        step.set(x=1)
        step.note("nothing")
        note("nothing")
    assert (step.attributes, step.reason, step.children) == ({}, None, [])


def test_without_a_trace_nothing_is_allocated():
    def work() -> None:
        for _ in range(1000):
            with span("a"), stream_span("b"):
                note("x")

    work()
    tracemalloc.start()
    try:
        before = tracemalloc.take_snapshot()
        work()
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    here = tracemalloc.Filter(True, trace_module.__file__ or "")
    grown = after.filter_traces([here]).compare_to(before.filter_traces([here]), "lineno")
    assert sum(line.size_diff for line in grown) <= 0


async def test_a_generator_closed_from_another_task_still_ends_its_span():
    async def stream() -> AsyncGenerator[int, None]:
        with span("stream"):
            yield 1
            yield 2

    with trace() as seen:
        source = stream()

        async def first() -> None:
            await anext(source)

        await asyncio.create_task(first())
        await asyncio.create_task(source.aclose())  # pyright: ignore[reportArgumentType]
    assert seen.outline() == "stream [cancelled]: its reader stopped before the end"


async def _numbers(parent: StreamSpan | None = None) -> AsyncGenerator[int, None]:
    with stream_span("stream", parent, unit="number") as stage:
        with stage.inside(), span("begin"):
            pass
        for number in range(2):
            yield number


async def test_the_spans_of_a_reader_do_not_nest_in_the_stage_that_yields():
    with trace() as seen, span("reader"):
        async for number in _numbers():
            with span(f"reads {number}"):
                pass
    assert seen.outline() == "reader\n  stream\n    begin\n  reads 0\n  reads 1"
    assert seen.find("stream")[0].attributes == {"unit": "number"}


async def test_a_stage_that_yields_can_belong_to_another():
    with trace() as seen, stream_span("outer") as outer:
        assert [number async for number in _numbers(outer)] == [0, 1]
    assert seen.outline() == "outer\n  stream\n    begin"


async def test_a_stage_that_yields_and_fails_says_why():
    async def broken() -> AsyncGenerator[int, None]:
        with stream_span("stream"):
            yield 1
            raise ValueError("bad")

    with trace() as seen, pytest.raises(ValueError, match="bad"):
        async for _ in broken():
            pass
    assert seen.outline() == "stream [error]: ValueError: bad"
    assert seen.spans[0].attributes == {"error": "ValueError"}


async def test_without_a_trace_a_stage_that_yields_is_one_shared_object():
    assert stream_span("a", x=1) is stream_span("b")
    with stream_span("a") as stage:
        assert stream_span("c", stage) is stream_span("b")
        stage.span.keep(x=1)
    assert [number async for number in _numbers()] == [0, 1]
    assert (stage.span.name, stage.span.children, stage.span.content) == ("", [], None)


def test_what_was_said_is_kept_apart_from_the_attributes():
    messages = ["hello"]
    with trace() as seen, span("call") as step:
        step.keep(messages=messages)
        step.keep(answer="hi")
    assert seen.spans[0].content == {"messages": messages, "answer": "hi"}
    assert (seen.spans[0].content or {})["messages"] is messages
    assert seen.spans[0].attributes == {}


def test_a_trace_of_one_branch_leaves_out_what_others_did():
    with trace("mine") as seen:
        for branch in ("mine", "other"):
            with span("operate", branch=branch), span("render"):
                pass
    assert seen.outline() == "operate\n  render"
    assert seen.spans[0].attributes == {"branch": "mine"}


async def test_a_sink_gets_a_stage_that_yields(delivered: list[Trace]):
    assert [number async for number in _numbers()] == [0, 1]
    assert [each.outline() for each in delivered] == ["stream\n  begin"]


@pytest.fixture
def delivered() -> Iterator[list[Trace]]:
    traces: list[Trace] = []
    previous = set_trace_sink(traces.append)
    yield traces
    set_trace_sink(previous)


def test_a_sink_gets_each_outermost_span_as_a_trace(delivered: list[Trace]):
    assert is_tracing()
    for name in ("first", "second"):
        with span(name), span("inner"):
            pass
    assert [each.outline() for each in delivered] == ["first\n  inner", "second\n  inner"]


def test_a_sink_gets_an_outermost_trace_block_once(delivered: list[Trace]):
    with trace() as seen, span("a"), span("b"):
        pass
    assert delivered == [seen]


def test_a_very_deep_tree_can_be_walked():
    depth = sys.getrecursionlimit() * 2
    with trace() as seen:
        opened = [span("s") for _ in range(depth)]
        for each in opened:
            each.__enter__()
        for each in reversed(opened):
            each.__exit__(None, None, None)
    assert len(list(seen.walk())) == depth
