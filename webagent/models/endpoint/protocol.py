"""What is sent to an endpoint and what comes back, held against what it is declared to do."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
_GRAMMAR_KEYS = {"sglang": "ebnf", "llama.cpp": "grammar"}
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

    Raises `SetupError` where the server has no such parameter, and for a grammar that is none.
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
    # Literals as in JSON, but for the escapes that not every server can read.
    quoted = (json.dumps(choice, ensure_ascii=False) for choice in choices)
    literals = (_UNSAFE.sub(lambda found: _ESCAPES.get(found[0], found[0]), q) for q in quoted)
    head = f"{_LARK}start: " if server.grammars else "root ::= "
    return {_GRAMMAR_KEYS[server.dialect]: head + " | ".join(literals)}


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
    text = _mark_as_lark(grammar)
    if not _names_tokens(text):
        _start_matcher(text)  # raises for a grammar that cannot be read
    if server.dialect == "vllm":
        return {"structured_outputs": {"grammar": text}}
    return {_GRAMMAR_KEYS[server.dialect]: text}


def _mark_as_lark(grammar: str) -> str:
    return grammar if grammar.startswith("%llguidance") else _LARK + grammar


def follows_constraint(text: str, constraint: Constraint, *, cut: bool) -> bool:
    """Whether the text is what the constraint allows, or where it was cut a beginning of it."""
    if constraint.choices:
        if cut:
            return any(choice.startswith(text) for choice in constraint.choices)
        return text in constraint.choices
    if _names_tokens(constraint.grammar):
        return True
    matcher = _start_matcher(_mark_as_lark(constraint.grammar))
    read = bool(matcher.consume_tokens(list(text.encode("utf-8"))))
    return read and (cut or bool(matcher.is_accepting()))


def _names_tokens(grammar: str) -> bool:
    """Whether it has special tokens, which stand in no text, so that none can be held to it."""
    return bool(_SPECIAL_TOKEN.search(_QUOTED.sub("", grammar)))


def _start_matcher(grammar: str) -> Any:
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
    prompt = prompt if isinstance(prompt, Tokens) else tuple(prompt)
    _require_declared(endpoint, prompt, options["temperature"])
    body: dict[str, Any] = {"model": endpoint.model, **options}
    if isinstance(prompt, Tokens):
        path = "/completions"
        body["prompt"] = list(prompt.ids)
    else:
        path = "/chat/completions"
        body["messages"] = messages = []
        for message in prompt:
            content: Any = clean_text(message.text)
            if message.images:  # they travel as data URLs
                content = [{"type": "text", "text": content}]
            for image in message.images:
                data = base64.b64encode(image).decode("ascii")
                url = f"data:image/{image_type(image)};base64,{data}"
                content.append({"type": "image_url", "image_url": {"url": url}})
            messages.append({"role": message.role, "content": content})
    if constraint is not None:
        body |= format_constraint(constraint, server)
    if server.token_ids:
        body |= _PLAIN_SAMPLING
        body |= {"return_token_ids": True, "logprobs": 1 if isinstance(prompt, Tokens) else True}
        if server.dialect == "sglang" and not isinstance(prompt, Tokens):
            body["return_prompt_token_ids"] = True
    if server.cache_salt and version:
        body["cache_salt"] = version
    return EndpointRequest(path, prompt, body, constraint)


def _require_declared(
    endpoint: Endpoint, prompt: Tokens | tuple[Message, ...], temperature: float
) -> None:
    """Raise `SetupError` for a prompt or a temperature that the endpoint is not declared for."""
    server = endpoint.server
    if isinstance(prompt, Tokens):
        if not server.token_ids:
            raise SetupError(
                f"{endpoint.model} reads messages, not token ids; a prompt of ids needs a server"
                " declared with token_ids, such as vLLM or SGLang, or weights in this process"
            )
        if prompt.images:
            raise SetupError(
                f"{endpoint.model}: an endpoint takes no images beside token ids; ask with"
                " messages, or load the weights in this process"
            )
    elif not endpoint.images and any(message.images for message in prompt):
        raise SetupError(
            f"{endpoint.model} is declared not to look at images; leave them out of the messages,"
            " or declare images = true for a model that does"
        )
    # Raw log-probabilities are not those of the distribution that was sampled from.
    if server.token_ids and server.log_probs == "raw" and temperature not in (0.0, 1.0):
        raise SetupError(
            f"{endpoint.model}: the server is declared to return raw log-probabilities, which are"
            f" those of temperature 1, not of {temperature:g}; start vLLM with --logprobs-mode"
            " processed_logprobs and declare log_probs = 'processed', or declare token_ids = false"
            " for acting and judging only"
        )


def clean_text(text: str) -> str:
    """Return text that JSON in UTF-8 can hold: a page may have lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")


