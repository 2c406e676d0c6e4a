from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from pydantic import BaseModel, Field, TypeAdapter, create_model
from typing_extensions import TypedDict

from lionagi._errors import ValidationError
from lionagi.protocols.action import schema as schema_module
from lionagi.protocols.action.schema import function_to_schema


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    colour: Colour = Colour.RED


class Size(TypedDict):
    width: int


@dataclass
class Spot:
    x: int


def parameters(function: Callable[..., Any], **kw: Any) -> dict[str, Any]:
    return function_to_schema(function, **kw)["function"]["parameters"]


ANNOTATIONS = [
    str,
    int | None,
    Optional[str],  # noqa: UP045
    Union[int, str],  # noqa: UP007
    Literal["a", 1],
    Colour,
    Point,
    Spot,
    Size,
    list[Point],
    dict[str, Point | None],
    tuple[int, str],
    set[int],
    Any,
    Annotated[int, Field(gt=3, description="more than three")],
]


@pytest.mark.record("DEC-15-1")
@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_a_parameter_has_pydantics_schema_of_its_annotation(annotation: Any):
    def tool(value): ...  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]

    tool.__annotations__["value"] = annotation
    schema = parameters(tool)
    shown = schema["properties"]["value"]
    expected = TypeAdapter(annotation).json_schema()
    assert expected.pop("$defs", {}) == schema.get("$defs", {})
    assert shown == expected


@pytest.mark.record("DEC-15-1")
def test_postponed_annotations_of_a_nested_function_are_found():
    class Local(BaseModel):
        a: int

    def tool(x: Local | None, y: list[Local], z: Literal["Local"], w: Annotated[int, "Nowhere"]): ...

    schema = parameters(tool)
    assert schema["$defs"]["Local"]["properties"]["a"]["type"] == "integer"
    assert schema["properties"]["z"]["const"] == "Local"


def test_postponed_annotations_of_a_cell_are_found():
    cell = "class Model(BaseModel):\n    a: int\n\ndef tool(x: 'Model', y: list['Model']): ..."
    namespace: dict[str, Any] = {"BaseModel": BaseModel, "__name__": "__main__"}
    exec(cell, namespace)
    assert "Model" in parameters(namespace["tool"])["$defs"]


def test_an_annotation_that_means_nothing_is_refused_by_name():
    def tool(x: Nowhere): ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    with pytest.raises(ValidationError, match=r"tool\(\).*'Nowhere'"):
        function_to_schema(tool)


def test_an_unresolvable_return_type_does_no_harm():
    def tool(x: int) -> Nowhere: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    assert parameters(tool)["required"] == ["x"]


@pytest.mark.record("DEC-15-2")
def test_a_default_is_shown_and_not_required():
    def tool(a: int, b: int = 3, c: Colour = Colour.BLUE, d: str | None = None, e: Any = object()): ...  # noqa: B008

    schema = parameters(tool)
    assert schema["required"] == ["a"]
    shown = {name: part["default"] for name, part in schema["properties"].items() if "default" in part}
    assert shown == {"b": 3, "c": "blue", "d": None}


GOOGLE = """Look up.

Args:
    city (str): The city's
        name.
    days: How many.
"""
NUMPY = """Look up.

Parameters
----------
city : str
    The city's
    name.
days : int, optional
    How many.
"""
REST = """Look up.

:param city: The city's
    name.
:param int days: How many.
"""


@pytest.mark.record("DEC-15-3")
@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_descriptions_come_from_any_usual_docstring(doc: str):
    def tool(city: str, days: int = 1): ...

    tool.__doc__ = doc
    function = function_to_schema(tool)["function"]
    shown = {name: part["description"] for name, part in function["parameters"]["properties"].items()}
    assert shown == {"city": "The city's name.", "days": "How many."}
    assert function["description"] == "Look up."


def test_given_descriptions_come_before_those_of_the_docstring():
    def tool(city: str): ...

    tool.__doc__ = GOOGLE
    function = function_to_schema(tool, func_description="F", parametert_description={"city": "C"}, strict=True)[
        "function"
    ]
    assert (function["description"], function["strict"]) == ("F", True)
    assert function["parameters"]["properties"]["city"]["description"] == "C"


@pytest.mark.record("DEC-15-4")
def test_a_thousand_tools_that_share_annotations_build_each_schema_once(monkeypatch: pytest.MonkeyPatch):
    built: list[Any] = []
    adapter_of = schema_module.adapter_of

    def counting(annotation: Any) -> Any:
        built.append(annotation)
        return adapter_of(annotation)

    class Fresh(BaseModel):
        a: int

    monkeypatch.setattr(schema_module, "adapter_of", counting)
    for _ in range(1000):

        def tool(x: Fresh, y: list[Fresh]): ...

        function_to_schema(tool)
    assert sorted(map(str, built)) == sorted(map(str, [Fresh, list[Fresh]]))


def test_a_shared_schema_is_not_changed_by_its_tools():
    def tool(x: Point):
        """T.

        Args:
            x: Described.
        """

    def other(x: Point): ...

    function_to_schema(tool)
    assert "description" not in parameters(other)["properties"]["x"]


def same_name(field: str) -> type[BaseModel]:
    return create_model("Same", **{field: (int, ...)})  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_models_of_one_name_are_told_apart():
    def tool(x, y): ...  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]

    tool.__annotations__.update(x=list[same_name("a")], y=list[same_name("b")])
    schema = parameters(tool)
    assert len(schema["$defs"]) == 2
    assert schema["properties"]["x"] != schema["properties"]["y"]


def test_star_arguments_are_left_out_and_extra_names_allowed():
    def tool(a: int, *args: int, **kwargs: str): ...

    schema = parameters(tool)
    assert list(schema["properties"]) == ["a"]
    assert schema["additionalProperties"] == {"type": "string"}


def test_a_parameter_without_annotation_is_text_or_of_its_defaults_type():
    def tool(a, b=3, c=None): ...  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]

    shown = {name: part["type"] for name, part in parameters(tool)["properties"].items()}
    assert shown == {"a": "string", "b": "integer", "c": "string"}


def test_a_type_without_json_form_needs_a_default():
    class Foreign: ...

    def needs(a: Foreign): ...

    def can_do_without(b: int, a: Foreign | None = None): ...

    with pytest.raises(ValidationError, match=r"'a' of needs\(\)"):
        function_to_schema(needs)
    assert list(parameters(can_do_without)["properties"]) == ["b"]


def test_what_a_partial_binds_is_hidden():
    def tool(a: int, b: int, c: int = 1): ...

    function = function_to_schema(functools.partial(tool, 1, c=2))["function"]
    assert function["name"] == "tool"
    assert list(function["parameters"]["properties"]) == ["b"]


def test_request_options_replace_the_parameters():
    def tool(**kwargs: Any): ...

    assert parameters(tool, request_options=Point) == Point.model_json_schema()
