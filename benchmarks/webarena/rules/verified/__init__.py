"""WebArena-Verified's checks: a typed response of the agent, and requests it caused."""

from benchmarks.webarena.rules.verified.events import network_event, network_event_corrected
from benchmarks.webarena.rules.verified.har import network_events
from benchmarks.webarena.rules.verified.response import agent_response, agent_response_corrected

__all__ = [
    "agent_response",
    "agent_response_corrected",
    "network_event",
    "network_event_corrected",
    "network_events",
]
