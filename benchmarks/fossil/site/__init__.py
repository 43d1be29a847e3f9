"""The site `fossil@1`: a project with its tickets, wiki, forum and code, served by Fossil."""

import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.site.project import SETTINGS
from benchmarks.sites.site import Account, LoginForm, Serving, SiteError, log_in

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
LOGIN = LoginForm("/login", "u", "p", {"remember": "1", "in": "Login"})
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
        """Return how to get Fossil, where it is not on this machine."""
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
        repository.make(state / DATABASE, SETTINGS)

    def serve(self, state: Path, port: int) -> Serving:
        """Return one process, which forks and opens the database anew for every request."""
        command = "fossil server --localhost --localauth --nojail --jsmode inline --port"
        return Serving(
            (*command.split(), str(port), str(state / DATABASE)),
            {"FOSSIL_HOME": str(state), "TZ": "UTC"},
            ready="/login",
        )

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """Return the cookie of a new login, good for years. Raises `SiteError`."""
        return log_in(base, account, LOGIN)


def site() -> Fossil:
    """Return the site of this folder."""
    return Fossil()
