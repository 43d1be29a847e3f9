"""The shop, built once and running where a test wants it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from benchmarks.oscar.site import OscarSite, site
from benchmarks.sites import Instance


@dataclass(frozen=True)
class Shop:
    """A shop that runs, with the state that it began with beside it."""

    site: OscarSite
    running: Instance

    @property
    def built(self) -> Path:
        """The folder of the state that it began with."""
        return self.running.build.state

    def page(self, path: str, cookies: str = "") -> str:
        """A page as its visitor gets it, errors too."""
        try:
            with urlopen(Request(self.running.base + path, headers={"Cookie": cookies})) as answer:
                return str(answer.read().decode())
        except HTTPError as error:
            return error.read().decode()


@pytest.fixture(scope="session")
def shop_site() -> OscarSite:
    """The site, where this machine has what it needs."""
    found = site()
    if missing := found.missing():
        pytest.skip(missing)
    return found


@pytest.fixture(scope="module")
def shop(shop_site: OscarSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The shop, running."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBAGENT_SITES", str(tmp_path_factory.mktemp("sites")))
        with Instance.start(shop_site) as running:
            yield Shop(shop_site, running)
