"""operate() with actions and further fields, and run() as a stream, on the real local model: shapes, never contents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pydantic
import pytest

import lionagi
from lionagi import Branch, FieldModel, iModel
from lionagi.operations.fields import ActionResponseModel
from lionagi.service.types import StreamChunk

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

Place = Literal["Paris", "Tokyo", "Rome"]


class City(pydantic.BaseModel):
    """A city and its country, bounded as the small model needs it."""

    name: Place
    country: str = pydantic.Field(max_length=20)


POPULATION = FieldModel(int, "population", description="People, in thousands.", ge=0, le=50_000)
SIZE = FieldModel(Literal["small", "large"], "size")


async def test_operate_fills_further_bounded_fields() -> None:
    branch = Branch(chat_model="local")
    city: Any = await branch.operate(
        instruction="Describe the capital of France.", response_format=City, field_models=[POPULATION, SIZE]
    )
    assert issubclass(type(city), City)
    assert type(city).__name__ == "CityResponse"
    assert 0 <= city.population <= 50_000
    assert city.size in ("small", "large")


async def test_operate_runs_the_tools_it_asks_for_beside_a_format_and_further_fields() -> None:
    ran: list[str] = []

    def weather(city: Place) -> str:
        """Look up the weather in a city."""
        ran.append(city)
        return f"sunny in {city}"

    branch = Branch(chat_model="local", tools=[weather])
    with lionagi.trace() as seen:
        city: Any = await branch.operate(
            instruction="Name the capital of Italy and call weather for it.",
            response_format=City,
            field_models=[SIZE],
            actions=True,
            max_tool_calls=2,
        )
    assert issubclass(type(city), City)
    assert city.size in ("small", "large")
    assert [each.function for each in city.action_requests] == ["weather"] * len(city.action_requests)
    assert len(city.action_requests) <= 2
    assert [each.arguments["city"] for each in city.action_requests] == ran
    responses: list[ActionResponseModel] = city.action_responses or []
    assert [each.output for each in responses] == [f"sunny in {place}" for place in ran]
    assert len(seen.find("tool")) == len(ran)
    assert [span.status for span in seen.walk()] == ["ok"] * len(list(seen.walk()))


async def test_run_streams_text_in_pieces_that_add_up_to_the_recorded_answer() -> None:
    chunks: list[StreamChunk] = []
    branch = Branch(chat_model=iModel("local", streaming_process_func=chunks.append))
    seen = [each async for each in branch.run("Write two sentences about the sea.", max_tokens=24)]
    assert [type(each).__name__ for each in seen] == ["Instruction", "AssistantResponse"]
    pieces = [chunk.content for chunk in chunks if chunk.type == "text"]
    assert len(pieces) > 2
    assert "".join(piece or "" for piece in pieces) == seen[-1].content.assistant_response
    assert [message.id for message in branch.messages] == [each.id for each in seen]
    call = next(log.content for log in branch.logs if log.content["kind"] == "model_call")
    assert (call["streamed"], call["status"]) == (True, "ok")


async def test_run_with_a_schema_streams_json_that_fits_it() -> None:
    branch = Branch(chat_model="local")
    seen = [each async for each in branch.run("Name the capital of Japan.", response_format=City)]
    assert isinstance(City.model_validate_json(seen[-1].content.assistant_response), City)


async def test_a_persisted_stream_leaves_the_snapshot_of_its_turn(tmp_path: Path) -> None:
    branch = Branch(chat_model="local")
    stream = branch.run("Write about the sea.", max_tokens=12, stream_persist=True, persist_dir=str(tmp_path))
    kinds = [type(each).__name__ async for each in stream]
    assert [path.name for path in tmp_path.iterdir()] == [f"{branch.id}.json"]
    again = Branch.from_dict(json.loads((tmp_path / f"{branch.id}.json").read_text(encoding="utf-8")))
    assert [type(each).__name__ for each in again.messages] == kinds
