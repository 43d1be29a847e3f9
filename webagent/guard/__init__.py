"""What an episode may do, decided in code: sites, actions, files, secrets."""

from webagent.guard.approve import Approve
from webagent.guard.guard import Guard
from webagent.guard.policy import (
    ActionRule,
    Downloads,
    GuardPolicy,
    Secret,
    SiteRule,
    Uploads,
)
from webagent.guard.reading import read_policy
from webagent.guard.sites import Site, read_site
from webagent.guard.verdict import Refusal, Verdict

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
