"""Constraints in each server's words, and prompts that are longer than a server reads."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.webagent.models.conftest import Connect
from webagent.errors import ModelError, SetupError
from webagent.models import SERVERS, Constraint, Endpoint, EndpointModel, Message, Server
from webagent.models.endpoint.protocol import follows_constraint, format_constraint

ASK = [Message("user", "Yes or no?")]
CHOICES = Constraint(choices=("click(1)", 'fill(2, "ü\n")'))
LARK = 'start: "Action: " /[a-z]+/ "(" /[0-9]+/ ")"'
GRAMMAR = Constraint(grammar=LARK)
TEXTS = st.text(st.sampled_from("abfnu\\\"'/\b\f\n\x7f") | st.characters(codec="utf-8"), max_size=8)


@pytest.fixture
def connect(connect: Connect) -> Connect:
    """Make models of a known server, declared as it is but for the ids."""

    def make(kind: str, *, grammars: bool = False, **options) -> EndpointModel:
        return connect(server=replace(SERVERS[kind], token_ids=False, grammars=grammars), **options)

    return make


@pytest.mark.parametrize(
    ("kind", "grammars", "said"),
    [
        ("vllm", False, {"structured_outputs": {"choice": list(CHOICES.choices)}}),
        ("sglang", False, {"ebnf": 'root ::= "click(1)" | "fill(2, \\"ü\\n\\")"'}),
        ("llama.cpp", False, {"grammar": 'root ::= "click(1)" | "fill(2, \\"ü\\n\\")"'}),
        ("sglang", True, {"ebnf": '%llguidance {}\nstart: "click(1)" | "fill(2, \\"ü\\n\\")"'}),
    ],
)
async def test_choices_are_said_in_the_servers_own_words(
    chat_server, behave, connect, kind, grammars, said
):
    chat_server.will(behave.reply("click(1)"))

    completion = await connect(kind, grammars=grammars).complete(ASK, constraint=CHOICES)

    assert completion.replies[0].text == "click(1)"
    assert {key: chat_server.requests[0][key] for key in said} == said


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(choices=st.lists(TEXTS, min_size=1, max_size=4, unique=True), other=TEXTS)
def test_the_grammar_said_for_choices_derives_them_and_nothing_else(choices, other):
    server = replace(SERVERS["sglang"], grammars=True)

    grammar = Constraint(
        grammar=format_constraint(Constraint(choices=tuple(choices)), server)["ebnf"]
    )

    assert all(follows_constraint(choice, grammar, cut=False) for choice in choices)
    assert follows_constraint(other, grammar, cut=False) == (other in choices)


async def test_half_a_character_in_a_constraint_is_named(chat_server, connect):
    with pytest.raises(SetupError, match="half a character"):
        await connect("vllm").complete(ASK, constraint=Constraint(choices=("a", "b\ud83d")))


@pytest.mark.parametrize("kind", ["openai", "gemini"])
async def test_choices_of_a_hosted_model_are_written_in_an_object_and_read_out_of_it(
    chat_server, behave, connect, kind
):
    chat_server.will(behave.reply(json.dumps({"reply": CHOICES.choices[1]})))

    completion = await connect(kind).complete(ASK, constraint=CHOICES)

    assert completion.replies[0].text == CHOICES.choices[1]
    schema = chat_server.requests[0]["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["reply"]["enum"] == list(CHOICES.choices)


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("vllm", lambda sent: sent["structured_outputs"]["grammar"]),
        ("sglang", lambda sent: sent["ebnf"]),
        ("llama.cpp", lambda sent: sent["grammar"]),
    ],
)
async def test_a_lark_grammar_is_marked_as_one(chat_server, behave, connect, kind, place):
    chat_server.will(behave.reply("Action: click(12)"))
    model = connect(kind, grammars=True)

    completion = await model.complete(ASK, constraint=GRAMMAR)

    assert completion.replies[0].text == "Action: click(12)"
    assert place(chat_server.requests[0]) == f"%llguidance {{}}\n{LARK}"
    assert model.capabilities.constraints


@pytest.mark.parametrize(
    ("kind", "constraint", "advice"),
    [
        ("vllm", GRAMMAR, "--structured-outputs-config.backend guidance"),
        ("sglang", GRAMMAR, "--grammar-backend llguidance"),
        ("llama.cpp", GRAMMAR, "-DLLAMA_LLGUIDANCE=ON"),
        ("openai", GRAMMAR, "a list of choices, not to a grammar"),
        ("anthropic", GRAMMAR, "not declared to hold its replies"),
        ("transformers", GRAMMAR, "not declared to hold its replies"),
        ("openai-compatible", CHOICES, "not declared to hold its replies"),
    ],
)
async def test_a_constraint_that_a_server_cannot_hold_to_is_refused_with_what_to_do(
    chat_server, connect, kind, constraint, advice
):
    model = connect(kind)

    with pytest.raises(SetupError, match=advice):
        await model.complete(ASK, constraint=constraint)

    assert not model.capabilities.constraints
    assert chat_server.requests == []


async def test_a_grammar_that_is_none_is_refused_before_anything_is_sent(chat_server, connect):
    with pytest.raises(SetupError, match=r"not a Lark grammar.*nowhere"):
        await connect("vllm", grammars=True).complete(
            ASK, constraint=Constraint(grammar="start: nowhere")
        )
    assert chat_server.requests == []


@pytest.mark.parametrize(
    ("constraint", "reply"),
    [
        *((CHOICES, text) for text in ("click(2)", "", "click(1) ", "Sure: click(1)")),
        *((GRAMMAR, text) for text in ("Action: click(x)", "", "Action: click(1", "click(1)")),
        (GRAMMAR, "Action: click(1)\n"),
    ],
)
async def test_a_reply_that_breaks_its_constraint_is_named_at_once(
    chat_server, behave, connect, constraint, reply
):
    chat_server.will(behave.reply(reply))

    with pytest.raises(ModelError, match=r"declared to hold replies to a constraint.*breaks it"):
        await connect("vllm", grammars=True).complete(ASK, constraint=constraint)

    assert len(chat_server.requests) == 1


@pytest.mark.parametrize(
    ("constraint", "reply"), [(CHOICES, "cli"), (GRAMMAR, "Action: cl"), (GRAMMAR, "")]
)
async def test_a_reply_that_was_cut_may_be_a_beginning_of_what_is_allowed(
    chat_server, behave, connect, constraint, reply
):
    chat_server.will(behave.reply(reply, finish_reason="length"))

    completion = await connect("vllm", grammars=True).complete(ASK, constraint=constraint)

    assert completion.replies[0].finish_reason == "length"


async def test_a_grammar_with_special_tokens_is_not_held_against_text_that_lacks_them(
    chat_server, behave, connect
):
    chat_server.will(behave.reply("thought click"))

    await connect("vllm", grammars=True).complete(
        ASK, constraint=Constraint(grammar='start: <think> "thought " </think> "click"')
    )


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"code": "context_length_exceeded", "message": "Too many."}),
        (
            400,
            {
                "message": "This model's maximum context length is 4096 tokens. However, you"
                " requested 5000 tokens (4000 in the messages, 1000 in the completion).",
                "param": "max_tokens",
            },
        ),
        (400, {"message": "The input (900 tokens) is longer than the model's context length (8)."}),
        (400, {"type": "exceed_context_size_error", "message": "request (9) exceeds"}),
        (500, {"message": "the request exceeds the available context size. try increasing it"}),
        (400, {"message": "prompt is too long: 210000 tokens > 200000 maximum"}),
        (400, {"message": "The input token count (9) exceeds the maximum number of tokens (8)."}),
        (422, {"message": "`inputs` tokens + `max_new_tokens` must be <= 4096."}),
    ],
)
async def test_a_prompt_too_long_for_the_server_is_named_and_not_sent_again(
    chat_server, behave, connect, status, error
):
    chat_server.will(behave.status(status, **error))

    with pytest.raises(ModelError, match="do not fit the server's context"):
        await connect("vllm").complete(ASK)

    assert len(chat_server.requests) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"detail": "Unexpected fields in the request"}', "status 422: Unexpected fields"),
        (b'{"object": "error", "message": "no such field"}', "status 422: no such field"),
        (b'{"detail": [{"msg": "Input should be less"}]}', "status 422: .*Input should be less"),
        (b'{"error": "`inputs` tokens + `max_new_tokens` must be <= 9"}', "fit .*`inputs` tokens"),
        (b"Malformed", "status 422: Malformed"),
        (b"", "status 422: "),
        (b"[]", "status 422: "),
    ],
)
async def test_a_refusal_is_told_in_the_servers_words_whatever_their_form(
    chat_server, connect, body, said
):
    chat_server.will(lambda handler, _: handler.send(body, 422))

    with pytest.raises(ModelError, match=said):
        await connect("vllm").complete(ASK)


async def test_a_refused_value_of_max_tokens_is_not_taken_for_a_long_prompt(
    chat_server, behave, connect
):
    message = "max_tokens is too large. This model supports at most 16384 completion tokens."
    chat_server.will(behave.status(400, message=message, param="max_tokens"), behave.reply("ok"))

    completion = await connect("vllm").complete(ASK)

    assert completion.replies[0].text == "ok"


async def test_a_prompt_that_was_cut_in_silence_is_named_where_tokens_are_counted(
    chat_server, behave, connect
):
    chat_server.will(behave.sampled("hello", [4], [-0.5], usage={"prompt_tokens": 2048}))
    page = [Message("user", "a long page " * 5000)]

    with pytest.raises(ModelError, match=r"read 2048 tokens of a prompt of 60000 characters"):
        await connect("vllm").complete(page)
    await connect("vllm", characters_per_token=0).complete(page)
    await connect("vllm", characters_per_token=40).complete(page)
    chat_server.will(behave.sampled("hello", [4], [-0.5], usage={}))
    assert (await connect("vllm").complete(page)).replies[0].text == "hello"


def test_what_a_server_can_do_is_what_its_model_is_known_to_do():
    endpoint = Endpoint("asked", images=False, server=replace(SERVERS["vllm"], grammars=True))
    capabilities = EndpointModel(endpoint).capabilities
    assert (capabilities.token_ids, capabilities.constraints) == (True, True)
    assert not capabilities.images
    plain = EndpointModel(Endpoint("asked", server=Server())).capabilities
    assert (plain.token_ids, plain.constraints) == (False, False)
