"""The endpoint backend against a real HTTP server, in good and bad health."""

import asyncio
import base64
import json
import socket
import time
from itertools import pairwise

import pytest

from webagent.errors import ModelError, SetupError
from webagent.models.endpoint import Endpoint, EndpointModel
from webagent.models.model import Message

ASK = [Message("system", "Be brief."), Message("user", "Say hello.")]
PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
JPEG = b"\xff\xd8\xff" + b"pixels"


async def test_a_reply_comes_with_its_model_usage_and_finish_reason(chat_server, behave, connect):
    chat_server.will(behave.reply("hello", finish_reason="length"))

    completion = await connect().complete(ASK, temperature=0.5, seed=3, max_tokens=9)

    assert [reply.text for reply in completion.replies] == ["hello"]
    assert completion.replies[0].finish_reason == "length"
    assert completion.model == "served"
    assert completion.usage == {"input_tokens": 11, "output_tokens": 7, "requests": 1}
    assert chat_server.keys == ["Bearer key-1"]
    assert chat_server.requests == [
        {
            "model": "asked",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Say hello."},
            ],
            "n": 1,
            "temperature": 0.5,
            "seed": 3,
            "max_tokens": 9,
        }
    ]


@pytest.mark.parametrize("content", [None, "", "I answer."])
async def test_native_tool_calls_are_part_of_the_reply(chat_server, connect, content):
    call = {"id": "c1", "type": "function", "function": {"name": "answer", "arguments": "{}"}}
    message = {"role": "assistant", "content": content, "tool_calls": [call]}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    chat_server.will(lambda handler, _: handler.send(json.dumps(body).encode()))

    (reply,) = (await connect().complete(ASK)).replies

    called = '<tool_call>{"name": "answer", "arguments": "{}"}</tool_call>'
    assert reply.text == "\n".join(filter(None, [content, called]))


async def test_images_travel_as_data_urls_after_their_text(chat_server, behave, connect):
    chat_server.will(behave.reply("seen"))

    await connect().complete([Message("user", "Look.", (PNG, JPEG))])

    text, first, second = chat_server.requests[0]["messages"][0]["content"]
    assert text == {"type": "text", "text": "Look."}
    assert first["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert second["image_url"]["url"].startswith("data:image/jpeg;base64,")


async def test_text_that_utf8_cannot_hold_is_sent_all_the_same(chat_server, behave, connect):
    chat_server.will(behave.reply("ok"))

    await connect().complete([Message("user", "broken \ud83d half")])

    assert chat_server.requests[0]["messages"][0]["content"] == "broken ? half"


async def test_a_server_that_gives_one_reply_at_a_time_is_asked_until_there_are_n(
    chat_server, behave, connect
):
    chat_server.will(behave.reply("a"), behave.reply("b"), behave.reply("c"))

    completion = await connect().complete(ASK, n=3, seed=10)

    assert [reply.text for reply in completion.replies] == ["a", "b", "c"]
    assert [request["seed"] for request in chat_server.requests] == [10, 11, 12]
    assert completion.usage == {"input_tokens": 33, "output_tokens": 21, "requests": 3}


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503])
async def test_a_status_that_may_pass_is_tried_again(chat_server, behave, connect, code):
    chat_server.will(behave.status(code), behave.reply("back"))

    completion = await connect().complete(ASK)

    assert completion.replies[0].text == "back"
    assert completion.usage["requests"] == 2


@pytest.mark.parametrize("attempts", [1, 4])
async def test_a_server_that_stays_down_fails_after_the_attempts(
    chat_server, behave, connect, attempts
):
    chat_server.will(behave.status(500))

    with pytest.raises(ModelError, match=rf"{attempts} attempts failed; last: status 500"):
        await connect(attempts=attempts).complete(ASK)
    assert len(chat_server.requests) == attempts


async def test_the_pauses_double(chat_server, behave, connect):
    chat_server.will(behave.status(500))

    with pytest.raises(ModelError):
        await connect(attempts=4, first_pause=0.08).complete(ASK)

    pauses = [after - before for before, after in pairwise(chat_server.times)]
    assert all(pause >= least for pause, least in zip(pauses, (0.04, 0.08, 0.16), strict=True))


async def test_nobody_listening_is_a_model_error_that_says_where(connect):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    with pytest.raises(ModelError, match=rf"asked at {url}.*no connection"):
        await connect(base_url=url).complete(ASK)


