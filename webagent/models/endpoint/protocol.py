"""What is sent to an endpoint and what comes back, held against what it is declared to do."""

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from webagent.errors import ModelError, SetupError
from webagent.models.endpoint.settings import Endpoint, Server
from webagent.models.model import Constraint, Message, Reply, Tokens

_START_WITH: Mapping[str, str] = MappingProxyType(
    {
        "vllm": "start it with --structured-outputs-config.backend guidance",
        "sglang": "start it with --grammar-backend llguidance",
        "llama.cpp": "build it with -DLLAMA_LLGUIDANCE=ON",
    }
)
"""What makes a server read Lark as llguidance does."""
_LARK = "%llguidance {}\n"
"""Written before a Lark grammar, so that it is not taken for one of another kind."""
_QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/')
_UNSAFE = re.compile(r"\\\\|\\[bf]|[\x7f-\x9f\u2028\u2029]")
"""In a JSON string: pairs of backslashes, to be passed over, and what is not safe elsewhere."""
_ESCAPES = MappingProxyType(
    {"\\b": "\\u0008", "\\f": "\\u000c"}
    | {chr(code): f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
)
_SPECIAL_TOKEN = re.compile(r"<[\[|\w]")


_PLAIN_SAMPLING = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Undoes what a model's own generation settings would filter, which training could not repeat."""
_LEAST_TO_JUDGE = 2000
"""Characters below which a prompt is too short to tell by its count of tokens that it was cut."""
_MINUS_INFINITY = -9999.0
"""What servers write for the logarithm of nothing, JSON having no infinity."""
_ROUNDING = 1e-3
"""By how much a log-probability may come out above zero."""
_ACTING_ONLY = "declare token_ids = false to use it for acting and judging only"


def format_constraint(constraint: Constraint, server: Server) -> dict[str, Any]:
    """Return the parameters that make the server hold its replies to the constraint.

    Raises `SetupError` where it cannot be told so, and for a grammar that is none.
    """
    if not server.dialect:
        raise SetupError(
            f"a {server.kind} server is not declared to hold its replies to a constraint; give the"
            " endpoint a server with a dialect, or ask without the constraint"
        )
    try:
        "".join((*constraint.choices, constraint.grammar)).encode("utf-8")
    except UnicodeEncodeError as error:
        raise SetupError(
            f"a constraint holds half a character, {error.object[error.start]!r}, which can be"
            " neither sent nor sampled; leave it out"
        ) from None
    if constraint.grammar:
        return _format_grammar(constraint.grammar, server)
    choices = list(constraint.choices)
    if server.dialect == "vllm":
        return {"structured_outputs": {"choice": choices}}
    if server.dialect == "json_schema":
        schema = {
            "type": "object",
            "properties": {"reply": {"type": "string", "enum": choices}},
            "required": ["reply"],
            "additionalProperties": False,
        }
        declared = {"name": "reply", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": declared}}
    head = f"{_LARK}start: " if server.grammars else "root ::= "
    return {_grammar_key(server): head + " | ".join(map(_literal, choices))}


def _format_grammar(grammar: str, server: Server) -> dict[str, Any]:
    if server.dialect == "json_schema":
        raise SetupError(
            f"a {server.kind} server can be held to a list of choices, not to a grammar; serve the"
            " model with vLLM, SGLang or llama.cpp for that, or load its weights in this process"
        )
    if not server.grammars:
        raise SetupError(
            f"a {server.kind} server reads Lark grammars only where it is set up for them:"
            f" {_START_WITH[server.dialect]}, then declare grammars = true"
        )
    text = _lark(grammar)
    if not _names_tokens(text):
        _matcher(text)
    if server.dialect == "vllm":
        return {"structured_outputs": {"grammar": text}}
    return {_grammar_key(server): text}


def _lark(grammar: str) -> str:
    return grammar if grammar.startswith("%llguidance") else _LARK + grammar


def _grammar_key(server: Server) -> str:
    return "ebnf" if server.dialect == "sglang" else "grammar"


def _literal(text: str) -> str:
    """Return a literal of a grammar: as in JSON, but for escapes that not all can read."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: _ESCAPES.get(found[0], found[0]), quoted)


def unwrap(text: str, server: Server) -> str:
    """Return the reply out of the object this dialect has it written in, or the text as it is."""
    if server.dialect != "json_schema":
        return text
    try:
        return str(json.loads(text)["reply"])
    except (ValueError, KeyError, TypeError):
        return text


def follows_constraint(text: str, constraint: Constraint, *, cut: bool) -> bool:
    """Whether the text is what the constraint allows, or where it was cut a beginning of it."""
    if constraint.choices:
        if cut:
            return any(choice.startswith(text) for choice in constraint.choices)
        return text in constraint.choices
    if _names_tokens(constraint.grammar):
        return True
    matcher = _matcher(_lark(constraint.grammar))
    read = bool(matcher.consume_tokens(list(text.encode("utf-8"))))
    return read and (cut or bool(matcher.is_accepting()))


def _names_tokens(grammar: str) -> bool:
    """Whether it has special tokens, which stand in no text, so that none can be held to it."""
    return bool(_SPECIAL_TOKEN.search(_QUOTED.sub("", grammar)))


def _matcher(grammar: str) -> Any:
    """Return what follows text byte by byte. Raises `SetupError` for a grammar that is none."""
    try:
        from llguidance import LLMatcher
    except ImportError as error:
        raise SetupError(
            "a grammar needs the llguidance package: pip install 'webagent-loop[llm]'"
        ) from error
    compiled = LLMatcher.grammar_from_lark(grammar)
    problem = LLMatcher.validate_grammar(compiled, _byte_tokenizer())
    if problem:
        raise SetupError(f"not a Lark grammar as llguidance reads it: {problem.strip()[:300]}")
    return LLMatcher(_byte_tokenizer(), compiled, log_level=0)


@cache
def _byte_tokenizer() -> Any:
    """Return a tokenizer of which each byte is an id."""
    from llguidance import LLTokenizer

    return LLTokenizer("byte")


def require_followed(text: str, constraint: Constraint, *, cut: bool, where: str) -> None:
    """Raise `ModelError` for a reply that the constraint does not allow."""
    if not follows_constraint(text, constraint, cut=cut):
        raise ModelError(
            f"{where}: declared to hold replies to a constraint, but this one breaks it:"
            f" {text[:120]!r}; check the server's structured output, or declare dialect = ''"
        )


@dataclass(frozen=True, slots=True)
class EndpointRequest:
    """One question to an endpoint, however often it takes to have it answered."""

    path: str
    """From the base URL on."""
    prompt: Tokens | tuple[Message, ...]
    body: Mapping[str, Any]
    """All of what is sent but the number of replies and the seed."""
    constraint: Constraint | None = None


def write_request(
    endpoint: Endpoint,
    prompt: Sequence[Message] | Tokens,
    options: Mapping[str, Any],
    constraint: Constraint | None,
    version: str,
) -> EndpointRequest:
    """Return the request, with `options` in it as they are.

    Raises `SetupError` where it asks for what the server is not declared to do.
    """
    server = endpoint.server
    asked = prompt if isinstance(prompt, Tokens) else tuple(prompt)
    body: dict[str, Any] = {"model": endpoint.model, **_prompt(endpoint, asked), **options}
    if constraint is not None:
        body |= format_constraint(constraint, server)
    if server.token_ids:
        _require_stated_temperature(endpoint, options["temperature"])
        body |= _PLAIN_SAMPLING | _ids_and_log_probs(asked, server.dialect == "sglang")
    if server.cache_salt and version:
        body["cache_salt"] = version
    path = "/completions" if isinstance(asked, Tokens) else "/chat/completions"
    return EndpointRequest(path, asked, body, constraint)


def _prompt(endpoint: Endpoint, prompt: Tokens | tuple[Message, ...]) -> dict[str, Any]:
    if isinstance(prompt, Tokens):
        if not endpoint.server.token_ids:
            raise SetupError(
                f"{endpoint.model} reads messages, not token ids; a prompt of ids needs a server"
                " declared with token_ids, such as vLLM or SGLang, or weights in this process"
            )
        if prompt.images:
            raise SetupError(
                f"{endpoint.model}: an endpoint takes no images beside token ids; ask with"
                " messages, or load the weights in this process"
            )
        return {"prompt": list(prompt.ids)}
    if not endpoint.images and any(message.images for message in prompt):
        raise SetupError(
            f"{endpoint.model} is declared not to look at images; leave them out of the messages,"
            " or declare images = true for a model that does"
        )
    return {"messages": _wire(prompt)}


def _require_stated_temperature(endpoint: Endpoint, temperature: float) -> None:
    """Refuse log-probabilities that are not of the distribution that is sampled from."""
    if endpoint.server.log_probs == "raw" and temperature not in (0.0, 1.0):
        raise SetupError(
            f"{endpoint.model}: the server is declared to return raw log-probabilities, which are"
            f" those of temperature 1, not of {temperature:g}; start vLLM with --logprobs-mode"
            " processed_logprobs and declare log_probs = 'processed', or declare token_ids = false"
            " for acting and judging only"
        )


def _ids_and_log_probs(prompt: Tokens | tuple[Message, ...], sglang: bool) -> dict[str, Any]:
    if isinstance(prompt, Tokens):
        return {"return_token_ids": True, "logprobs": 1}
    prompt_ids = {"return_prompt_token_ids": True} if sglang else {}
    return {"return_token_ids": True, "logprobs": True, **prompt_ids}


def _wire(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages as the protocol writes them; images travel as data URLs."""
    return [
        {
            "role": message.role,
            "content": _content_parts(message) if message.images else _encodable(message),
        }
        for message in messages
    ]


def _content_parts(message: Message) -> list[dict[str, Any]]:
    images = [
        {"type": "image_url", "image_url": {"url": _data_url(image)}} for image in message.images
    ]
    return [{"type": "text", "text": _encodable(message)}, *images]


def _encodable(message: Message) -> str:
    """Return the text without the lone surrogates a page may hold, which JSON in UTF-8 cannot."""
    return message.text.encode("utf-8", "replace").decode("utf-8")


def _data_url(image: bytes) -> str:
    return f"data:{_media_type(image)};base64,{base64.b64encode(image).decode('ascii')}"


def _media_type(image: bytes) -> str:
    if image.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if image[:4] == b"RIFF" and image[8:12] == b"WEBP":
        return "image/webp"
    return "image/png"


class _Said(BaseModel):
    content: str | None = None


class ResponseChoice(BaseModel):
    """One reply of a chat completion or of a completion; ids are looked at where declared."""

    message: _Said | None = None
    text: str | None = None
    finish_reason: str | None = None
    token_ids: Any = None
    prompt_token_ids: Any = None
    logprobs: Any = None

    @model_validator(mode="after")
    def _says_something(self) -> "ResponseChoice":
        if self.message is None and self.text is None:
            raise ValueError("a choice without message or text")
        return self


class ResponseUsage(BaseModel):
    """Tokens as the server counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class ResponseBody(BaseModel):
    """The part of a chat completion or of a completion that is used."""

    choices: list[ResponseChoice] = Field(min_length=1)
    model: str = ""
    usage: ResponseUsage | None = None
    prompt_token_ids: Any = None


def parse_body(text: str) -> ResponseBody:
    """Return the body of a response. Raises `ValueError` saying what is wrong with it."""
    try:
        return ResponseBody.model_validate_json(text)
    except ValidationError as error:
        raise ValueError(f"({error.errors()[0]['msg']}): {text[:120]!r}") from None


def read_replies(
    body: ResponseBody, request: EndpointRequest, endpoint: Endpoint, where: str
) -> list[Reply]:
    """Return the replies of a body. Raises `ModelError` for what was declared and is not there."""
    _require_whole_prompt(body, request, endpoint, where)
    found = [_reply(choice, request, endpoint, where) for choice in body.choices]
    if endpoint.server.token_ids:
        _require_all_counted(found, body.usage, where)
    return found


def read_prompt_ids(
    body: ResponseBody, request: EndpointRequest, endpoint: Endpoint, where: str
) -> tuple[int, ...]:
    """Return the ids the server read; empty where it is not declared to return them.

    Raises `ModelError` when they are missing, or not the ones that were sent.
    """
    if not endpoint.server.token_ids:
        return ()
    found = body.prompt_token_ids or body.choices[0].prompt_token_ids
    ids = _ids(found, "the prompt's ids (prompt_token_ids)", where)
    if isinstance(request.prompt, Tokens) and ids != request.prompt.ids:
        raise ModelError(
            f"{where}: sent {len(request.prompt.ids)} prompt ids, and the server read"
            f" {len(ids)} others; the prompt was cut or changed on the way"
        )
    return ids


def _reply(
    choice: ResponseChoice, request: EndpointRequest, endpoint: Endpoint, where: str
) -> Reply:
    content = choice.message.content if choice.message is not None else choice.text
    finish_reason = choice.finish_reason or "stop"
    text = content or ""
    if request.constraint is not None:
        text = unwrap(text, endpoint.server)
        cut = finish_reason == "length"
        require_followed(text, request.constraint, cut=cut, where=where)
    if not endpoint.server.token_ids:
        return Reply(text, finish_reason)
    ids = _ids(choice.token_ids, "the reply's ids (token_ids)", where)
    values: Any = None
    if isinstance(choice.logprobs, dict):
        content = choice.logprobs.get("content")
        values = choice.logprobs.get("token_logprobs")
        if isinstance(content, list):
            values = [item.get("logprob") if isinstance(item, dict) else None for item in content]
    if not isinstance(values, list) or not values:
        raise ModelError(
            f"{where}: declared to return token ids with log-probabilities, but the reply has no"
            f" log-probabilities (logprobs); {_ACTING_ONLY}"
        )
    if not all(_is_log_prob(value) for value in values):
        odd = next(value for value in values if not _is_log_prob(value))
        raise ModelError(
            f"{where}: {odd!r} among the log-probabilities of the sampled ids, expected finite"
            " numbers of at most 0"
        )
    log_probs = tuple(float(value) for value in values)
    if len(ids) != len(log_probs):
        raise ModelError(
            f"{where}: the reply has {len(ids)} token ids and {len(log_probs)} log-probabilities,"
            f" one each was expected; {_ACTING_ONLY}"
        )
    return Reply(text, finish_reason, ids, log_probs)


def _ids(found: Any, what: str, where: str) -> tuple[int, ...]:
    if not isinstance(found, list) or not found:
        raise ModelError(
            f"{where}: declared to return token ids, but {what} are missing; use a version of the"
            f" server that knows return_token_ids, or {_ACTING_ONLY}"
        )
    if not all(type(item) is int and item >= 0 for item in found):
        raise ModelError(f"{where}: {what} are not whole numbers: {found[:8]}")
    return tuple(found)


def _is_log_prob(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value) and _MINUS_INFINITY < value <= _ROUNDING


def _require_all_counted(found: list[Reply], usage: ResponseUsage | None, where: str) -> None:
    """The ids are all that was sampled, the one that ended a reply included."""
    ids = sum(len(reply.token_ids) for reply in found)
    counted = usage.completion_tokens if usage is not None else 0
    if counted and ids != counted:
        raise ModelError(
            f"{where}: returned {ids} token ids, but counts {counted} sampled tokens; the ids are"
            f" not what was sampled, so {_ACTING_ONLY}"
        )


def _require_whole_prompt(
    body: ResponseBody, request: EndpointRequest, endpoint: Endpoint, where: str
) -> None:
    """The server read all that it was sent, as far as its count of tokens tells."""
    counted = body.usage.prompt_tokens if body.usage is not None else 0
    if not counted:
        return
    if isinstance(request.prompt, Tokens):
        if counted < len(request.prompt.ids):
            raise ModelError(
                f"{where}: read {counted} of the {len(request.prompt.ids)} token ids it was sent;"
                " the prompt was cut. Raise the server's context length or send less"
            )
        return
    characters = sum(len(message.text) for message in request.prompt)
    limit = endpoint.characters_per_token
    if limit and characters >= _LEAST_TO_JUDGE and characters > limit * counted:
        raise ModelError(
            f"{where}: read {counted} tokens of a prompt of {characters} characters, so it seems to"
            " cut prompts. Raise the server's context length or send less; if its count is right,"
            f" raise characters_per_token above {limit:g}"
        )