def image_type(image: bytes) -> str:
    """Return `png`, `jpeg` or `webp`, by how the file begins."""
    if image.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    return "webp" if image[:4] == b"RIFF" and image[8:12] == b"WEBP" else "png"


class ResponseMessage(BaseModel):
    """What the model says, and what it thought and called beside it."""

    content: str | list[dict[str, Any]] | None = None
    """Text, or parts of it as Mistral writes them."""
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: Any = None

    @property
    def text(self) -> str:
        """The text of all parts, and below it the tools that were called, as models write them."""
        text = self.content or ""
        if isinstance(text, list):
            text = "".join(str(part.get("text", "")) for part in text)
        called = []
        for call in self.tool_calls if isinstance(self.tool_calls, list) else ():
            given = call.get("function", call) if isinstance(call, dict) else {}
            if isinstance(given, dict) and "name" in given:
                arguments = given.get("arguments", given.get("input", {}))
                written = json.dumps({"name": given["name"], "arguments": arguments})
                called.append(f"<tool_call>{written}</tool_call>")
        return "\n".join(filter(None, [text, *called]))


class ResponseChoice(BaseModel):
    """One reply of a chat completion or of a completion; ids are looked at where declared."""

    message: ResponseMessage | None = None
    text: str | None = None
    finish_reason: str | None = None
    token_ids: Any = None
    prompt_token_ids: Any = None
    logprobs: Any = None

    @model_validator(mode="after")
    def _require_text(self) -> "ResponseChoice":
        if self.message is None and self.text is None:
            raise ValueError("a choice without message or text")
        return self


