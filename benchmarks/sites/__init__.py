"""Real applications that start on this machine, one for every episode under way."""

from benchmarks.sites.form import LoginForm, log_in
from benchmarks.sites.instance import Instance
from benchmarks.sites.lease import Lease, Pool, Running
from benchmarks.sites.registry import SITES, site_named
from benchmarks.sites.remote import RemoteSite
from benchmarks.sites.site import Account, Serving, Site, SiteError, UnknownSiteError

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
