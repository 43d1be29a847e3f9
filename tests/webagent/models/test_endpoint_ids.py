"""Ids in, ids and log-probabilities out: what training needs of an endpoint, and its checks."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.webagent.models.conftest import Connect
from webagent.errors import ModelError, SetupError
from webagent.models import SERVERS, Endpoint, Message, Server, Tokens
from webagent.models.endpoint import protocol
from webagent.models.endpoint.protocol import EndpointRequest

ASK = [Message("user", "Say hello.")]
PNG = b"\x89PNG\r\n\x1a\n"
PROCESSED = replace(SERVERS["vllm"], log_probs="processed")

IDS = ["token_ids", "prompt_token_ids", "logprobs", "content", "logprob", "token_logprobs"]
OTHERS = ["usage", "finish_reason", "completion_tokens", "prompt_tokens", "message", "text"]
FIELDS = st.sampled_from([*IDS, *OTHERS])


@pytest.fixture
def connect(connect: Connect) -> Connect:
    """Make models of a server that returns ids, unless another is named."""
    return lambda server=PROCESSED, **options: connect(server=server, **options)


async def test_messages_come_back_with_prompt_ids_sampled_ids_and_log_probabilities(
    chat_server, behave, connect
):
    chat_server.will(behave.sampled("hello", [4, 5, 2], [-0.5, -1.25, 0.0]))

    completion = await connect().complete(ASK, temperature=0.7)

    assert completion.prompt_ids == (7, 8, 9)
    assert completion.replies[0].token_ids == (4, 5, 2)
    assert completion.replies[0].log_probs == (-0.5, -1.25, 0.0)
    assert chat_server.paths == ["/v1/chat/completions"]


async def test_a_prompt_of_ids_is_sent_as_it_is(chat_server, behave, connect):
    chat_server.will(behave.sampled("hello", [4, 2], [-0.5, -0.1]))

    completion = await connect().complete(Tokens((11, 0, 12)), n=1, seed=5, max_tokens=9)

    assert chat_server.paths == ["/v1/completions"]
    sent = chat_server.requests[0]
    assert sent["prompt"] == [11, 0, 12]
    assert "messages" not in sent
    assert (sent["n"], sent["seed"], sent["max_tokens"]) == (1, 5, 9)
    assert completion.prompt_ids == (11, 0, 12)
    assert completion.replies[0].text == "hello"
    assert completion.replies[0].log_probs == (-0.5, -0.1)


async def test_nothing_filters_what_is_sampled_where_ids_are_returned(chat_server, behave, connect):
    chat_server.will(behave.sampled("hello", [4], [-0.5]))

    await connect().complete(ASK, temperature=1.0)

    sent = chat_server.requests[0]
    plain = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
    assert {key: sent[key] for key in plain} == plain


async def test_a_server_that_gives_one_reply_at_a_time_is_asked_singly(
    chat_server, behave, connect
):
    chat_server.will(behave.sampled("a", [1], [-1.0]), behave.sampled("b", [2], [-2.0]))

    completion = await connect(replace(PROCESSED, several=False)).complete(ASK, n=2, seed=10)

    assert [reply.token_ids for reply in completion.replies] == [(1,), (2,)]
    assert ["n" in sent for sent in chat_server.requests] == [False, False]
    assert [sent["seed"] for sent in chat_server.requests] == [10, 11]


async def test_sglang_is_asked_for_the_ids_of_the_prompt_by_its_own_name(
    chat_server, behave, connect
):
    chat_server.will(behave.sampled("hello", [4], [-0.5]))

    await connect(SERVERS["sglang"]).complete(ASK, temperature=0.7)

    assert chat_server.requests[0]["return_prompt_token_ids"] is True


async def test_a_server_not_declared_to_return_ids_is_not_asked_for_them(
    chat_server, behave, connect
):
    chat_server.will(behave.sampled("hello", [4], [-0.5]))

    completion = await connect(Server()).complete(ASK)

    assert completion.replies[0].token_ids == ()
    assert not {"return_token_ids", "logprobs", "top_k"} & chat_server.requests[0].keys()


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"token_ids": None}, r"the reply's ids \(token_ids\) are missing"),
        ({"token_ids": []}, r"the reply's ids \(token_ids\) are missing"),
        ({"token_ids": ["4", "5"]}, "not whole numbers"),
        ({"token_ids": [-1, 4]}, "not whole numbers"),
        ({"prompt_token_ids": None}, r"the prompt's ids \(prompt_token_ids\) are missing"),
        ({"logprobs": None}, "no log-probabilities"),
        ({"logprobs": {"content": []}}, "no log-probabilities"),
        ({"logprobs": {"content": [{"logprob": -1.0}]}}, "2 token ids and 1 log-probabilities"),
        ({"logprobs": {"content": [{"logprob": -1.0}, {}]}}, "None among the log-prob"),
        ({"logprobs": {"token_logprobs": [-1.0, float("nan")]}}, "nan among the log-prob"),
        ({"logprobs": {"token_logprobs": [-1.0, -9999.0]}}, "-9999.0 among the log-prob"),
        ({"logprobs": {"token_logprobs": [-1.0, 0.4]}}, "0.4 among the log-prob"),
        ({"usage": {"completion_tokens": 3}}, "returned 2 token ids, but counts 3"),
    ],
)
async def test_ids_that_are_declared_and_not_there_are_named_at_the_first_reply(
    chat_server, behave, connect, changes, what
):
    chat_server.will(behave.sampled("hello", [4, 5], [-0.5, -0.5], **changes))

    with pytest.raises(ModelError, match=rf"model asked at http://127\.0\.0\.1.*{what}"):
        await connect().complete(ASK)

    assert len(chat_server.requests) == 1


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(
    choice=st.dictionaries(FIELDS, ODD, max_size=2),
    around=st.dictionaries(FIELDS, ODD, max_size=2),
    chat=st.booleans(),
)
def test_whatever_a_server_writes_is_a_reply_with_ids_or_a_model_error(choice, around, chat):
    said = {"message": {"content": "hello"}} if chat else {"text": "hello"}
    ids = {"token_ids": [4], "prompt_token_ids": [1, 2], "logprobs": {"token_logprobs": [-0.5]}}
    text = json.dumps(around | {"choices": [said | ids | choice]})
    prompt = tuple(ASK) if chat else Tokens((1, 2))
    endpoint = Endpoint("asked", server=PROCESSED)
    request = EndpointRequest("/completions", prompt, {})
    try:
        body = protocol.parse_body(text)
    except ValueError:
        return

    try:
        (reply,) = protocol.read_replies(body, request, endpoint, "here")
        prompt_ids = protocol.read_prompt_ids(body, request, endpoint, "here")
    except ModelError as error:
        assert str(error).startswith("here: ")
    else:
        assert len(reply.token_ids) == len(reply.log_probs) > 0
        assert prompt_ids


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"prompt_token_ids": [1, 11, 12]}, "cut or changed on the way"),
        ({"usage": {"prompt_tokens": 1, "completion_tokens": 1}}, "read 1 of the 2 token ids it"),
    ],
)
async def test_a_prompt_of_ids_that_the_server_did_not_read_as_sent_is_named(
    chat_server, behave, connect, changes, complaint
):
    chat_server.will(behave.sampled("hello", [4], [-0.5], **changes))

    with pytest.raises(ModelError, match=complaint):
        await connect().complete(Tokens((11, 12)))


async def test_raw_log_probabilities_are_refused_where_they_are_not_the_sampled_ones(
    chat_server, behave, connect
):
    chat_server.will(behave.sampled("hello", [4], [-0.5]))
    model = connect(SERVERS["vllm"])

    for temperature in (0.0, 1.0):
        await model.complete(ASK, temperature=temperature)
    with pytest.raises(SetupError, match="--logprobs-mode processed_logprobs"):
        await model.complete(ASK, temperature=0.7)

    assert len(chat_server.requests) == 2


@pytest.mark.parametrize(
    ("declared", "prompt", "complaint"),
    [
        ({"server": SERVERS["llama.cpp"]}, Tokens((1, 2)), "reads messages, not token ids"),
        ({}, Tokens((1, 2), (PNG,)), "no images beside token ids"),
        ({"images": False}, [Message("user", "?", (PNG,))], "asked is declared not to look at im"),
    ],
)
async def test_a_prompt_the_model_is_not_declared_to_read_is_refused(
    chat_server, connect, declared, prompt, complaint
):
    with pytest.raises(SetupError, match=complaint):
        await connect(**declared).complete(prompt)
    assert chat_server.requests == []


async def test_new_weights_under_the_same_name_have_a_cache_of_their_own(
    chat_server, behave, connect
):
    chat_server.will(behave.sampled("hello", [4], [-0.5]))
    model = connect(version="step-1")

    first = await model.complete(ASK)
    model.version = "step-2"
    second = await model.complete(ASK)

    assert [sent["cache_salt"] for sent in chat_server.requests] == ["step-1", "step-2"]
    assert (first.model, second.model) == ("served@step-1", "served@step-2")


async def test_a_server_without_salted_caches_is_sent_no_salt(chat_server, behave, connect):
    chat_server.will(behave.reply("hello"))

    completion = await connect(SERVERS["llama.cpp"], version="step-1").complete(ASK)

    assert "cache_salt" not in chat_server.requests[0]
    assert completion.model == "served@step-1"


async def test_a_reply_that_the_server_broke_off_is_asked_for_again(chat_server, behave, connect):
    chat_server.will(
        behave.sampled("he", [4], [-0.5], finish_reason="abort"),
        behave.sampled("hello", [4, 5], [-0.5, -0.5]),
    )

    completion = await connect().complete(ASK)

    assert completion.replies[0].text == "hello"
    assert completion.usage["requests"] == 2
