"""What a server can do beyond text in, text out, as whoever runs it declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Dialect: TypeAlias = Literal["", "vllm", "sglang", "llama.cpp", "json_schema"]


@dataclass(frozen=True, slots=True)
class Server:
    """A declaration, held against the first reply: a server that breaks it is named as failed."""

    kind: str = "openai-compatible"
    """What it is called in messages."""
    token_ids: bool = False
    """Returns the ids of the prompt and of the reply with their log-probabilities, and takes ids
    as a prompt."""
    log_probs: Literal["processed", "raw"] = "processed"
    """Of which distribution the log-probabilities are: `processed` at the temperature of the
    sampling, `raw` at temperature 1; both under the constraint."""
    dialect: Dialect = ""
    """How it is told what a reply may be; empty: it cannot be told. A list of choices can be said
    in each."""
    grammars: bool = False
    """Reads Lark grammars as llguidance does."""
    several: bool = True
    """May give more than one reply to a request; each is asked for singly otherwise."""
    prefix_cache: bool = False
    """Does not read a prompt's beginning anew that it has just read."""
    cache_salt: bool = False
    """Keeps prefixes apart by `cache_salt`, so that new weights do not go on from old ones."""


SERVERS: Mapping[str, Server] = MappingProxyType(
    {
        server.kind: server
        for server in (
            Server(),
            Server(
                "vllm",
                token_ids=True,
                log_probs="raw",
                dialect="vllm",
                prefix_cache=True,
                cache_salt=True,
            ),
            Server("sglang", token_ids=True, dialect="sglang", prefix_cache=True, cache_salt=True),
            Server("llama.cpp", dialect="llama.cpp", several=False, prefix_cache=True),
            Server("transformers", several=False),
            Server("openai", dialect="json_schema", prefix_cache=True),
            Server("anthropic", several=False),
            Server("gemini", dialect="json_schema", several=False),
        )
    }
)
"""Declarations that hold for a server started without further flags."""
