"""What replies when it is asked: a server, weights in this process, a canned list."""

from webagent.models.canned import CannedModel
from webagent.models.endpoint import (
    SERVERS,
    Endpoint,
    EndpointModel,
    Server,
    load_endpoint,
    read_endpoint,
)
from webagent.models.model import (
    Capabilities,
    Completion,
    Constraint,
    Message,
    Model,
    Reply,
    Tokens,
)
from webagent.models.spending import Ledger, MeteredModel, Price, Prices, read_prices

__all__ = [
    "SERVERS",
    "CannedModel",
    "Capabilities",
    "Completion",
    "Constraint",
    "Endpoint",
    "EndpointModel",
    "Ledger",
    "Message",
    "MeteredModel",
    "Model",
    "Price",
    "Prices",
    "Reply",
    "Server",
    "Tokens",
    "load_endpoint",
    "read_endpoint",
    "read_prices",
]
