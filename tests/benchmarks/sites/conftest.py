"""A small site for tests, built once into a folder that the run throws away."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from benchmarks.sites import Instance
from perf.fakes.diary import Diary


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
