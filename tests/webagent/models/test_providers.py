"""Models by name: address, key and protocol of each provider, against servers of their shapes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.chat_server import Behaviour, ChatServer
from webagent.errors import ModelError, SetupError, UsageError
from webagent.models import Endpoint, EndpointModel
from webagent.models.endpoint import PROVIDERS, SERVERS
from webagent.models.endpoint.providers import resolve_provider
from webagent.models.model import Message

ASK = [Message("system", "Be brief."), Message("user", "Say hello.", (b"\x89PNG\r\n\x1a\n",))]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat_server: ChatServer) -> None:
    """No key and no address from outside or of the server, and an empty working folder."""
    monkeypatch.chdir(tmp_path)
    for provider in PROVIDERS.values():
        for name in (*provider.keys, provider.base_url_variable, "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)


def answer(body: dict[str, Any]) -> Behaviour:
    return lambda handler, _: handler.send(json.dumps(body).encode())


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_is_found_by_the_beginning_of_a_name(name, monkeypatch):
    provider = PROVIDERS[name]
    for key in provider.keys[:1]:
        monkeypatch.setenv(key, "secret")
    if not provider.base_url:
        monkeypatch.setenv(provider.base_url_variable, "https://mine.example")
    found = resolve_provider(Endpoint(f"{name}/some/model"))
    assert found.model == "some/model"
    assert found.base_url in (provider.base_url, f"https://mine.example{provider.path}")
    assert found.server == SERVERS[provider.server]
    assert found.api_key_variable in (*provider.keys, "NO_API_KEY")


def test_an_address_that_is_given_wins_over_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Endpoint("anthropic/big-1", "https://router.example/v1")
    assert resolve_provider(plain) == plain
    monkeypatch.setenv("OPENAI_BASE_URL", "https://router.example/v1")
    assert resolve_provider(Endpoint("openai/oss")).model == "openai/oss"


def test_names_of_hubs_are_left_as_they_are() -> None:
    for name in ("Qwen/Qwen3-8B", "big-1", "anthropic"):
        assert resolve_provider(Endpoint(name)).model == name


async def test_a_missing_key_is_named_before_anything_is_asked() -> None:
    with pytest.raises(SetupError, match=r"set ANTHROPIC_API_KEY$"):
        await EndpointModel(Endpoint("anthropic/big-1")).complete(ASK)
    with pytest.raises(UsageError, match="AZURE_OPENAI_ENDPOINT"):
        EndpointModel(Endpoint("azure/big-1"))
    EndpointModel(Endpoint("ollama/small")).check()


async def test_key_and_address_may_stand_in_a_file_of_the_folder(chat_server: ChatServer) -> None:
    Path(".env").write_text(
        f"# keys\nexport GROQ_API_KEY='k-1'\nGROQ_BASE_URL={chat_server.url}  # here\n"
    )
    chat_server.will(answer({"choices": [{"message": {"content": "hello"}}]}))
    model = EndpointModel(Endpoint("groq/fast"))
    await model.complete(ASK[:1])
    await model.close()
    assert chat_server.keys == ["Bearer k-1"]
    assert chat_server.requests[0]["model"] == "fast"


@pytest.fixture
def anthropic(chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> EndpointModel:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", chat_server.url)
    return EndpointModel(Endpoint("anthropic/big-1", first_pause=0.01))


async def test_anthropic_is_asked_and_read_in_its_own_protocol(chat_server, anthropic):
    usage = {"input_tokens": 7, "output_tokens": 5, "cache_read_input_tokens": 40}
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hello"}]
    said = {"model": "big-1-2026", "content": content, "stop_reason": "max_tokens"}
    chat_server.will(answer(said | {"usage": usage}))
    completion = await anthropic.complete(ASK, temperature=1.5, seed=3, max_tokens=9)
    await anthropic.close()
    (reply,) = completion.replies
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("hello", "hm", "length")
    assert completion.model == "big-1-2026"
    assert completion.usage == {
        "input_tokens": 47,
        "cached_input_tokens": 40,
        "output_tokens": 5,
        "requests": 1,
    }
    assert chat_server.paths == ["/v1/messages"]
    (asked,) = chat_server.requests
    assert asked.pop("messages") == [
        {
            "role": "user",
            "content": [
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                },
                {"type": "text", "text": "Say hello."},
            ],
        }
    ]
    assert asked == {"model": "big-1", "system": "Be brief.", "max_tokens": 9, "temperature": 1.0}


async def test_anthropics_refusals_are_told_in_its_words_and_overload_is_waited_for(
    chat_server, anthropic
):
    def refuse(status: int, kind: str, message: str) -> Behaviour:
        error = {"type": "error", "error": {"type": kind, "message": message}}
        return lambda handler, _: handler.send(json.dumps(error).encode(), status)

    fine = answer({"content": [{"type": "text", "text": "hello"}]})
    deprecated = "`temperature` is deprecated for this model."
    chat_server.will(
        refuse(529, "overloaded_error", "Overloaded"),
        refuse(400, "invalid_request_error", deprecated),
        fine,
    )
    completion = await anthropic.complete(ASK)
    assert [each.problem for each in completion.attempts] == [
        "status 529: Overloaded",
        "the parameter temperature was refused",
        "",
    ]
    assert "temperature" not in chat_server.requests[-1]
    chat_server.will(refuse(401, "authentication_error", "invalid x-api-key"))
    with pytest.raises(ModelError, match=r"invalid x-api-key.*ANTHROPIC_API_KEY"):
        await anthropic.complete(ASK)
    await anthropic.close()


@pytest.mark.parametrize(
    ("message", "usage", "read"),
    [
        ({"content": "x", "reasoning_content": "y"}, {"prompt_cache_hit_tokens": 8}, ("x", "y", 8)),
        ({"content": "hi", "reasoning": "hm"}, {}, ("hi", "hm", 0)),
        (
            {"content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]},
            {"prompt_tokens_details": {"cached_tokens": 9}},
            ("hi", "", 9),
        ),
        ({"content": None, "refusal": "no"}, {"prompt_tokens_details": None}, ("", "", 0)),
    ],
    ids=["DeepSeek", "OpenRouter", "Mistral", "OpenAI refuses"],
)
async def test_what_servers_say_beside_the_reply_is_read(
    chat_server, connect, message, usage, read
):
    counted = {"prompt_tokens": 11, "completion_tokens": 2} | usage
    chat_server.will(answer({"choices": [{"message": message}], "usage": counted}))
    completion = await connect().complete(ASK)
    (reply,) = completion.replies
    assert (reply.text, reply.reasoning, completion.usage.get("cached_input_tokens", 0)) == read


async def test_what_one_is_told_to_wait_holds_for_all(chat_server, behave, connect):
    import asyncio

    chat_server.will(behave.status(429, headers={"Retry-After": "0.5"}), behave.reply("now"))
    model = connect()
    first = asyncio.create_task(model.complete(ASK))
    while not chat_server.requests:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    await asyncio.gather(first, model.complete(ASK))
    assert chat_server.times[1] - chat_server.times[0] > 0.45


async def test_requests_keep_to_a_rate(chat_server: ChatServer, behave: Any, connect: Any) -> None:
    import asyncio

    chat_server.will(behave.reply("now"))
    model = connect(requests_per_minute=300)
    await model.complete(ASK)  # connects
    await asyncio.gather(*(model.complete(ASK) for _ in range(3)))
    assert chat_server.times[3] - chat_server.times[1] > 0.35


async def test_the_servers_own_words_are_told(chat_server, behave, connect):
    chat_server.will(lambda handler, _: handler.send(b'{"error": "CUDA out of memory"}', 500))
    with pytest.raises(ModelError, match="CUDA out of memory") as caught:
        await connect(attempts=2).complete(ASK)
    first, last = caught.value.attempts
    assert first.waited > 0 and not last.waited
    assert "CUDA out of memory" in first.body
