"""WebShop's shop: a search box, lists of results, products with options, and a button to buy."""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.sites.site import Account, Serving, SiteError
from benchmarks.webshop.site.products import find_data, load_products
from benchmarks.webshop.site.shelf import fill_shelf
from webagent.errors import SetupError

__all__ = ["WebShopSite", "site"]

ROOT = Path(__file__).resolve().parents[3]


class WebShopSite:
    """One process over two databases: the products, and what was bought."""

    id = "webshop@1"
    address = "http://webshop.test"
    database = "purchases.sqlite3"
    accounts: Mapping[str, Account] = {}
    passing: Mapping[str, tuple[str, ...]] = {}

    def missing(self) -> str:
        """Return where the published files are to be named; empty where they are there."""
        try:
            find_data()
        except SetupError as error:
            return str(error)
        return ""

    def fingerprint(self) -> str:
        """Return what tells one set of products from another."""
        files = [] if self.missing() else sorted(find_data().glob("*.json"))
        return " ".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)

    def build(self, state: Path) -> None:
        """Write the databases. Raises `SiteError` where the published files cannot be read."""
        try:
            fill_shelf(state, load_products())
        except (OSError, ValueError) as error:
            raise SiteError(f"webshop@1 cannot be built: {error}") from error

    def serve(self, state: Path, port: int) -> Serving:
        """Return one process of 25 MB that keeps nothing between requests."""
        argv = (sys.executable, "-m", "benchmarks.webshop.site.server", str(port))
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
        return Serving(argv, {"WEBAGENT_SHOP_STATE": str(state.resolve()), "PYTHONPATH": path})

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """Raise `SiteError`: there are no accounts."""
        raise SiteError("webshop@1 has no accounts")


def site() -> WebShopSite:
    """Return the shop."""
    return WebShopSite()
