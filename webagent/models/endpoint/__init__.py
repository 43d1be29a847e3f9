"""Any OpenAI-compatible server as a `Model`: hosted, or vLLM, SGLang, llama.cpp close by."""

from webagent.models.endpoint.model import EndpointModel
from webagent.models.endpoint.providers import PROVIDERS
from webagent.models.endpoint.settings import (
    SERVERS,
    Endpoint,
    Server,
    load_endpoint,
    read_endpoint,
)

__all__ = [
    "PROVIDERS",
    "SERVERS",
    "Endpoint",
    "EndpointModel",
    "Server",
    "load_endpoint",
    "read_endpoint",
]
