"""Real applications that start on this machine, one for every episode under way."""

from tasks.sites.site import Account, Serving, Site, SiteError

__all__ = ["Account", "Serving", "Site", "SiteError"]
