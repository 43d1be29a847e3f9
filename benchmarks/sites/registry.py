"""The sites that tasks can name, each found by its id."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from benchmarks.discovery import Registry, collect
from benchmarks.sites.described import RemoteSite, TomlSite, named_files, read_sites
from benchmarks.sites.site import Site, SiteError, UnknownSiteError

AnySite: TypeAlias = Site | RemoteSite

SITES: Registry[str] = Registry(lambda: collect("SITES"))
"""Id to the module whose function `site` makes it, as benchmarks declare them."""


def site_named(name: str, files: Sequence[Path] = ()) -> AnySite:
    """The site of this id, one of ours or of the files', among them those that
    `WEBAGENT_SITE_FILES` lists. Its version may be left out where only one is known. Raises
    `UnknownSiteError`, and `SiteError` for files that cannot be read."""
    described = described_sites(files)
    known = [*SITES, *described]
    versions = [each for each in known if each.partition("@")[0] == name]
    whole = versions[0] if len(versions) == 1 else name
    if whole in described:
        return described[whole]
    if whole not in SITES:
        close = get_close_matches(name, known, n=3, cutoff=0.5) or sorted(known)
        raise UnknownSiteError(f"no site is called {name!r}; there is {', '.join(close)}")
    make: Callable[[], Site] = import_module(SITES[whole]).site
    return make()


def described_sites(files: Sequence[Path] = ()) -> dict[str, TomlSite]:
    """The sites of all files. Raises `SiteError` where two have one id."""
    found: dict[str, TomlSite] = {}
    for file in (*files, *named_files()):
        for name, site in read_sites(file).items():
            if name in found or name in SITES:
                raise SiteError(f"{file} describes {name}, and there is one already; rename it")
            found[name] = site
    return found
