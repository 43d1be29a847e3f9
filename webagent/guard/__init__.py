"""What an episode may do, decided in code: sites, actions, files, secrets."""

from webagent.guard.address import SitePattern, parse_site
from webagent.guard.decide import Approve, Guard, GuardRefusal, GuardVerdict
from webagent.guard.policy import (
    ActionRule,
    Confirm,
    Contract,
    DownloadLimits,
    GuardPolicy,
    Secret,
    SiteRule,
    UploadLimits,
    read_policy,
)

__all__ = [
    "ActionRule",
    "Approve",
    "Confirm",
    "Contract",
    "DownloadLimits",
    "Guard",
    "GuardPolicy",
    "GuardRefusal",
    "GuardVerdict",
    "Secret",
    "SitePattern",
    "SiteRule",
    "UploadLimits",
    "parse_site",
    "read_policy",
]
