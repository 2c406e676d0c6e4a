from __future__ import annotations

import pytest
from pydantic import BaseModel

from lionagi.service.connections.endpoint_config import EndpointConfig, HeaderFactory

KEY = "sk-canary-1234567890"


class Options(BaseModel):
    model: str
    temperature: float = 1.0


def test_unknown_keywords_become_request_defaults():
    config = EndpointConfig.model_validate({"provider": "x", "temperature": 0.5, "kwargs": {"top_p": 1}})
    assert config.kwargs == {"top_p": 1, "temperature": 0.5}


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_provider_is_refused(name: str):
    with pytest.raises(ValueError, match="Provider must be specified"):
        EndpointConfig(provider=name)


def test_the_provider_is_stripped_and_lowered():
    assert EndpointConfig(provider=" OpenAI ").provider == "openai"


def test_request_options_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="Invalid request options"):
        EndpointConfig(provider="x", request_options=5)  # pyright: ignore[reportArgumentType]


def test_an_instance_as_request_options_stands_for_its_class():
    assert EndpointConfig(provider="x", request_options=Options(model="m")).request_options is Options  # pyright: ignore[reportArgumentType]


def test_the_key_is_in_no_repr_and_no_dump():
    config = EndpointConfig(provider="x", api_key=KEY, default_headers={"X-Api-Key": KEY, "X-Team": "a"})  # pyright: ignore[reportArgumentType]
    assert KEY not in repr(config) + str(config) + str(config.model_dump()) + config.model_dump_json()
    assert config.model_dump()["default_headers"] == {"X-Team": "a"}


def test_a_refused_configuration_does_not_show_its_values():
    with pytest.raises(ValueError, match="without a user name") as caught:
        EndpointConfig(provider="x", base_url=f"https://me:{KEY}@host/v1")
    assert KEY not in str(caught.value)


def test_the_key_may_be_given_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY_HERE", KEY)
    assert EndpointConfig(provider="x", api_key="MY_KEY_HERE").resolve_api_key() == KEY  # pyright: ignore[reportArgumentType]


def test_the_registered_variable_is_read_where_no_key_is_given(monkeypatch: pytest.MonkeyPatch):
    config = EndpointConfig(provider="x", api_key_env="X_API_KEY")
    assert config.resolve_api_key() is None
    monkeypatch.setenv("X_API_KEY", KEY)
    assert config.resolve_api_key() == KEY


def test_full_url_joins_base_and_endpoint_with_one_slash():
    config = EndpointConfig(provider="x", base_url="http://h/v1/", endpoint="/chat/completions")
    assert config.full_url == "http://h/v1/chat/completions"


def test_full_url_fills_in_parameters():
    config = EndpointConfig(
        provider="x", base_url="http://h", endpoint="m/{name}", endpoint_params=["name"], params={"name": "a"}
    )
    assert config.full_url == "http://h/m/a"


def test_update_merges_request_defaults_and_checks_fields():
    config = EndpointConfig(provider="x", kwargs={"temperature": 1}).update(timeout=5, top_p=2)
    assert (config.timeout, config.kwargs) == (5.0, {"temperature": 1, "top_p": 2})
    with pytest.raises(ValueError, match="greater than 0"):
        config.update(timeout=-1)


def test_validate_payload_returns_the_same_mapping_or_refuses():
    config = EndpointConfig(provider="x", request_options=Options)
    payload = {"model": "m"}
    assert config.validate_payload(payload) is payload
    with pytest.raises(ValueError, match="Invalid payload for x: model: Field required"):
        config.validate_payload({})


def test_bearer_and_x_api_key_headers():
    assert HeaderFactory.get_header("bearer", api_key="k")["Authorization"] == "Bearer k"
    assert HeaderFactory.get_header("x-api-key", api_key="k")["x-api-key"] == "k"
    assert HeaderFactory.get_header("none", content_type=None) == {}


def test_default_headers_win():
    headers = HeaderFactory.get_header("none", default_headers={"Content-Type": "text/plain"})
    assert headers == {"Content-Type": "text/plain"}


@pytest.mark.record("DEC-41-5")
def test_service_errors_are_value_errors_that_say_what_is_wrong():
    with pytest.raises(ValueError, match="API key is required for authentication"):
        HeaderFactory.get_header("bearer")
    with pytest.raises(ValueError, match="Unsupported auth type"):
        HeaderFactory.get_header("x", api_key="k")
