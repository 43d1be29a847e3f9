"""Real applications that start on this machine, one for every episode under way."""

from benchmarks.sites.described import RemoteSite
from benchmarks.sites.instance import Instance
from benchmarks.sites.lease import Lease, Pool, Running
from benchmarks.sites.registry import SITES, site_named
from benchmarks.sites.site import (
    Account,
    LoginForm,
    Serving,
    Site,
    SiteError,
    UnknownSiteError,
    log_in,
)

__all__ = [
    "SITES",
    "Account",
    "Instance",
    "Lease",
    "LoginForm",
    "Pool",
    "RemoteSite",
    "Running",
    "Serving",
    "Site",
    "SiteError",
    "UnknownSiteError",
    "log_in",
    "site_named",
]
