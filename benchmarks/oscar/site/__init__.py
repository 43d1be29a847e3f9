"""A shop with customers, orders and a staff dashboard, made with django-oscar."""

import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from benchmarks.oscar.site.people import CUSTOMER, NEWCOMER, PASSWORD, SHOPPER, STAFF
from benchmarks.sites.site import Account, LoginForm, Serving, SiteError, log_in, run_command

__all__ = ["OscarSite", "site"]

ROOT = Path(__file__).resolve().parents[3]
NEEDED = {"oscar": "django-oscar", "waitress": "waitress", "whitenoise": "whitenoise"}
"""Module to the package that has it."""
LOGIN = LoginForm(
    "/accounts/login/", "login-username", "login-password", {"login_submit": "Log In"}
)
_BUILD_SECONDS = 300.0


class OscarSite:
    """A shop of 168 products for customers, and its dashboard for staff."""

    id = "oscar@1"
    address = "http://shop.test"
    database = "shop.sqlite3"
    accounts: Mapping[str, Account] = {
        "customer": Account(CUSTOMER.email, PASSWORD, "buys, and has ordered before"),
        "shopper": Account(SHOPPER.email, PASSWORD, "buys, and has things in the basket"),
        "newcomer": Account(NEWCOMER.email, PASSWORD, "buys, and has no address yet"),
        "staff": Account(STAFF.email, PASSWORD, "runs the shop in its dashboard"),
    }
    # Sessions, what the shop counts of its visitors, and when rows were written.
    passing: Mapping[str, tuple[str, ...]] = {
        **dict.fromkeys(("analytics_productrecord", "analytics_userproductview"), ()),
        **dict.fromkeys(("analytics_userrecord", "analytics_usersearch", "django_session"), ()),
        **dict.fromkeys(("communication_email", "order_communicationevent"), ()),
        "auth_user": ("last_login",),
        "catalogue_product": ("date_updated",),
        "basket_line": ("date_created", "date_updated"),
        "partner_stockrecord": ("date_updated",),
    }

    def missing(self) -> str:
        """Return what this machine lacks, with the command that gets it."""
        lacking = [package for module, package in NEEDED.items() if find_spec(module) is None]
        if not lacking:
            return ""
        return f"the shop needs {', '.join(lacking)}; run: pip install 'webagent-loop[sites]'"

    def fingerprint(self) -> str:
        """Return the versions of what the shop is made with."""
        return " ".join(f"{name}={version(name)}" for name in (*NEEDED.values(), "Django"))

    def build(self, state: Path) -> None:
        """Fill a database and draw the pictures: 10 s. Raises `SiteError`."""
        if missing := self.missing():
            raise SiteError(missing)
        command = [sys.executable, "-m", "benchmarks.oscar.site.shop.opening"]
        run_command(command, "oscar@1 cannot be built", _BUILD_SECONDS, _environment(state))

    def serve(self, state: Path, port: int) -> Serving:
        """Return one process of 75 MB that is up after half a second."""
        argv = (sys.executable, "-m", "benchmarks.oscar.site.shop.server", str(port))
        return Serving(argv, _environment(state), ready="/accounts/login/")

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """Return the cookies of a new session. Raises `SiteError`."""
        return log_in(base, account, LOGIN)


def _environment(state: Path) -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return {"WEBAGENT_SHOP_STATE": str(state.resolve()), "PYTHONPATH": path}


def site() -> OscarSite:
    """Return the shop."""
    return OscarSite()
