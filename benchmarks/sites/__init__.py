"""Real applications that start on this machine, one for every episode under way."""

from benchmarks.sites.described import SITES, RemoteSite, find_site
from benchmarks.sites.instance import Instance
from benchmarks.sites.lease import Lease, Pool, Running
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
    "find_site",
    "log_in",
]