async def test_a_slow_server_is_given_up_on_after_the_timeout(chat_server, behave, connect):
    chat_server.will(behave.slow(), behave.reply("awake"))

    completion = await connect(timeout=0.5, attempts=9).complete(ASK)

    assert completion.replies[0].text == "awake"
    assert 0.5 <= completion.seconds < 30


@pytest.mark.parametrize(
    ("kind", "limits", "message"),
    [
        ("drip", {"timeout": 0.3, "attempts": 1}, r"no reply after 0\.3 s"),
        ("slow", {"timeout": 30, "patience": 0.5, "attempts": 100}, r"no reply within 0\.5 s"),
    ],
)
async def test_a_server_that_gives_no_whole_reply_is_timed_out(
    chat_server, behave, connect, kind, limits, message
):
    chat_server.will(getattr(behave, kind)())
    start = time.monotonic()

    with pytest.raises(ModelError, match=message):
        await connect(**limits).complete(ASK)

    assert 0.3 <= time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("pause", "longest", "seconds"), [("0.4", 30, (0.4, 30)), ("3600", 0.05, (0, 5))]
)
async def test_the_pause_a_server_asks_for_is_kept_within_the_limit(
    chat_server, behave, connect, pause, longest, seconds
):
    chat_server.will(behave.status(429, headers={"Retry-After": pause}), behave.reply("now"))

    completion = await connect(longest_pause=longest).complete(ASK)

    assert seconds[0] <= completion.seconds < seconds[1]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b'{"choices": [',
        b'{"choices": []}',
        b'{"choices": [{"message": "text"}]}',
        b"[1, 2]",
        b"\xff\xfe\x00",
    ],
)
async def test_a_garbage_body_is_tried_again_then_fails(chat_server, behave, connect, body):
    chat_server.will(behave.raw(body), behave.cut_short(), behave.reply("fine"))
    assert (await connect().complete(ASK)).replies[0].text == "fine"

    chat_server.will(behave.raw(body))
    with pytest.raises(ModelError, match="not a chat completion"):
        await connect().complete(ASK)


@pytest.mark.parametrize(
    ("code", "named", "advice"),
    [
        (401, "", "OPENAI_API_KEY"),
        (403, "", "OPENAI_API_KEY"),
        (404, "", "model's name"),
        (429, "insufficient_quota", "429"),
    ],
)
async def test_a_refusal_for_good_fails_at_once_and_says_what_to_check(
    chat_server, behave, connect, code, named, advice
):
    chat_server.will(behave.status(code, code=named) if named else behave.status(code))

    with pytest.raises(ModelError, match=advice) as caught:
        await connect().complete(ASK)

    assert len(chat_server.requests) == 1
    assert "key-1" not in str(caught.value)


async def test_a_parameter_the_server_refuses_is_left_out_or_renamed_from_then_on(
    chat_server, behave, connect
):
    chat_server.will(
        behave.status(400, param="max_tokens", code="unsupported_parameter"),
        behave.status(400, param="temperature", code="unsupported_value"),
        behave.reply("fits"),
    )
    model = connect()

    await model.complete(ASK, max_tokens=50)
    await model.complete(ASK, max_tokens=60)

    assert chat_server.requests[-2]["max_completion_tokens"] == 50
    assert chat_server.requests[-1]["max_completion_tokens"] == 60
    assert not {"max_tokens", "temperature"} & chat_server.requests[-1].keys()
    assert len(chat_server.requests) == 4


async def test_a_cancelled_request_does_not_go_on(chat_server, behave, connect):
    chat_server.will(behave.slow())
    asking = asyncio.create_task(connect().complete(ASK))
    while not chat_server.requests:
        await asyncio.sleep(0.01)

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(chat_server.requests) == 1


async def test_address_and_key_come_from_the_environment(chat_server, behave, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
    chat_server.will(behave.reply("found"))
    model = EndpointModel(Endpoint("asked"))

    await model.complete(ASK)
    await model.close()
    await model.close()

    assert chat_server.keys == ["Bearer from-outside"]


@pytest.mark.parametrize(
    ("address", "complaint"),
    [("", r"OPENAI_API_KEY.*OPENAI_BASE_URL"), ("localhost:8000", "http://localhost:8000/v1")],
)
async def test_without_key_or_whole_address_the_message_says_what_to_set(
    monkeypatch, address, complaint
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    with pytest.raises(SetupError, match=complaint):
        await EndpointModel(Endpoint("asked", base_url=address)).complete(ASK)


def test_the_key_is_not_shown_when_the_endpoint_is():
    assert "secret" not in repr(Endpoint("asked", api_key="secret"))
