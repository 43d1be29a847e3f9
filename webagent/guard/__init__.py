"""What an episode may do, decided in code: sites, actions, files, secrets."""

from webagent.guard.address import Site, read_site
from webagent.guard.decide import Refusal, Verdict
from webagent.guard.guard import Approve, Guard
from webagent.guard.policy import (
    ActionRule,
    Downloads,
    GuardPolicy,
    Secret,
    SiteRule,
    Uploads,
    read_policy,
)

__all__ = [
    "ActionRule",
    "Approve",
    "Downloads",
    "Guard",
    "GuardPolicy",
    "Refusal",
    "Secret",
    "Site",
    "SiteRule",
    "Uploads",
    "Verdict",
    "read_policy",
    "read_site",
]
