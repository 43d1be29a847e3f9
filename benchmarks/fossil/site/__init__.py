"""The site `fossil@1`: a project with its tickets, wiki, forum and code, served by Fossil."""

import shutil
from collections.abc import Mapping
from functools import cached_property
from http.cookiejar import Cookie, CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.site.project import SETTINGS
from benchmarks.sites.site import Account, Serving, SiteError

__all__ = ["Fossil", "site"]

DATABASE = "quillmark.fossil"
ROLES = {
    "admin": ("admin", "sets up the project, its users and its pages, and does all that others do"),
    "developer": ("mara", "checks in, changes tickets, edits the wiki, moderates the forum"),
    "writer": (
        "ola",
        "edits the wiki, opens tickets and adds remarks to them, writes in the forum",
    ),
    "reader": ("petra", "reads, opens tickets and adds remarks to them, writes in the forum"),
}
PASSING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("blob", "delta", "rcvfrom", "unclustered", "unsent", "phantom", "orphan"), ()),
    **dict.fromkeys(("accesslog", "admin_log", "backlink", "mlink", "leaf", "plink"), ()),
    "concealed": (),
    "user": ("cookie", "ipaddr", "cexpire", "mtime"),
    "config": ("mtime",),
    "reportfmt": ("mtime",),
}


class Fossil:
    """The application with the project Quillmark in it; state and database are one file."""

    id = "fossil@1"
    address = "http://fossil.test"
    database = DATABASE
    passing = PASSING

    @cached_property
    def accounts(self) -> Mapping[str, Account]:
        """By role; their passwords are made up."""
        people = {person.login: person for person in project.people()}
        return {
            role: Account(login, people[login].password, can)
            for role, (login, can) in ROLES.items()
        }

    def missing(self) -> str:
        """How to get Fossil, where it is not on this machine."""
        if shutil.which("fossil"):
            return ""
        return (
            "the program fossil is not on the PATH; get it by `apt-get install fossil` (Debian, "
            "Ubuntu), `brew install fossil` (macOS), or from https://fossil-scm.org"
        )

    def build(self, state: Path) -> None:
        """Write the repository. Raises `SiteError`."""
        if lacking := self.missing():
            raise SiteError(lacking)
        repository.make(_program(), state / DATABASE, SETTINGS)

    def serve(self, state: Path, port: int) -> Serving:
        """One process, which forks and opens the database anew for every request."""
        argv = (_program(), "server", "--localhost", "--localauth", "--nojail")
        return Serving(
            (*argv, "--jsmode", "inline", "--port", str(port), str(state / DATABASE)),
            {"FOSSIL_HOME": str(state), "TZ": "UTC"},
            ready="/login",
        )

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """The cookie of a new login, good for years. Raises `SiteError`."""
        jar = CookieJar()
        browser = build_opener(ProxyHandler({}), HTTPCookieProcessor(jar))
        form = {"u": account.name, "p": account.password, "remember": "1", "in": "Login"}
        try:
            browser.open(f"{base}/login", urlencode(form).encode(), timeout=20).close()
        except HTTPError as error:
            raise SiteError(
                f"fossil@1 did not log {account.name} in (status {error.code});"
                " has the password been changed?"
            ) from error
        except OSError as error:
            raise SiteError(
                f"fossil@1 did not answer the login of {account.name}: {error}"
            ) from error
        return [_cookie(cookie) for cookie in jar]


def site() -> Fossil:
    """The site of this folder."""
    return Fossil()


def _program() -> str:
    return shutil.which("fossil") or "fossil"


def _cookie(cookie: Cookie) -> dict[str, object]:
    return {
        "name": cookie.name,
        "value": cookie.value or "",
        "domain": "127.0.0.1",
        "path": cookie.path,
        "expires": float(cookie.expires or -1),
        "httpOnly": True,
        "secure": False,
        "sameSite": "Lax",
    }
