"""A task file is taken as given, found where it lies, or downloaded whole and unchanged."""

import hashlib
from collections.abc import Iterator
from importlib.metadata import PackagePath
from pathlib import Path

import pytest

from benchmarks import task_files
from benchmarks.catalogue import TasksMissing
from benchmarks.task_files import PublishedFile, find_beside, find_file
from tests.fakes.site import Site, serving_in_thread

CONTENT = b'[{"task": "Find it"}]'
FILE = PublishedFile(
    "demo", "who/demo", "c0ffee", "data/tasks.json", hashlib.sha256(CONTENT).hexdigest()
)


PINNED = "/who/demo/c0ffee/data/tasks.json"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of downloads."""
    monkeypatch.setenv("WEBAGENT_BENCHMARKS", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def repository(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server in place of the official address: the file is under its pinned one."""
    with serving_in_thread() as site:
        site.page(PINNED, CONTENT)
        monkeypatch.setattr(task_files, "HOST", site.address)
        yield site


def test_a_file_is_downloaded_once_and_kept(repository: Site, cache: Path) -> None:
    first, second = find_file(FILE), find_file(FILE)

    assert first == second == cache / "demo" / "tasks.json"
    assert first.read_bytes() == CONTENT
    assert len(repository.requests) == 1
    assert [file.name for file in first.parent.iterdir()] == ["tasks.json"]


def test_a_file_that_is_not_the_published_one_is_refused_and_not_kept(repository, cache):
    repository.page(PINNED, b"[]")

    with pytest.raises(TasksMissing, match=f"data/tasks.json has the SHA-256 .* {FILE.sha256}"):
        find_file(FILE)
    assert not cache.exists()


def test_a_kept_file_that_was_changed_is_refused(repository: Site, cache: Path) -> None:
    find_file(FILE).write_bytes(b"[]")

    with pytest.raises(TasksMissing, match=r"cache/demo/tasks\.json has .*: delete it, or give it"):
        find_file(FILE)


def test_an_address_where_nothing_is_says_where_to_put_the_file(repository, cache):
    moved = PublishedFile("demo", "who/demo", "moved", "data/tasks.json", FILE.sha256)

    with pytest.raises(TasksMissing) as caught:
        find_file(moved)
    assert f"{task_files.HOST}/who/demo/moved/data/tasks.json could not be read (status 404" in str(
        caught.value
    )
    assert f"put it at {cache / 'demo' / 'tasks.json'}, or give its path" in str(caught.value)


def test_without_a_network_one_sentence_says_what_to_do(cache, monkeypatch):
    monkeypatch.setattr(task_files, "HOST", "http://127.0.0.1:9")
    packaged = PublishedFile(
        *("demo", "who/demo", "c0ffee", "data/tasks.json", "0"), package="no-such"
    )

    with pytest.raises(TasksMissing) as caught:
        find_file(packaged)
    said = str(caught.value)
    assert said.startswith("the tasks of demo are not on this machine, and http://127.0.0.1:9/who/")
    assert said.endswith("or give its path, or pip install --no-deps no-such")
    assert "\n" not in said


def test_a_folder_that_cannot_be_written_is_named(repository: Site, cache: Path) -> None:
    cache.write_text("a file in the way")

    with pytest.raises(TasksMissing, match=r"cache.*; get that file"):
        find_file(FILE)


def test_what_is_given_is_taken_as_it_is(repository: Site, tmp_path: Path) -> None:
    own = tmp_path / "own" / "data" / "tasks.json"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"my own")

    assert find_file(FILE, own) == own
    assert find_file(FILE, own.parent) == own
    assert find_file(FILE, tmp_path / "own") == own, "a checkout of the repository"
    assert not repository.requests


def test_a_given_path_without_the_file_is_named(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(TasksMissing, match=r"there is no .*nowhere; expected tasks\.json"):
        find_file(FILE, tmp_path / "nowhere")
    with pytest.raises(TasksMissing, match=r"does not contain tasks\.json"):
        find_file(FILE, tmp_path)


def test_what_belongs_to_a_given_file_is_looked_for_beside_it(repository, cache, tmp_path):
    main = tmp_path / "main.json"
    main.write_text("[]")
    assert find_beside(FILE, main) == cache / "demo" / "tasks.json", "downloaded"

    near = tmp_path / "tasks.json"
    near.write_text("[]")
    assert find_beside(FILE, main) == find_beside(FILE, tmp_path) == near


def test_an_installed_package_goes_before_a_download(repository, tmp_path, monkeypatch):
    listed = PackagePath("demo/assets/tasks.json")
    monkeypatch.setattr(PackagePath, "locate", lambda self: tmp_path / self, raising=False)
    monkeypatch.setattr(task_files, "files", lambda package: [listed])
    packaged = PublishedFile(
        *("demo", "who/demo", "c0ffee", "data/tasks.json", "0"), package="demo"
    )

    assert find_file(packaged) == tmp_path / "demo" / "assets" / "tasks.json"
    assert not repository.requests


def test_without_a_word_downloads_lie_in_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBAGENT_BENCHMARKS", raising=False)

    assert FILE.cached == Path.home() / ".cache" / "webagent" / "benchmarks" / "demo" / "tasks.json"
