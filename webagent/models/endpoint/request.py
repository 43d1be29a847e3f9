"""What is sent to an endpoint: messages or ids, images as data URLs, and what is asked for."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webagent.errors import SetupError
from webagent.models.endpoint.dialect import say
from webagent.models.endpoint.settings import Endpoint
from webagent.models.model import Constraint, Message, Tokens

_PLAIN_SAMPLING = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Undoes what a model's own generation settings would filter, which training could not repeat."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to an endpoint, however often it takes to have it answered."""

    path: str
    """From the base URL on."""
    prompt: Tokens | tuple[Message, ...]
    body: Mapping[str, Any]
    """All of what is sent but the number of replies and the seed."""
    constraint: Constraint | None = None


def write(
    endpoint: Endpoint,
    prompt: Sequence[Message] | Tokens,
    options: Mapping[str, Any],
    constraint: Constraint | None,
    version: str,
) -> Request:
    """The request, with `options` in it as they are.

    Raises `SetupError` where it asks for what the server is not declared to do.
    """
    server = endpoint.server
    asked = prompt if isinstance(prompt, Tokens) else tuple(prompt)
    body: dict[str, Any] = {"model": endpoint.model, **_prompt(endpoint, asked), **options}
    if constraint is not None:
        body |= say(constraint, server)
    if server.token_ids:
        _require_stated_temperature(endpoint, options["temperature"])
        body |= _PLAIN_SAMPLING | _ids_and_log_probs(asked, server.dialect == "sglang")
    if server.cache_salt and version:
        body["cache_salt"] = version
    path = "/completions" if isinstance(asked, Tokens) else "/chat/completions"
    return Request(path, asked, body, constraint)


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
    """The messages as the protocol writes them; images travel as data URLs."""
    return [
        {"role": message.role, "content": _parts(message) if message.images else _text(message)}
        for message in messages
    ]


def _parts(message: Message) -> list[dict[str, Any]]:
    images = [
        {"type": "image_url", "image_url": {"url": _data_url(image)}} for image in message.images
    ]
    return [{"type": "text", "text": _text(message)}, *images]


def _text(message: Message) -> str:
    """The text without the lone surrogates a page may hold, which JSON in UTF-8 cannot."""
    return message.text.encode("utf-8", "replace").decode("utf-8")


def _data_url(image: bytes) -> str:
    return f"data:{_media_type(image)};base64,{base64.b64encode(image).decode('ascii')}"


def _media_type(image: bytes) -> str:
    if image.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if image[:4] == b"RIFF" and image[8:12] == b"WEBP":
        return "image/webp"
    return "image/png"
