from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import weakref
from typing import Any

import pytest
from pydantic import BaseModel

from lionagi.models import FieldModel
from lionagi.operations.fields import ActionRequestModel, ActionResponseModel, Reason
from lionagi.operations.operate.step import Step
from lionagi.operations.schema.generated import MAX_CLASSES
from lionagi.operations.schema.json_structure import structure_for
from lionagi.operations.schema.native import native_schema


class Report(BaseModel):
    city: str


def response_of(base: type[BaseModel] | None, **options: Any) -> Any:
    return Step.respond_operative(Step.request_operative(base_type=base, **options)).response_type


def fresh_model() -> type[BaseModel]:
    class Fresh(BaseModel):
        x: int

    return Fresh


def enriched() -> Any:
    return response_of(Report, reason=True, actions=True)(
        city="Paris",
        reason=Reason(title="known"),
        action_requests=[ActionRequestModel(function="f", arguments={"a": 1})],
        action_responses=[ActionResponseModel(function="f", output=[1, 2])],
    )


@pytest.mark.record("DEC-03-1")
def test_equal_ingredients_give_the_same_class():
    template = FieldModel(int, "age", ge=0)
    first = response_of(Report, reason=True, actions=True, field_models=[template])
    again = response_of(Report, reason=True, actions=True, field_models=[FieldModel(int, "age", ge=0)])
    assert first is again
    assert isinstance(first(city="Paris", age=1), Report)


def test_other_ingredients_give_another_class():
    assert response_of(Report, reason=True) is not response_of(Report, actions=True)
    assert response_of(Report, field_models=[FieldModel(int, "age", default=1)]) is not response_of(
        Report, field_models=[FieldModel(int, "age", default=True)]
    )


def test_a_subclass_does_not_share_the_classes_of_its_base():
    class Longer(Report):
        more: int = 0

    response_of(Report, reason=True)
    assert "more" in response_of(Longer, reason=True).model_fields


@pytest.mark.record("DEC-03-2")
def test_redefined_models_leave_no_class_behind():
    left: list[weakref.ref[type]] = []
    for _ in range(50):
        base = fresh_model()
        response = response_of(base, reason=True, actions=True)
        native_schema(response, (), 3)
        structure_for(response).parse('{"x": 1}')
        left += [weakref.ref(base), weakref.ref(response), weakref.ref(response.__bases__[0])]
    del base, response
    gc.collect()
    assert [one() for one in left if one() is not None] == []


@pytest.mark.record("DEC-03-3")
def test_fresh_validators_do_not_grow_the_cache():
    base = fresh_model()
    made = [
        weakref.ref(response_of(base, field_models=[FieldModel(int, "age", validator=lambda value: value)]))
        for _ in range(MAX_CLASSES * 2)
    ]
    gc.collect()
    assert sum(one() is not None for one in made) * 2 <= MAX_CLASSES


@pytest.mark.record("DEC-03-4")
def test_without_a_base_the_classes_stay_within_one_bound():
    made = [weakref.ref(response_of(None, field_models=[FieldModel(int, f"field_{n}")])) for n in range(100)]
    gc.collect()
    assert sum(one() is not None for one in made) * 2 <= MAX_CLASSES


def test_the_least_recently_used_class_goes_first():
    base = fresh_model()
    used = response_of(base, reason=True)
    for number in range(MAX_CLASSES * 2):
        response_of(base, field_models=[FieldModel(int, f"field_{number}")])
        assert response_of(base, reason=True) is used


@pytest.mark.record("DEC-03-5")
def test_a_result_survives_pickling():
    result = enriched()
    copy = pickle.loads(pickle.dumps(result))
    assert copy == result
    assert isinstance(copy, Report)


def test_a_result_with_a_validator_that_has_no_name_survives_pickling():
    result = response_of(Report, field_models=[FieldModel(int, "age", validator=lambda value: value + 1)])(
        city="Paris", age=1
    )
    copy = pickle.loads(pickle.dumps(result))
    assert (copy, copy.age) == (result, 2)


def test_a_result_can_be_unpickled_in_another_process(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import pickle, sys\n"
        "from pydantic import BaseModel\n"
        "from lionagi.models import FieldModel\n"
        "from lionagi.operations.operate.step import Step\n"
        "class Report(BaseModel):\n"
        "    city: str\n"
        "def result():\n"
        "    age = FieldModel(int, 'age', validator=lambda value: value)\n"
        "    step = Step.request_operative(base_type=Report, reason=True, actions=True, field_models=[age])\n"
        "    return step.response_type(city='Paris', age=3, action_responses=[{'function': 'f'}])\n"
    )
    dump = "import mine, pickle, sys; sys.stdout.buffer.write(pickle.dumps(mine.result()))"
    data = subprocess.run([sys.executable, "-c", dump], cwd=tmp_path, capture_output=True, check=True).stdout
    load = (
        "import mine, pickle, sys; x = pickle.loads(sys.stdin.buffer.read());"
        "print(type(x).__name__, isinstance(x, mine.Report), x.city, x.age, x.action_responses[0].function)"
    )
    read = subprocess.run([sys.executable, "-c", load], cwd=tmp_path, input=data, capture_output=True, check=True)
    assert read.stdout.decode().split() == ["ReportResponse", "True", "Paris", "3", "f"]


def test_an_instance_of_a_class_that_inherits_from_a_result_class_pickles_by_its_own_name():
    assert type(pickle.loads(pickle.dumps(Mine(city="Paris")))) is Mine


class Mine(response_of(Report, reason=True)):
    pass


def test_the_dict_format_counts_towards_the_class():
    first = response_of(None, reason=True, dict_format={"a": "int"})
    assert response_of(None, reason=True, dict_format={"a": "int"}) is first
    assert response_of(None, reason=True, dict_format={"a": int}) is not first
