"""What replies when it is asked: a server, weights in this process, a canned list."""

from webagent.models.canned import CannedModel
from webagent.models.constraint import Constraint
from webagent.models.endpoint import Endpoint, EndpointModel
from webagent.models.metered import Ledger, Limits, MeteredModel, Spent
from webagent.models.model import (
    Capabilities,
    Completion,
    Message,
    Model,
    Reply,
    Tokens,
    require_token_ids,
)
from webagent.models.price import Price, Prices, read_prices
from webagent.models.prompt import Prompt, fence, load_prompt

__all__ = [
    "CannedModel",
    "Capabilities",
    "Completion",
    "Constraint",
    "Endpoint",
    "EndpointModel",
    "Ledger",
    "Limits",
    "Message",
    "MeteredModel",
    "Model",
    "Price",
    "Prices",
    "Prompt",
    "Reply",
    "Spent",
    "Tokens",
    "fence",
    "load_prompt",
    "read_prices",
    "require_token_ids",
]
