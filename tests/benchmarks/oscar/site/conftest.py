"""The shop, built once and running where a test wants it."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from benchmarks.oscar.site import OscarSite, site

PORT = 8741


@dataclass(frozen=True)
class Shop:
    """A shop that runs, with the state that it began with beside it."""

    site: OscarSite
    built: Path
    state: Path
    base: str

    def page(self, path: str, cookies: str = "") -> str:
        """A page as its visitor gets it, errors too."""
        try:
            with urlopen(Request(self.base + path, headers={"Cookie": cookies})) as answer:
                return str(answer.read().decode())
        except HTTPError as error:
            return error.read().decode()

    def put_back(self) -> float:
        """A copy of the first database in place of the present one; the seconds it took."""
        began = time.monotonic()
        copy = self.state / "copy"
        shutil.copyfile(self.built / self.site.database, copy)
        os.replace(copy, self.state / self.site.database)
        return time.monotonic() - began


@pytest.fixture(scope="session")
def shop_site() -> OscarSite:
    """The site, where this machine has what it needs."""
    found = site()
    if missing := found.missing():
        pytest.skip(missing)
    return found


@pytest.fixture(scope="session")
def shop(shop_site: OscarSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The shop, running."""
    built = tmp_path_factory.mktemp("built")
    shop_site.build(built)
    state = tmp_path_factory.mktemp("shop") / "state"
    shutil.copytree(built, state)
    serving = shop_site.serve(state, PORT)
    server = subprocess.Popen(serving.argv, env={**os.environ, **serving.environment})
    running = Shop(shop_site, built, state, f"http://127.0.0.1:{PORT}")
    try:
        _wait(running.base + serving.ready, server)
        yield running
    finally:
        server.terminate()
        server.wait(10)


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        assert server.poll() is None, "the server has ended"
        try:
            urlopen(address).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError("the shop does not answer")
