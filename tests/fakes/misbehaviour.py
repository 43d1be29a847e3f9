"""How each provider's server fails: its statuses, headers and bodies, as its documents show them.

https://platform.openai.com/docs/guides/error-codes, https://platform.claude.com/docs/en/api/errors,
https://ai.google.dev/gemini-api/docs/troubleshooting and https://docs.ollama.com/api/errors.
Limits, ids and times in them are made up.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tests.fakes.chat_server import Behave, Behaviour, completion, counted

PROXY_PAGE = b"""<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>
<center><h1>502 Bad Gateway</h1></center><hr>nginx</body></html>"""
SIGN_IN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>"
WRONG_KEY = (
    "Incorrect API key provided: wrong. You can find your API key at"
    " https://platform.openai.com/account/api-keys."
)
NO_QUOTA = "You exceeded your current quota, please check your plan and billing details."


def refuse(status: int, body: Any, **headers: str) -> Behaviour:
    """A status with a body; `retry_after` and others become headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, _: handler.send(json.dumps(body).encode(), status, named)


def _openai(status: int, message: str, code: str | None, **headers: str) -> Behaviour:
    kind = "invalid_request_error" if status < 429 else "requests"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return refuse(status, {"error": error}, **headers)


def _anthropic(status: int, kind: str, message: str, **headers: str) -> Behaviour:
    return refuse(status, {"type": "error", "error": {"type": kind, "message": message}}, **headers)


def _gemini(status: int, name: str, message: str, detail: Mapping[str, str]) -> Behaviour:
    error = {"code": status, "message": message, "status": name, "details": [detail]}
    return refuse(status, [{"error": error}])


def _ollama(status: int, message: str) -> Behaviour:
    error = {"message": message, "type": "api_error", "param": None, "code": None}
    return refuse(status, {"error": error})


def _google(kind: str) -> str:
    return f"type.googleapis.com/google.rpc.{kind}"


def say(text: str) -> Behaviour:
    """A good response with this text, in the protocol of whoever asks."""

    def behave(handler: Any, body: dict[str, Any]) -> None:
        if handler.path.endswith("/messages"):
            usage = {"input_tokens": counted(body), "output_tokens": 7}
            content = [{"type": "text", "text": text}]
            said = {"content": content, "model": "m", "stop_reason": "end_turn", "usage": usage}
            handler.send(json.dumps(said).encode())
        else:
            handler.send(completion([text], prompt_tokens=counted(body)))

    return behave


EVERYWHERE: Mapping[str, Behaviour] = MappingProxyType(
    {
        "a proxy's page": Behave.raw(SIGN_IN),
        "a proxy's error": lambda handler, _: handler.send(PROXY_PAGE, 502),
        "other JSON": Behave.raw(b'{"status": "ok"}'),
        "unreadable": say("I would be glad to help you with that!"),
        "empty": say(""),
        "silence": Behave.slow(),
    }
)
"""What any server may do."""

PROVIDERS: Mapping[str, Mapping[str, Behaviour]] = MappingProxyType(
    {
        "openai": {
            "wrong key": _openai(401, WRONG_KEY, "invalid_api_key"),
            "unknown model": _openai(
                404,
                "The model `m` does not exist or you do not have access to it.",
                "model_not_found",
            ),
            "responses only": _openai(
                404,
                "This model is only supported in v1/responses and not in v1/chat/completions.",
                None,
            ),
            "rate limit": _openai(
                429,
                "Rate limit reached for m on requests per min (RPM): Limit 3, Used 3, Requested"
                " 1. Please try again in 20s.",
                "rate_limit_exceeded",
                retry_after="20",
            ),
            "spent": _openai(429, NO_QUOTA, "insufficient_quota"),
            "overload": _openai(
                503, "The engine is currently overloaded, please try again later.", None
            ),
        },
        "anthropic": {
            "wrong key": _anthropic(401, "authentication_error", "invalid x-api-key"),
            "unknown model": _anthropic(404, "not_found_error", "model: m"),
            "rate limit": _anthropic(
                429,
                "rate_limit_error",
                "This request would exceed your organization's rate limit"
                " of 50 requests per minute.",
                retry_after="20",
            ),
            "spent": _anthropic(
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the"
                " Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
            ),
            "overload": _anthropic(529, "overloaded_error", "Overloaded"),
        },
        "gemini": {
            "wrong key": _gemini(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
                {"@type": _google("ErrorInfo"), "reason": "API_KEY_INVALID"},
            ),
            "unknown model": _gemini(
                404,
                "NOT_FOUND",
                "models/m is not found for API version v1main, or is not"
                " supported for generateContent.",
                {},
            ),
            "rate limit": _gemini(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, please check your plan"
                " and billing details. Please retry in 20s.",
                {"@type": _google("RetryInfo"), "retryDelay": "20s"},
            ),
            "overload": _gemini(
                503, "UNAVAILABLE", "The model is overloaded. Please try again later.", {}
            ),
        },
        "ollama": {
            "unknown model": _ollama(404, 'model "m" not found, try pulling it first'),
            "too large": _ollama(
                500, "model requires more system memory (8.4 GiB) than is available (3.9 GiB)"
            ),
            "overload": _ollama(
                503, "server busy, please try again.  maximum pending requests exceeded"
            ),
        },
    }
)
"""What each provider's server says, by what is wrong."""
