"""What replies when it is asked: a server, weights in this process, a canned list."""

from webagent.models.canned import CannedModel
from webagent.models.constraint import Constraint
from webagent.models.endpoint import Endpoint, EndpointModel
from webagent.models.model import (
    Capabilities,
    Completion,
    Message,
    Model,
    Reply,
    Tokens,
    require_token_ids,
)
from webagent.models.prompt import Prompt, fence, load_prompt

__all__ = [
    "CannedModel",
    "Capabilities",
    "Completion",
    "Constraint",
    "Endpoint",
    "EndpointModel",
    "Message",
    "Model",
    "Prompt",
    "Reply",
    "Tokens",
    "fence",
    "load_prompt",
    "require_token_ids",
]
