"""Where an endpoint is, how patient to be with it and what its server can do."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from webagent.errors import SetupError, unknown_name
from webagent.models.model import Capabilities

Dialect: TypeAlias = Literal["", "vllm", "sglang", "llama.cpp", "json_schema"]
_PLAIN = "openai-compatible"
Seconds: TypeAlias = Annotated[float, Field(gt=0)]


@dataclass(frozen=True, slots=True)
class Server:
    """A declaration, held against the first reply: a server that breaks it is named as failed."""

    kind: str = _PLAIN
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
    protocol: Literal["chat", "messages"] = "chat"
    """How it is spoken to: `chat` is OpenAI's chat completions, `messages` Anthropic's."""
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
            Server("anthropic-messages", protocol="messages", several=False),
            Server("ollama", several=False, prefix_cache=True),
            Server("gemini", dialect="json_schema", several=False),
        )
    }
)
"""Declarations that hold for a server started without further flags."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model is, and how patient to be with it."""

    model: str
    """The name the server knows the weights by; `anthropic/NAME`, `ollama/NAME` and so on say where
    they are, too (`PROVIDERS`)."""
    base_url: str = ""
    """Empty: `OPENAI_BASE_URL`, and without that OpenAI's own."""
    api_key: str = field(default="", repr=False)
    """Empty: looked up in `api_key_variable`. A server with an address of its own may need none."""
    timeout: Seconds = 120.0
    """Seconds that one attempt may take, from sending to the last byte."""
    patience: Seconds = 600.0
    """Seconds that a request may take with all its attempts and pauses."""
    attempts: Annotated[int, Field(ge=1)] = 6
    """How often to try before the model counts as failed."""
    first_pause: Annotated[float, Field(ge=0)] = 0.5
    """Seconds; the pause doubles with every attempt, and a random half of it is taken off."""
    longest_pause: Annotated[float, Field(ge=0)] = 30.0
    requests_per_minute: Annotated[float, Field(ge=0)] = 0.0
    """At most so many are begun; 0: as many as the server takes."""
    images: bool = True
    """Whether the model looks at images."""
    api_key_variable: str = "OPENAI_API_KEY"
    """Environment variable that holds the key."""
    server: Server = SERVERS[_PLAIN]
    """What the server can do."""
    version: str = ""
    """Changes whenever the weights behind the same name do: stored with every reply, and the salt
    of the server's prefix cache where it takes one."""
    characters_per_token: Annotated[float, Field(ge=0)] = 12.0
    """A prompt of more characters for each token that the server counts was cut; 0: not looked
    at. Text of web pages has two to five."""

    @property
    def capabilities(self) -> Capabilities:
        """What the server and the model can do together."""
        server = self.server
        return Capabilities(
            token_ids=server.token_ids,
            images=self.images,
            constraints=bool(server.dialect) and server.grammars,
            prefix_cache=server.prefix_cache,
        )


def load_endpoint(path: Path, table: str = "endpoint") -> Endpoint:
    """Return the endpoint that a table of a TOML file describes. Raises `SetupError`."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SetupError(f"cannot read the endpoint file {path}: {error.strerror}") from error
    except ValueError as error:
        raise SetupError(f"{path} is not TOML: {error}") from error
    found = content.get(table)
    if not isinstance(found, dict):
        raise SetupError(
            f"{path} has no table [{table}]; it has: {', '.join(content) or 'nothing'}"
        )
    return read_endpoint(found)


def read_endpoint(table: Mapping[str, Any]) -> Endpoint:
    """Return the endpoint that a table describes, `server` being a name of `SERVERS` or a table.

    A server's table starts from the one that its `kind` names. Raises `SetupError` for a key or a
    server that is not known and for a value of the wrong kind.
    """
    values = {**table, "server": _read_server(table.get("server", _PLAIN))}
    _refuse_unknown(values, Endpoint, "endpoint setting")
    try:
        # As JSON, since the strict reading of Python objects takes no mapping for a dataclass.
        text = json.dumps(values, default=str)
        return TypeAdapter(Endpoint).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "endpoint"
        found = "" if first["type"] == "missing" else f", found {first['input']!r}"
        raise SetupError(f"endpoint setting {where}: {first['msg']}{found}") from error


def _read_server(declared: object) -> dict[str, Any]:
    table = {"kind": declared} if isinstance(declared, str) else declared
    if not isinstance(table, dict):
        raise SetupError(f"endpoint setting server: expected a name or a table, found {declared!r}")
    kind = str(table.get("kind", _PLAIN))
    if kind not in SERVERS:
        raise unknown_name("server", kind, SERVERS)
    _refuse_unknown(table, Server, "server setting")
    return asdict(SERVERS[kind]) | table


def _refuse_unknown(table: Mapping[str, Any], kind: type[Endpoint | Server], what: str) -> None:
    known = [known.name for known in fields(kind)]
    for key in table:
        if key not in known:
            raise unknown_name(what, key, known)
