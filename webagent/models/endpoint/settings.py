"""Settings of an endpoint: its address, timeouts and retries, and the server's capabilities."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from webagent.errors import SetupError, unknown_name
from webagent.files import read_toml
from webagent.models.model import Capabilities

Dialect: TypeAlias = Literal["", "vllm", "sglang", "llama.cpp", "json_schema"]
_PLAIN = "openai-compatible"
Seconds: TypeAlias = Annotated[float, Field(gt=0)]


@dataclass(frozen=True, slots=True)
class Server:
    """Declared capabilities of a server, verified against its first reply; else it has failed."""

    kind: str = _PLAIN
    """Name of the server in messages."""
    token_ids: bool = False
    """Returns token ids of prompt and reply with log-probabilities, and accepts ids as a prompt."""
    log_probs: Literal["processed", "raw"] = "processed"
    """Distribution of the log-probabilities: `processed`, at the sampling temperature; `raw`, at
    temperature 1. Both are under the constraint."""
    dialect: Dialect = ""
    """How constraints on a reply are sent; empty if the server supports none. Every dialect can
    express a list of choices."""
    grammars: bool = False
    """Accepts Lark grammars as llguidance does."""
    several: bool = True
    """Can return several replies per request; otherwise each is requested separately."""
    protocol: Literal["chat", "messages"] = "chat"
    """API of the server: `chat` is OpenAI's chat completions, `messages` Anthropic's."""
    cache_salt: bool = False
    """Separates cached prefixes by `cache_salt`, so that new weights reuse none of old ones."""


SERVERS: Mapping[str, Server] = MappingProxyType(
    {
        server.kind: server
        for server in (
            Server(),
            Server("vllm", token_ids=True, log_probs="raw", dialect="vllm", cache_salt=True),
            Server("sglang", token_ids=True, dialect="sglang", cache_salt=True),
            Server("llama.cpp", dialect="llama.cpp", several=False),
            Server("transformers", several=False),
            Server("openai", dialect="json_schema"),
            Server("anthropic", several=False),
            Server("anthropic-messages", protocol="messages", several=False),
            Server("ollama", several=False),
            Server("gemini", dialect="json_schema", several=False),
        )
    }
)
"""Capabilities of servers started without further flags."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model, with timeouts and retries."""

    model: str
    """The server's name of the weights; `anthropic/NAME`, `ollama/NAME` and similar names also
    select the provider (`PROVIDERS`)."""
    base_url: str = ""
    """Base URL. Default: `OPENAI_BASE_URL`, else OpenAI's own."""
    api_key: str = field(default="", repr=False)
    """API key. Default: the value of `api_key_variable`. A server of your own may need none."""
    timeout: Seconds = 120.0
    """Maximum seconds per attempt, from sending to the last byte."""
    patience: Seconds = 600.0
    """Maximum seconds per request, including all attempts and pauses."""
    attempts: Annotated[int, Field(ge=1)] = 6
    """Number of attempts before the model counts as failed."""
    first_pause: Annotated[float, Field(ge=0)] = 0.5
    """Seconds before the first retry; the pause doubles with every attempt, and a random share of
    up to half is subtracted."""
    longest_pause: Annotated[float, Field(ge=0)] = 30.0
    """Maximum seconds of a pause."""
    requests_per_minute: Annotated[float, Field(ge=0)] = 0.0
    """Maximum number of requests started per minute; 0 for no limit."""
    images: bool = True
    """Whether the model accepts images."""
    api_key_variable: str = "OPENAI_API_KEY"
    """Environment variable that contains the key."""
    server: Server = SERVERS[_PLAIN]
    """Capabilities of the server."""
    version: str = ""
    """Version of the weights, to be changed whenever the weights behind the same name change:
    stored with every reply, and used as the salt of the server's prefix cache where it accepts
    one."""
    characters_per_token: Annotated[float, Field(ge=0)] = 12.0
    """Maximum characters per token counted by the server; above it, a prompt counts as truncated. 0
    disables the check. Text of web pages has two to five."""

    @property
    def capabilities(self) -> Capabilities:
        """Return the combined capabilities of the server and the model."""
        server = self.server
        return Capabilities(
            token_ids=server.token_ids,
            images=self.images,
            constraints=bool(server.dialect) and server.grammars,
        )


def load_endpoint(path: Path) -> Endpoint:
    """Return the endpoint described by the table of a TOML file. Raises `SetupError`."""
    content = read_toml(path)
    found = content.get("endpoint")
    if not isinstance(found, dict):
        raise SetupError(
            f"{path} has no table [endpoint]; it has: {', '.join(content) or 'nothing'}"
        )
    return read_endpoint(found)


def read_endpoint(table: Mapping[str, Any]) -> Endpoint:
    """Return the endpoint described by a table; `server` is a name in `SERVERS` or a table.

    A server's table starts from the one named by its `kind`. Raises `SetupError` for an unknown key
    or server and for a value of the wrong type.
    """
    declared = table.get("server", _PLAIN)
    server = {"kind": declared} if isinstance(declared, str) else declared
    if not isinstance(server, dict):
        raise SetupError(f"endpoint setting server: expected a name or a table, found {declared!r}")
    kind = str(server.get("kind", _PLAIN))
    if kind not in SERVERS:
        raise unknown_name("server", kind, SERVERS)
    _refuse_unknown(server, Server, "server setting")
    values = {**table, "server": asdict(SERVERS[kind]) | server}
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


def _refuse_unknown(table: Mapping[str, Any], kind: type[Endpoint | Server], what: str) -> None:
    known = [known.name for known in fields(kind)]
    for key in table:
        if key not in known:
            raise unknown_name(what, key, known)
