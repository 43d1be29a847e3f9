"""What an endpoint sends back, read and held against what it was asked and declared to do."""

import math
from typing import Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from webagent.errors import ModelError
from webagent.models.endpoint.dialect import require_kept, unwrap
from webagent.models.endpoint.request import Request
from webagent.models.endpoint.settings import Endpoint
from webagent.models.model import Reply, Tokens

_LEAST_TO_JUDGE = 2000
"""Characters below which a prompt is too short to tell by its count of tokens that it was cut."""
_MINUS_INFINITY = -9999.0
"""What servers write for the logarithm of nothing, JSON having no infinity."""
_ROUNDING = 1e-3
"""By how much a log-probability may come out above zero."""
_ACTING_ONLY = "declare token_ids = false to use it for acting and judging only"


class _Said(BaseModel):
    content: str | None = None


class Choice(BaseModel):
    """One reply of a chat completion or of a completion; ids are looked at where declared."""

    message: _Said | None = None
    text: str | None = None
    finish_reason: str | None = None
    token_ids: Any = None
    prompt_token_ids: Any = None
    logprobs: Any = None

    @model_validator(mode="after")
    def _says_something(self) -> "Choice":
        if self.message is None and self.text is None:
            raise ValueError("a choice without message or text")
        return self


class Usage(BaseModel):
    """Tokens as the server counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Body(BaseModel):
    """The part of a chat completion or of a completion that is used."""

    choices: list[Choice] = Field(min_length=1)
    model: str = ""
    usage: Usage | None = None
    prompt_token_ids: Any = None


def parse(text: str) -> Body:
    """The body of a response. Raises `ValueError` saying what is wrong with it."""
    try:
        return Body.model_validate_json(text)
    except ValidationError as error:
        raise ValueError(f"({error.errors()[0]['msg']}): {text[:120]!r}") from None


def replies(body: Body, request: Request, endpoint: Endpoint, where: str) -> list[Reply]:
    """The replies of a body. Raises `ModelError` for what was declared and is not there."""
    _require_whole_prompt(body, request, endpoint, where)
    found = [_reply(choice, request, endpoint, where) for choice in body.choices]
    if endpoint.server.token_ids:
        _require_all_counted(found, body.usage, where)
    return found


def prompt_ids(body: Body, request: Request, endpoint: Endpoint, where: str) -> tuple[int, ...]:
    """The ids the server read; empty where it is not declared to return them.

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


def _reply(choice: Choice, request: Request, endpoint: Endpoint, where: str) -> Reply:
    said = choice.message.content if choice.message is not None else choice.text
    finish_reason = choice.finish_reason or "stop"
    text = said or ""
    if request.constraint is not None:
        text = unwrap(text, endpoint.server)
        cut = finish_reason == "length"
        require_kept(text, request.constraint, cut=cut, where=where)
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


def _require_all_counted(found: list[Reply], usage: Usage | None, where: str) -> None:
    """The ids are all that was sampled, the one that ended a reply included."""
    ids = sum(len(reply.token_ids) for reply in found)
    counted = usage.completion_tokens if usage is not None else 0
    if counted and ids != counted:
        raise ModelError(
            f"{where}: returned {ids} token ids, but counts {counted} sampled tokens; the ids are"
            f" not what was sampled, so {_ACTING_ONLY}"
        )


def _require_whole_prompt(body: Body, request: Request, endpoint: Endpoint, where: str) -> None:
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
