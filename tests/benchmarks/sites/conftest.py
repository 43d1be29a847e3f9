"""A small site for tests, built once into a folder that the run throws away."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from benchmarks.sites import SITES, Instance, SiteError
from benchmarks.sites.hosting import Hosting
from tests.fakes.diary import Diary


@pytest.fixture(scope="package", autouse=True)
def sites_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where builds go."""
    folder = tmp_path_factory.mktemp("sites")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBAGENT_SITES", str(folder))
        yield folder


@pytest.fixture
def diary() -> Iterator[Instance]:
    """A running diary."""
    with Instance.start(Diary()) as running:
        yield running


@pytest.fixture
def write() -> Callable[[Instance, str], None]:
    """Writes an entry as the account `writer`."""

    def post(running: Instance, text: str) -> None:
        cookie = running.login("writer")["cookies"][0]
        headers = {"Cookie": f"{cookie['name']}={cookie['value']}"}
        request = Request(f"{running.base}/entries", f"text={text}".encode(), headers)
        urlopen(request, timeout=5).close()

    return post


@pytest.fixture
def entries() -> Callable[[Instance], str]:
    """What its server says the entries are."""

    def get(running: Instance) -> str:
        with urlopen(f"{running.base}/entries", timeout=5) as reply:
            return reply.read().decode()

    return get


@pytest.fixture
async def hosting(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hosting]:
    """Eight diaries at most."""
    monkeypatch.setitem(SITES, "diary@1", "tests.fakes.diary")
    async with Hosting(concurrency=8) as opened:
        yield opened


class FakeRunning:
    """Counts what is done to it; what goes wrong is set by tests."""

    base = "http://127.0.0.1:4321"
    database = saved_database = None

    def __init__(self) -> None:
        self.is_dead = False
        self.is_ill = False
        self.failures: list[str] = []
        """Of its next resets, last first."""
        self.resets = 0
        self.stops = 0

    def login(self, role: str) -> dict[str, object]:
        return {"cookies": [], "origins": []}

    def renew_login(self, role: str) -> None:
        """Nothing."""

    def reset(self) -> float:
        self.resets += 1
        if self.failures:
            raise SiteError(self.failures.pop())
        return 0.0

    def check(self) -> None:
        if self.is_dead:
            raise SiteError("it is dead")

    def is_healthy(self) -> bool:
        return not (self.is_dead or self.is_ill)

    def stop(self) -> None:
        self.stops += 1
