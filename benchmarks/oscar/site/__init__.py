"""A shop with customers, orders and a staff dashboard, made with django-oscar."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

from benchmarks.oscar.site.people import CUSTOMER, NEWCOMER, PASSWORD, SHOPPER, STAFF
from benchmarks.sites.site import Account, Serving, SiteError

__all__ = ["OscarSite", "site"]

ROOT = Path(__file__).resolve().parents[3]
NEEDED = {"oscar": "django-oscar", "waitress": "waitress", "whitenoise": "whitenoise"}
"""Module to the package that has it."""
_SHOP = "benchmarks.oscar.site.shop"
_MINUTES_TO_BUILD = 5
_SESSION, _TOKEN = "sessionid", "csrftoken"


@dataclass(frozen=True, slots=True)
class OscarSite:
    """A shop of 168 products for customers, and its dashboard for staff."""

    id: str = "oscar@1"
    address: str = "http://shop.test"
    database: str = "shop.sqlite3"

    @property
    def accounts(self) -> Mapping[str, Account]:
        """A customer with a past, one with a full basket, a new one, and staff."""
        return {
            "customer": Account(CUSTOMER.email, PASSWORD, "buys, and has ordered before"),
            "shopper": Account(SHOPPER.email, PASSWORD, "buys, and has things in the basket"),
            "newcomer": Account(NEWCOMER.email, PASSWORD, "buys, and has no address yet"),
            "staff": Account(STAFF.email, PASSWORD, "runs the shop in its dashboard"),
        }

    @property
    def passing(self) -> Mapping[str, tuple[str, ...]]:
        """Sessions, what the shop counts of its visitors, and when rows were written."""
        return {
            **{table: () for table in _COUNTS},
            "auth_user": ("last_login",),
            "catalogue_product": ("date_updated",),
            "basket_line": ("date_created", "date_updated"),
            "partner_stockrecord": ("date_updated",),
        }

    def missing(self) -> str:
        """What this machine lacks, with the command that gets it."""
        lacking = [package for module, package in NEEDED.items() if find_spec(module) is None]
        if not lacking:
            return ""
        return f"the shop needs {', '.join(lacking)}; run: pip install 'webagent-loop[sites]'"

    def fingerprint(self) -> str:
        """The versions of what the shop is made with."""
        return " ".join(f"{name}={version(name)}" for name in (*NEEDED.values(), "Django"))

    def build(self, state: Path) -> None:
        """Fill a database and draw the pictures: 10 s. Raises `SiteError`."""
        if missing := self.missing():
            raise SiteError(missing)
        done = subprocess.run(
            [sys.executable, "-m", f"{_SHOP}.opening"],
            env={**os.environ, **_environment(state)},
            capture_output=True,
            text=True,
            timeout=60 * _MINUTES_TO_BUILD,
        )
        if done.returncode:
            raise SiteError(f"the shop could not be built: {_end_of(done.stderr)}")

    def serve(self, state: Path, port: int) -> Serving:
        """One process of 75 MB that is up after half a second."""
        argv = (sys.executable, "-m", f"{_SHOP}.server", str(port))
        return Serving(argv, _environment(state), ready="/accounts/login/")

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """The cookies of a new session. Raises `SiteError`."""
        jar = CookieJar()
        opener = build_opener(HTTPCookieProcessor(jar))
        page = f"{base}/accounts/login/"
        form = {
            "login-username": account.name,
            "login-password": account.password,
            "login_submit": "Log In",
        }
        try:
            opener.open(page, timeout=30).close()
            form["csrfmiddlewaretoken"] = _values(jar).get(_TOKEN, "")
            sent = Request(page, urlencode(form).encode(), {"Referer": page})
            opener.open(sent, timeout=30).close()
        except (URLError, OSError) as error:
            raise SiteError(f"{account.name} could not log in at {page}: {error}") from error
        if _SESSION not in _values(jar):
            raise SiteError(f"{account.name} could not log in at {page}: the password is refused")
        return [
            {
                "name": cookie.name,
                "value": cookie.value,
                "domain": "127.0.0.1",
                "path": cookie.path,
                "expires": cookie.expires or -1,
                "httpOnly": cookie.name == _SESSION,
                "secure": False,
                "sameSite": "Lax",
            }
            for cookie in jar
        ]


def site() -> OscarSite:
    """The shop."""
    return OscarSite()


_COUNTS = (
    *("analytics_productrecord", "analytics_userproductview", "analytics_userrecord"),
    *("analytics_usersearch", "django_session", "communication_email"),
    "order_communicationevent",
)


def _environment(state: Path) -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return {"WEBAGENT_SHOP_STATE": str(state.resolve()), "PYTHONPATH": path}


def _values(jar: CookieJar) -> dict[str, str]:
    return {cookie.name: cookie.value or "" for cookie in jar}


def _end_of(text: str) -> str:
    return " ".join(text.strip().splitlines()[-3:])
