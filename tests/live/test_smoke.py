"""The one live test that every change runs: the whole road, with a real model behind it."""

from __future__ import annotations

from typing import Literal

import pydantic
import pytest

import lionagi

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


class City(pydantic.BaseModel):
    """A city and its country, bounded as the small model needs it."""

    name: Literal["Paris", "Tokyo", "Rome"]
    country: str = pydantic.Field(max_length=30)


@pytest.mark.record("DEC-B-1")
async def test_a_real_local_model_answers_in_the_asked_for_shape() -> None:
    branch = lionagi.Branch(chat_model="local")
    city = await branch.operate(instruction="Name the capital of France.", response_format=City)
    assert isinstance(city, City)
    assert city.country
