"""`webagent login`: log in once, so that agents stay logged in."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import tyro

from loop.console.output import CommandResult, wait_for_enter
from recipes.settings import resolve
from webagent.browser.sessions.login import PASSPHRASE_VARIABLE, Login, LoginStore, StorageState
from webagent.browser.sessions.profile import named_profile, open_for_person
from webagent.errors import SetupError, UsageError


@dataclass(frozen=True)
class LoginConfig:
    """Open a browser at a site, let a person log in, and save the login, encrypted, for agents."""

    url: Annotated[str, tyro.conf.Positional] = ""
    """URL of the login page."""
    site: str = ""
    """Name under which the login is saved."""
    profiles: str = ""
    """TOML file whose table [sites.<site>] says how the browser presents itself (docs/sites.md)."""
    headless: bool = False
    """Show no window; for sites where opening the URL is enough."""
    list: bool = False
    """List the saved logins and whether they have expired."""


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """The saved logins."""

    folder: str
    """Folder of the logins."""
    logins: list[dict[str, str]]
    """The listed logins, or the saved one: `site`, `url`, and `expiry`, empty if it has not
    expired; `error` if a login is unreadable."""
    saved: str = ""
    """The written file; empty if logins were only listed."""


def main(argv: Sequence[str]) -> CommandResult:
    """Save a login, or list the saved ones."""
    config = resolve(LoginConfig, "login", argv)
    store = LoginStore.default()
    if config.list:
        logins = [_facts(store, site) for site in store.sites()]
        for login in logins:
            state = login.get("error") or f"{login['url']}  {login['expiry'] or 'not expired'}"
            print(f"{login['site']}  {state}")
        if not logins:
            print(f"no logins in {store.folder}")
        return CommandResult(LoggedIn(str(store.folder), logins))
    if not config.url or not config.site:
        raise UsageError("expected a URL and a name: webagent login URL --site NAME")
    profile = named_profile(config.profiles, config.site if config.profiles else "")

    async def log_in() -> StorageState:
        async with open_for_person(config.url, profile, config.headless) as context:
            await wait_for_enter("Log in in the browser's window, then press Enter here.")
            state: StorageState = await context.storage_state(indexed_db=True)
        return state

    storage = asyncio.run(log_in())
    if not storage["cookies"] and not storage["origins"]:
        raise SetupError(f"{config.url} stored nothing in the browser, so nobody is logged in")
    path = store.save(Login(config.site, config.url, storage, time.time()))
    if store.passphrase:
        key = f"the passphrase in {PASSPHRASE_VARIABLE}"
    else:
        key = (
            f"the key in {store.folder / 'key'}; set {PASSPHRASE_VARIABLE} for a passphrase instead"
        )
    saved = f"{len(storage['cookies'])} cookies and {len(storage['origins'])} sites' storage"
    print(f"saved {saved} in {path}, encrypted with {key}")
    return CommandResult(LoggedIn(str(store.folder), [_facts(store, config.site)], str(path)))


def _facts(store: LoginStore, site: str) -> dict[str, str]:
    try:
        login = store.load(site)
    except SetupError as error:
        return {"site": site, "error": str(error)}
    return {"site": site, "url": login.url, "expiry": login.expiry(time.time())}
