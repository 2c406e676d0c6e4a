from __future__ import annotations

import subprocess
import sys

import pytest

from lionagi._errors import ConfigurationError, ProviderNotFoundError
from lionagi.service.connections.endpoint import Endpoint
from lionagi.service.connections.registry import (
    EndpointMeta,
    EndpointRegistry,
    EndpointType,
    match_endpoint,
    register_endpoint,
)


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EndpointRegistry, "_entries", list(EndpointRegistry._all()))  # pyright: ignore[reportPrivateUsage]


def test_a_registered_class_is_found_by_name_alias_and_provider_alias():
    @register_endpoint("acme", "ask", aliases=["q"], provider_aliases=["acme-inc"], base_url="http://acme")
    class Ask(Endpoint):
        pass

    @register_endpoint("acme", "other")
    class Other(Endpoint):
        pass

    assert type(match_endpoint("acme", "q")) is Ask
    assert type(match_endpoint("ACME-Inc", "ask")) is Ask
    assert type(match_endpoint("acme", "other")) is Other
    assert type(match_endpoint("acme")) is Ask


def test_a_single_registration_takes_any_endpoint_name():
    @register_endpoint("acme", "ask")
    class Ask(Endpoint):
        pass

    assert type(match_endpoint("acme", "whatever")) is Ask


def test_a_class_registered_again_takes_the_place_of_the_first():
    count = len(EndpointRegistry.list_providers())
    for _ in range(3):

        @register_endpoint("acme", "ask")
        class Ask(Endpoint):  # pyright: ignore[reportUnusedClass]
            pass

    assert len(EndpointRegistry.list_providers()) == count + 1


def test_an_unknown_provider_is_an_error_that_names_the_known_ones():
    with pytest.raises(ProviderNotFoundError, match=r"'acme' is registered: use one of .*openai"):
        match_endpoint("acme", "chat")


def test_an_unknown_provider_with_an_address_gets_the_generic_endpoint():
    endpoint = match_endpoint("acme", "chat", base_url="http://127.0.0.1:1/v1")
    assert (endpoint.config.provider, endpoint.config.name) == ("acme", "openai_compatible_chat")
    assert endpoint.config.full_url == "http://127.0.0.1:1/v1/chat/completions"


def test_the_generic_endpoint_takes_the_name_of_another_path():
    assert match_endpoint("acme", "v2/ask", base_url="http://h").config.full_url == "http://h/v2/ask"


def test_keywords_reach_the_configuration_and_none_is_left_out():
    endpoint = match_endpoint("openai", "chat", base_url=None, timeout=5, temperature=0)
    assert endpoint.config.base_url == "https://api.openai.com/v1"
    assert (endpoint.config.timeout, endpoint.config.kwargs) == (5.0, {"temperature": 0})


def test_list_providers_has_the_documented_keys():
    keys = {"provider", "endpoint", "aliases", "type", "class", "options"}
    assert all(set(entry) == keys for entry in EndpointRegistry.list_providers())


def test_agentic_defaults_are_an_hour_and_no_idle_limit():
    config = EndpointMeta("acme", "run", EndpointType.AGENTIC).create_config()
    assert (config.timeout, config.idle_timeout, config.base_url) == (3600.0, None, "internal")
    assert config.resolve_api_key() == "internal"


def test_api_defaults_are_ten_minutes_ten_seconds_and_one_minute():
    config = EndpointMeta("acme", "ask").create_config()
    assert (config.timeout, config.connect_timeout, config.idle_timeout) == (600.0, 10.0, 60.0)


@pytest.mark.record("DEC-41-5")
def test_a_configuration_of_another_kind_is_refused():
    with pytest.raises(ConfigurationError, match="Config must be a dict, EndpointConfig, or None"):
        Endpoint(5)  # pyright: ignore[reportArgumentType]


def test_importing_the_registry_loads_no_provider_and_no_http_library():
    code = (
        "import sys, lionagi.service.connections.registry;"
        "late = ('aiohttp', 'tenacity', 'lionagi.providers', 'lionagi.testing');"
        "bad = [name for name in sys.modules if name.startswith(late)];"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def test_finding_a_provider_loads_no_http_library():
    code = (
        "import sys; from lionagi.service.connections.registry import match_endpoint; match_endpoint('openai', 'chat');"
        "assert 'aiohttp' not in sys.modules and 'tenacity' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
