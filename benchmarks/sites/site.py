"""What a site says of itself: how it is built and served, who has accounts and how they log in."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.cookiejar import Cookie
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    pass


class SiteError(Exception):
    """A site is not there, does not start, or has died; the message says which and what to do."""


class UnknownSiteError(SiteError):
    """No site has this name; the message has those that come close."""


@dataclass(frozen=True, slots=True)
class Account:
    """Someone who can log in. These are made up, and no secrets."""

    name: str
    password: str
    can: str
    """In words, as `opens tickets, edits pages`."""


@dataclass(frozen=True, slots=True)
class Serving:
    """The process that serves a site."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to what this process has."""
    ready: str = "/"
    """Path that answers with a status below 400 once the site is up, and while it is healthy."""


class Site(Protocol):
    """A real application, as one file says it. All of its state is in one folder.

    A state can be copied, and a copy put in its place while the application runs: whatever it
    keeps in memory must not outlive its files.
    """

    @property
    def id(self) -> str:
        """Name and version, as `fossil@1`; a change of what is built is a new version."""
        ...

    @property
    def address(self) -> str:
        """The address in tasks and trajectories, whatever the port: `http://fossil.test`."""
        ...

    @property
    def accounts(self) -> Mapping[str, Account]:
        """By role, as tasks name them in `login`; each is logged in once, when it is built."""
        ...

    @property
    def database(self) -> str:
        """The SQLite file in the state, relative to it; empty where there is none."""
        ...

    @property
    def passing(self) -> Mapping[str, tuple[str, ...]]:
        """Table to columns not reported as changes, such as access times; none: the whole table."""
        ...

    def missing(self) -> str:
        """Return what this machine lacks, with the command that gets it; empty if all is there."""
        ...

    def build(self, state: Path) -> None:
        """Make the first state in an empty folder. May be slow: it is done once and kept.

        Raises `SiteError`.
        """
        ...

    def serve(self, state: Path, port: int) -> Serving:
        """Return how it is served from a state, on 127.0.0.1."""
        ...

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """Return the cookies of a new login, in Playwright's form, from the site as it runs at
        `base`, `http://127.0.0.1:PORT`; their domain is 127.0.0.1. Raises `SiteError`."""
        ...


def run_command(
    argv: Sequence[str],
    failure: str,
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run a command to its end, with these variables besides those of this process. Raises
    `SiteError` that begins with `failure` and has the end of what the command wrote."""
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SiteError(f"{failure}: {error}") from error
    if done.returncode:
        written = done.stdout.strip()[-_QUOTED:] or "nothing"
        raise SiteError(
            f"{failure}: its command ended with status {done.returncode}; it wrote:\n{written}"
        )


_QUOTED = 2000
"""Characters of output that an error quotes."""
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class LoginForm:
    """Where the form is and what its fields are called."""

    path: str = "/login"
    name: str = "username"
    """Field of the account's name."""
    password: str = "password"
    more: Mapping[str, str] = field(default_factory=dict)
    """Other fields to fill, as a ticked `remember`, or the button's own name and value."""


def log_in(base: str, account: Account, form: LoginForm) -> list[dict[str, object]]:
    """Return the cookies of a new login, in Playwright's form. Hidden fields are sent as the page
    has them. Raises `SiteError` where there is no such form, or it is shown again afterwards."""
    from httpx2 import Client, HTTPError, InvalidURL, Response

    address = urljoin(f"{base}/", form.path.lstrip("/"))
    with Client(follow_redirects=True, timeout=_SECONDS, trust_env=False) as client:

        def open_page(method: str, url: str, **content: Any) -> Response:
            try:
                return client.request(method, url, **content).raise_for_status()
            except (HTTPError, InvalidURL) as error:
                raise SiteError(
                    f"{url} cannot be opened to log {account.name} in: {error}"
                ) from error

        page = open_page("GET", address)
        found = _find_form(page.text, form)
        if found is None:
            raise SiteError(
                f"{address} has no form with fields called {form.name!r} and {form.password!r}"
            )
        values = {**found.values, **form.more}
        values |= {form.name: account.name, form.password: account.password}
        target = urljoin(str(page.url), found.action)
        if (
            base.startswith("http://127.0.0.1:")
            and urlsplit(target).netloc != page.url.netloc.decode()
        ):
            raise SiteError(
                f"the form of {address} is sent to {target}: serve the application with the address"
                " http://127.0.0.1:{port} for its links (docs/sites.md)"
            )
        after = open_page("POST", target, data=values, headers={"Referer": str(page.url)})
        if _find_form(after.text, form) is not None:
            raise SiteError(
                f"{address} did not accept the password of {account.name}: it asks again"
            )
        host = urlsplit(base).hostname or ""
        return [_describe_cookie(cookie, host) for cookie in client.cookies.jar]


@dataclass(slots=True)
class HtmlForm:
    """A form as a page has it."""

    action: str
    method: str = "get"
    values: dict[str, str] = field(default_factory=dict)
    """What it would send as it is."""
    buttons: dict[str, str] = field(default_factory=dict)
    """What each of its buttons adds."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Name to the type of every field, as `text`, `hidden`, `textarea` or `select`."""


def read_forms(page: str) -> tuple[list[HtmlForm], list[str]]:
    """Return all forms of a page, and the targets of its links."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(page, "html.parser")
    links = [str(link["href"]) for link in soup("a", href=True)]
    forms = []
    for tag in soup("form"):
        form = HtmlForm(str(tag.get("action", "")), str(tag.get("method", "get")))
        for each in tag(["input", "button", "textarea", "select"]):
            name, value = str(each.get("name", "")), str(each.get("value", ""))
            kind = str(each.get("type", "text")).lower() if each.name == "input" else each.name
            is_off = kind in ("checkbox", "radio") and not each.has_attr("checked")
            if kind in ("button", "submit") and name:
                form.buttons[name] = value
            elif name:
                form.kinds[name] = kind
                if kind == "select":
                    options = (str(option["value"]) for option in each("option", value=True))
                    value = next(filter(None, options), "")
                if kind not in ("image", "reset", "file") and not is_off:
                    is_bare = kind == "checkbox" and not each.has_attr("value")
                    form.values[name] = "on" if is_bare else value
        forms.append(form)
    return forms, links


def _find_form(page: str, form: LoginForm) -> HtmlForm | None:
    wanted = {form.name, form.password}
    return next((each for each in read_forms(page)[0] if wanted <= each.kinds.keys()), None)


def _describe_cookie(cookie: Cookie, host: str) -> dict[str, object]:
    """Return the cookie as Playwright takes it."""
    same_site = str(cookie.get_nonstandard_attr("SameSite") or "Lax").capitalize()
    return {
        "name": cookie.name,
        "value": cookie.value or "",
        # http.cookiejar puts `.local` after a host without a period
        "domain": host if cookie.domain.removesuffix(".local") == host else cookie.domain,
        "path": cookie.path,
        "expires": float(cookie.expires) if cookie.expires else -1,
        "httpOnly": cookie.has_nonstandard_attr("HttpOnly"),
        "secure": cookie.secure,
        "sameSite": same_site if same_site in ("Strict", "Lax", "None") else "Lax",
    }
