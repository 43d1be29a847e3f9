"""Real applications that start on this machine, one for every episode under way."""

from tasks.sites.form import LoginForm, log_in
from tasks.sites.instance import Instance
from tasks.sites.lease import Lease, Pool, Running
from tasks.sites.registry import SITES, site_named
from tasks.sites.remote import RemoteSite
from tasks.sites.site import Account, Serving, Site, SiteError, UnknownSiteError

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
