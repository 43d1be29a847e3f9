"""How a browser presents itself to a site, and what it keeps of an episode there."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from playwright.async_api import BrowserContext, async_playwright
from playwright.async_api import Error as PlaywrightError

from tasks.task import Task
from webagent.browser.chromium import find_chromium, has_sandbox, summarize_failure
from webagent.browser.sessions.login import (
    LoginsOf,
    LoginStore,
    StorageState,
    join_states,
    read_storage_state,
)
from webagent.errors import SetupError, UsageError, WorldError, unknown_name
from webagent.files import read_toml

Dialogs: TypeAlias = Literal["dismiss", "ask"]
ColorScheme: TypeAlias = Literal["light", "dark", "no-preference"]
_PATHS = {"storage_state", "downloads", "har_record", "har_replay", "trace", "video"}


@dataclass(frozen=True, slots=True)
class Profile:
    """The default is what benchmarks are played with: anonymous, and nothing kept."""

    storage: StorageState | None = field(default=None, repr=False)
    """What the browser knows from earlier, such as being logged in; never shown."""
    insecure: tuple[str, ...] = ()
    """Hosts that are opened whatever their certificates are, as `wiki.intranet`."""
    proxy: str = ""
    """Address of a proxy, as `http://user:password@host:3128`."""
    locale: str = ""
    """As `de-DE`; also the language that sites are asked for."""
    timezone: str = ""
    """As `Europe/Berlin`."""
    geolocation: tuple[float, float] | None = None
    """Latitude and longitude in degrees; given to sites that ask."""
    user_agent: str = ""
    viewport: tuple[int, int] | None = None
    """CSS pixels, width by height, in place of the task's."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request."""
    permissions: tuple[str, ...] = ()
    """Granted without asking, as `clipboard-read`."""
    color_scheme: ColorScheme = "light"
    dialogs: Dialogs = "dismiss"
    """`dismiss`: closed at once and noted; `ask`: left open until the agent answers."""
    headed: bool = False
    """Whether a window is shown; the browser must have been started with one."""
    downloads: Path | None = None
    """Folder in which each episode with downloads gets one of its own; None refuses them."""
    max_download_mb: int = 100
    """Megabytes after which a download is stopped."""
    har_record: Path | None = None
    """Folder that gets a HAR file of each episode's network traffic."""
    har_replay: Path | None = None
    """HAR file that answers in place of the network."""
    trace: Path | None = None
    """Folder that gets a Playwright trace of each episode."""
    video: Path | None = None
    """Folder that gets a video of each page."""

    def __post_init__(self) -> None:
        for host in self.insecure:
            if urlsplit(f"//{host}").hostname != host or "*" in host:
                raise SetupError(f"insecure is {host!r}; give a host alone, as wiki.intranet")

    def context_options(self, viewport: tuple[int, int]) -> dict[str, Any]:
        """Return what Playwright is to open a context with; the viewport is the task's."""
        width, height = self.viewport or viewport
        options: dict[str, Any] = {"viewport": {"width": width, "height": height}}
        named = {
            "storage_state": self.storage,
            "proxy": _proxy(self.proxy) if self.proxy else None,
            "locale": self.locale,
            "timezone_id": self.timezone,
            "user_agent": self.user_agent,
            "extra_http_headers": dict(self.headers),
            "color_scheme": self.color_scheme if self.color_scheme != "light" else None,
        }
        options |= {name: value for name, value in named.items() if value}
        if self.geolocation:
            latitude, longitude = self.geolocation
            options["geolocation"] = {"latitude": latitude, "longitude": longitude}
        granted = [*self.permissions, *(["geolocation"] if self.geolocation else [])]
        return options | ({"permissions": granted} if granted else {})


def named_profile(profiles: Path | str | None, site: str) -> Profile:
    """Return the profile that `--profiles` and `--site` name, a plain one where neither is given.

    Raises `UsageError` where only one is, `SetupError` as `read_profile`.
    """
    if bool(profiles) != bool(site):
        raise UsageError(
            "--profiles and --site go together: the file and the name of a table in it"
        )
    return read_profile(Path(profiles), site) if profiles else Profile()


