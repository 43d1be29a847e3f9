"""The sites that tasks can name, each found by its id."""

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module

from tasks.sites.site import Site, SiteError

SITES = {
    "fossil@1": "tasks.sites.fossil",
    "oscar@1": "tasks.sites.oscar",
}
"""Id to the module whose function `site` makes it; imported only when it is asked for."""


def site_named(name: str) -> Site:
    """The site of this id; its version may be left out where only one is known. Raises
    `SiteError`."""
    versions = [each for each in SITES if each.partition("@")[0] == name]
    known = versions[0] if len(versions) == 1 else name
    if known not in SITES:
        close = get_close_matches(name, SITES, n=3, cutoff=0.5) or sorted(SITES)
        raise SiteError(f"no site is called {name!r}; there is {', '.join(close)}")
    make: Callable[[], Site] = import_module(SITES[known]).site
    return make()
