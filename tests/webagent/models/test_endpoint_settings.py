"""Endpoints read from TOML: what is understood, and how mistakes are named."""

import pytest

from webagent.errors import ModelError, SetupError
from webagent.models import (
    SERVERS,
    Endpoint,
    EndpointModel,
    Message,
    Server,
    load_endpoint,
    read_endpoint,
)


def test_a_table_gives_the_endpoint_and_what_its_server_can_do(tmp_path):
    path = tmp_path / "webagent.toml"
    path.write_text(
        """
        [endpoint]
        model = "Qwen/Qwen3-VL-8B-Instruct"
        base_url = "http://localhost:8000/v1"
        timeout = 30
        images = true

        [endpoint.server]
        kind = "vllm"
        log_probs = "processed"
        grammars = true
        """
    )

    endpoint = load_endpoint(path)

    assert endpoint.model == "Qwen/Qwen3-VL-8B-Instruct"
    assert endpoint.timeout == 30.0
    assert endpoint.server == Server(
        "vllm",
        token_ids=True,
        log_probs="processed",
        dialect="vllm",
        grammars=True,
        cache_salt=True,
    )
    assert endpoint.capabilities.token_ids and endpoint.capabilities.constraints


def test_a_server_may_be_given_by_its_name_alone():
    assert read_endpoint({"model": "m", "server": "sglang"}).server == SERVERS["sglang"]
    assert read_endpoint({"model": "m"}) == Endpoint("m")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"model": "m", "base_ulr": "x"}, "unknown endpoint setting 'base_ulr'.*base_url"),
        ({"model": "m", "server": "vlm"}, "unknown server 'vlm'.*vllm"),
        ({"model": "m", "server": {"kind": "tgi"}}, "unknown server 'tgi'"),
        ({"model": "m", "server": {"kind": ["vllm"]}}, "unknown server"),
        ({"model": "m", "server": {"token_id": True}}, "unknown server setting 'token_id'"),
        ({"model": "m", "server": 3}, "expected a name or a table, found 3"),
        ({"model": "m", "server": {"log_probs": "some"}}, r"server\.log_probs: .*found 'some'"),
        ({"model": "m", "server": {"token_ids": "yes"}}, r"server\.token_ids: .*found 'yes'"),
        ({"model": "m", "timeout": "12"}, "timeout: .*found '12'"),
        ({"model": "m", "timeout": 0}, "timeout: .*greater than 0, found 0"),
        ({"model": "m", "attempts": 0}, "attempts: "),
        ({"server": "vllm"}, "model: .*required"),
    ],
)
def test_a_mistake_in_the_table_is_named_where_it_is(table, message):
    with pytest.raises(SetupError, match=message):
        read_endpoint(table)


def test_a_file_that_is_missing_no_toml_or_without_the_table_is_named(tmp_path):
    path = tmp_path / "webagent.toml"
    with pytest.raises(SetupError, match="cannot be read: No such file"):
        load_endpoint(path)
    judge = "[judge]\nmodel = 'm'\n"
    for text, complaint in (("model = ", "not TOML"), (judge, r"\[endpoint\]; it has: judge")):
        path.write_text(text)
        with pytest.raises(SetupError, match=complaint):
            load_endpoint(path)


async def test_the_key_is_read_from_the_variable_that_is_named(chat_server, behave, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("SOME_KEY", "secret-1")
    chat_server.will(behave.reply("ok"), behave.status(401))
    table = {"model": "m", "base_url": chat_server.url, "api_key_variable": "SOME_KEY"}
    model = EndpointModel(read_endpoint(table))

    await model.complete([Message("user", "Hello.")])
    with pytest.raises(ModelError, match="check SOME_KEY"):
        await model.complete([Message("user", "Hello.")])
    await model.close()

    assert chat_server.keys[0] == "Bearer secret-1"