def read_profile(file: Path, site: str) -> Profile:
    """Return the profile in the table `[sites.<site>]` of a TOML file.

    Its keys are the fields of `Profile`; `storage_state` names a JSON file of Playwright's, and
    `login` a login that was saved with `webagent login`. Paths are relative to the file. Raises
    `SetupError` naming the file, the key and what was expected.
    """
    where = f"{file} [sites.{site}]"
    table = {name.replace("-", "_"): value for name, value in _table(file, site).items()}
    for name in _PATHS & table.keys():
        if isinstance(table[name], str):
            table[name] = str(file.parent / os.path.expanduser(table[name]))
    state, login = table.pop("storage_state", ""), table.pop("login", "")
    if state and login:
        raise SetupError(f"{where}: storage_state and login are both given; choose one")
    storage = read_storage_state(Path(state)) if state else None
    if login:
        storage = LoginStore.default().load(login).storage
    from pydantic import TypeAdapter, ValidationError

    known = [each.name for each in fields(Profile) if each.name != "storage"]
    for name in table:
        if name not in known:
            raise unknown_name(f"setting in {where}", name, [*known, "login", "storage_state"])
    try:
        profile: Profile = TypeAdapter(Profile).validate_python(table)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise SetupError(f"{where}: {name} is {first['input']!r}; {first['msg']}") from error
    if profile.proxy:
        _proxy(profile.proxy)
    return replace(profile, storage=storage)


def _table(file: Path, site: str) -> dict[str, Any]:
    sites = read_toml(file).get("sites", {})
    if not isinstance(sites, dict) or site not in sites:
        raise unknown_name(f"site in {file}", site, sites if isinstance(sites, dict) else ())
    if not isinstance(sites[site], dict):
        raise SetupError(f"{file}: `sites.{site}` should be a table, as [sites.{site}]")
    return dict(sites[site])


def _proxy(address: str) -> dict[str, str]:
    """Return the proxy in Playwright's form. Raises `SetupError`."""
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError as error:
        raise SetupError(f"the proxy {parts.hostname!r} has no port number: {error}") from error
    if parts.scheme not in ("http", "https", "socks4", "socks5") or not parts.hostname:
        raise SetupError(
            f"{address.rpartition('@')[2]!r} is not a proxy; expected one such as "
            "http://user:password@host:3128"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    proxy = {"server": f"{parts.scheme}://{host}" + (f":{port}" if port else "")}
    if parts.username:
        proxy["username"] = unquote(parts.username)
        proxy["password"] = unquote(parts.password or "")
    return proxy


def add_login(profile: Profile, task: Task, logins: LoginsOf | None) -> Profile:
    """Return the profile that the task is played with: what its login knows on top of its own.

    Raises `WorldError` where nobody can log in.
    """
    if not task.login:
        return profile
    storage = logins(task) if logins else None
    if storage is None:
        raise WorldError(
            f"{task.id} needs the login {task.login!r}, which is not saved; save "
            f"one with: webagent login {task.start_url} --site {task.login}"
        )
    both = join_states(profile.storage, storage) if profile.storage is not None else storage
    return replace(profile, storage=both)


_LAUNCH_SECONDS = 30.0
_WINDOW = (1280, 800)


@asynccontextmanager
async def open_for_person(
    url: str, profile: Profile, headless: bool = False
) -> AsyncIterator[BrowserContext]:
    """Yield a context of its own with the address open in it, for as long as the block runs.

    Raises `SetupError` where no window can be shown or the address does not open.
    """
    chromium = find_chromium(headless)
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=chromium.path,
                headless=headless,
                chromium_sandbox=has_sandbox(),
                timeout=_LAUNCH_SECONDS * 1000,
            )
        except PlaywrightError as error:
            raise SetupError(
                f"{chromium.path} shows no window here ({summarize_failure(error.message)}); on a "
                "machine without a display log in elsewhere and copy the file, or use --headless"
            ) from error
        try:
            context = await browser.new_context(**profile.context_options(_WINDOW))
            await (await context.new_page()).goto(url)
            yield context
        except PlaywrightError as error:
            reason = error.message.splitlines()[0]
            raise SetupError(f"the browser at {url} failed: {reason}") from error
        finally:
            await browser.close()
