"""Models by name: which address, key and protocol a name such as `anthropic/NAME` stands for."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from webagent.errors import UsageError
from webagent.models.endpoint.settings import SERVERS, Endpoint

ENV_FILE = Path(".env")
"""Read in the working folder, for what the environment does not say."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A service, or a program on this machine, that serves models."""

    base_url: str
    """Where it answers; the variable `<NAME>_BASE_URL` names another place. Empty: only there."""
    keys: tuple[str, ...] = ()
    """Variables that may hold its key, the first one first; none where it wants no key."""
    server: str = "openai-compatible"
    """Name in `SERVERS` of what it can do."""
    base_url_variable: str = ""
    """A variable of its own for the address, where its other programs read one."""
    path: str = ""
    """What stands behind the address in that variable."""


PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        "openai": Provider("https://api.openai.com/v1", ("OPENAI_API_KEY",), "openai"),
        "anthropic": Provider(
            "https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",), "anthropic-messages"
        ),
        "gemini": Provider(
            "https://generativelanguage.googleapis.com/v1beta/openai",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            "gemini",
        ),
        "openrouter": Provider("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
        "azure": Provider(
            "", ("AZURE_OPENAI_API_KEY",), "openai", "AZURE_OPENAI_ENDPOINT", "/openai/v1"
        ),
        "deepseek": Provider("https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",)),
        "fireworks": Provider("https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",)),
        "groq": Provider("https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
        "mistral": Provider("https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
        "together": Provider("https://api.together.xyz/v1", ("TOGETHER_API_KEY",)),
        "xai": Provider("https://api.x.ai/v1", ("XAI_API_KEY",)),
        "llama.cpp": Provider("http://localhost:8080/v1", server="llama.cpp"),
        "lmstudio": Provider("http://localhost:1234/v1"),
        "ollama": Provider(
            "http://localhost:11434/v1",
            server="ollama",
            base_url_variable="OLLAMA_HOST",
            path="/v1",
        ),
        "sglang": Provider("http://localhost:30000/v1", server="sglang"),
        "vllm": Provider("http://localhost:8000/v1", server="vllm"),
    }
)
"""By what stands before the first slash of a model's name."""


def read_variable(name: str) -> str:
    """Return a variable of the environment, else of `.env` in the working folder, else nothing.

    The file has lines `NAME=value`; quotes around a value and `export` before a name are left out.
    """
    if found := os.environ.get(name, ""):
        return found
    try:
        lines = ENV_FILE.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    for line in lines:
        key, is_set, value = line.strip().removeprefix("export ").partition("=")
        if is_set and key.strip() == name:
            value = value.strip()
            is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            found = value[1:-1] if is_quoted else value.partition(" #")[0].strip()
    return found


def resolve_provider(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with address, key and server of the provider that its name begins with.

    An address that is given, here or by `OPENAI_BASE_URL`, wins: the whole name is asked for
    there, as names on hubs and routers have such beginnings, too. Raises `UsageError` for a
    provider whose address is not said.
    """
    prefix, _, model = endpoint.model.partition("/")
    provider = PROVIDERS.get(prefix)
    if not model or provider is None or endpoint.base_url or read_variable("OPENAI_BASE_URL"):
        return endpoint
    variable = f"{prefix.upper().replace('.', '_')}_BASE_URL"
    base_url = read_variable(variable)
    place = read_variable(provider.base_url_variable) if provider.base_url_variable else ""
    if not base_url and place:
        base_url = (place if "://" in place else f"http://{place}").rstrip("/") + provider.path
    base_url = base_url or provider.base_url
    if not base_url:
        raise UsageError(f"{endpoint.model}: set {provider.base_url_variable} to its address")
    held = next((name for name in provider.keys if read_variable(name)), "")
    is_plain = endpoint.server == SERVERS["openai-compatible"]
    return replace(
        endpoint,
        model=model,
        base_url=base_url,
        api_key_variable=held or next(iter(provider.keys), "NO_API_KEY"),
        server=SERVERS[provider.server] if is_plain else endpoint.server,
    )


def wants_key(model: str) -> bool:
    """Whether the provider that a model's name begins with answers only to a key."""
    provider = PROVIDERS.get(model.partition("/")[0])
    return provider is not None and bool(provider.keys)
