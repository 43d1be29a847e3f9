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
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.spending import (
    Ledger,
    MeteredModel,
    Price,
    Prices,
    SpendingLimits,
    Spent,
    read_prices,
)

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
    "Prompt",
    "Reply",
    "Server",
    "SpendingLimits",
    "Spent",
    "Tokens",
    "fence",
    "load_endpoint",
    "load_prompt",
    "read_endpoint",
    "read_prices",
]