class ResponseUsage(BaseModel):
    """Tokens as the server counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: dict[str, Any] | None = None
    prompt_cache_hit_tokens: int = 0
    """As DeepSeek writes them."""

    @property
    def cached(self) -> int:
        """The part of the prompt that was read from a cache."""
        details = (self.prompt_tokens_details or {}).get("cached_tokens")
        return details if isinstance(details, int) else self.prompt_cache_hit_tokens


class ResponseBody(BaseModel):
    """The part of a chat completion or of a completion that is used."""

    choices: list[ResponseChoice] = Field(min_length=1)
    model: str = ""
    usage: ResponseUsage | None = None
    prompt_token_ids: Any = None
    metadata: Any = None

    @property
    def weight_version(self) -> str:
        """Return the weights that replied, where the server names them as SGLang does."""
        found = self.metadata.get("weight_version") if isinstance(self.metadata, dict) else None
        return str(found or "")


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
    read = body.usage.prompt_tokens if body.usage is not None else 0
    if isinstance(request.prompt, Tokens):
        if 0 < read < len(request.prompt.ids):
            raise ModelError(
                f"{where}: read {read} of the {len(request.prompt.ids)} token ids it was sent;"
                " the prompt was cut. Raise the server's context length or send less"
            )
    elif read and endpoint.characters_per_token:
        characters = sum(len(message.text) for message in request.prompt)
        limit = endpoint.characters_per_token
        if characters >= _LEAST_TO_JUDGE and characters > limit * read:
            raise ModelError(
                f"{where}: read {read} tokens of a prompt of {characters} characters, so it seems"
                " to cut prompts. Raise the server's context length or send less; if its count is"
                f" right, raise characters_per_token above {limit:g}"
            )
    replies = [_read_reply(choice, request, endpoint, where) for choice in body.choices]
    # The ids are all that was sampled, the one that ended a reply included.
    ids = sum(len(reply.token_ids) for reply in replies)
    counted = body.usage.completion_tokens if body.usage is not None else 0
    if endpoint.server.token_ids and counted and ids != counted:
        raise ModelError(
            f"{where}: returned {ids} token ids, but counts {counted} sampled tokens; the ids are"
            f" not what was sampled, so {_ACTING_ONLY}"
        )
    return replies


def read_prompt_ids(
    body: ResponseBody, request: EndpointRequest, endpoint: Endpoint, where: str
) -> tuple[int, ...]:
    """Return the ids the server read; empty where it is not declared to return them.

    Raises `ModelError` when they are missing, or not the ones that were sent.
    """
    if not endpoint.server.token_ids:
        return ()
    found = body.prompt_token_ids or body.choices[0].prompt_token_ids
    ids = _read_ids(found, "the prompt's ids (prompt_token_ids)", where)
    if isinstance(request.prompt, Tokens) and ids != request.prompt.ids:
        raise ModelError(
            f"{where}: sent {len(request.prompt.ids)} prompt ids, and the server read"
            f" {len(ids)} others; the prompt was cut or changed on the way"
        )
    return ids


def _read_reply(
    choice: ResponseChoice, request: EndpointRequest, endpoint: Endpoint, where: str
) -> Reply:
    message = choice.message or ResponseMessage(content=choice.text)
    text, thought = message.text, message.reasoning_content or message.reasoning or ""
    finish_reason = choice.finish_reason or "stop"
    if request.constraint is not None:
        if endpoint.server.dialect == "json_schema":
            with suppress(ValueError, KeyError, TypeError):
                text = str(json.loads(text)["reply"])
        if not follows_constraint(text, request.constraint, cut=finish_reason == "length"):
            raise ModelError(
                f"{where}: declared to hold replies to a constraint, but this one breaks it:"
                f" {text[:120]!r}; check the server's structured output, or declare dialect = ''"
            )
    if not endpoint.server.token_ids:
        return Reply(text, finish_reason, reasoning=thought)
    ids = _read_ids(choice.token_ids, "the reply's ids (token_ids)", where)
    # A chat completion has them as `content`, a completion as `token_logprobs`.
    found = choice.logprobs if isinstance(choice.logprobs, dict) else {}
    values = found.get("token_logprobs")
    if isinstance(items := found.get("content"), list):
        values = [item.get("logprob") if isinstance(item, dict) else None for item in items]
    if not isinstance(values, list) or not values:
        raise ModelError(
            f"{where}: declared to return token ids with log-probabilities, but the reply has no"
            f" log-probabilities (logprobs); {_ACTING_ONLY}"
        )
    wrong = (
        value
        for value in values
        if type(value) not in (int, float) or not _MINUS_INFINITY < value <= _ROUNDING
    )
    for value in wrong:
        raise ModelError(
            f"{where}: {value!r} among the log-probabilities of the sampled ids, expected"
            " finite numbers of at most 0"
        )
    log_probs = tuple(map(float, values))
    if len(ids) != len(log_probs):
        raise ModelError(
            f"{where}: the reply has {len(ids)} token ids and {len(log_probs)} log-probabilities,"
            f" one each was expected; {_ACTING_ONLY}"
        )
    return Reply(text, finish_reason, ids, log_probs, thought)


def _read_ids(found: Any, what: str, where: str) -> tuple[int, ...]:
    if not isinstance(found, list) or not found:
        raise ModelError(
            f"{where}: declared to return token ids, but {what} are missing; use a version of the"
            f" server that knows return_token_ids, or {_ACTING_ONLY}"
        )
    if not all(type(item) is int and item >= 0 for item in found):
        raise ModelError(f"{where}: {what} are not whole numbers: {found[:8]}")
    return tuple(found)
