"""Runs that are damaged, half written or not there are told of, and strangers are not answered."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from apps.listening import listen
from apps.view.contents import Archive
from apps.view.server import FIRST_PORT, names_of
from loop.console.output import Status
from recipes import cli
from webagent.errors import SetupError, StoreError
from webagent.store import Store

pytestmark = pytest.mark.slow  # seconds together

View = Callable[[Path], str]


def get(address: str, **headers: str) -> tuple[int, str]:
    """Status and text of a page."""
    try:
        with urlopen(Request(address, headers=headers)) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.fixture
def run(made_runs: Path, tmp_path: Path) -> Path:
    """A run of its own for one test."""
    return Path(shutil.copytree(made_runs / "one", tmp_path / "runs" / "one"))


def cut_short(store: Path) -> None:
    store.write_bytes(store.read_bytes()[:1000])


def damage_inside(store: Path) -> None:
    whole = store.read_bytes()
    middle = len(whole) // 3
    store.write_bytes(whole[:middle] + b"\xff" * 200_000 + whole[middle + 200_000 :])


def make_newer(store: Path) -> None:
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("UPDATE meta SET value = '9' WHERE key = 'format'")


@pytest.mark.parametrize(
    ("harm", "in_list", "on_page"),
    [
        (cut_short, "not readable", "is damaged or cut short"),
        (damage_inside, "not readable", "damaged"),
        (make_newer, "not readable", "has format 9"),
        (Path.unlink, "holds no run.sqlite", "holds no run.sqlite"),
    ],
)
def test_a_store_that_cannot_be_read_is_told_in_the_list_and_on_its_page(
    run, view, harm, in_list, on_page
):
    harm(run / "run.sqlite")
    address = view(run.parent)
    status, text = get(address)
    assert status == 200 and in_list in text
    status, text = get(f"{address}/run/one")
    assert status == 422 and on_page in text


def test_files_that_are_missing_or_damaged_beside_the_store_are_told_and_done_without(run, view):
    (run / "run.json").write_text("{")
    (run / "summary.json").write_text('{"arms": []}')
    (run / "attribution.json").write_text("[]")
    address = view(run.parent)
    until_known(address)
    text = get(f"{address}/run/one")[1]
    assert "is not a run folder: run.json" in text
    assert "not a summary of this version" in text
    assert "write it again with `webagent report --failures`" in text
    assert get(f"{address}/run/one/tasks")[0] == 200
    assert get(f"{address}/run/one/episodes")[0] == 200


def until_known(address: str) -> None:
    """Ask until figures and causes have been worked out."""
    end = time.monotonic() + 60
    while any(
        each in get(f"{address}/run/one")[1] for each in ("worked out", "not been looked at")
    ):
        assert time.monotonic() < end, "never worked out"
        time.sleep(0.1)  # the page is asked again as a person would, by the clock


def test_a_run_before_its_first_episode_has_pages(tmp_path: Path, view: View) -> None:
    Store.open(tmp_path / "runs" / "new", create=True).close()
    address = view(tmp_path / "runs")
    for page in ("", "/tasks", "/episodes"):
        status, text = get(f"{address}/run/new{page}")
        assert status == 200 and "No episode has been played" in text


def test_looking_leaves_nothing_in_the_run_folder(run: Path, view: View) -> None:
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    address = view(run.parent)
    until_known(address)
    for page in ("/run/one/tasks", "/run/one/episodes?q=at:planning", "/run/one/state"):
        assert get(address + page)[0] == 200
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_store_that_is_looked_at_cannot_be_written(run: Path) -> None:
    with Store.look(run) as store, pytest.raises(StoreError, match="cannot be used"):
        store.put_state("x", 1)


def test_addresses_that_lead_nowhere_say_what_there_is(run: Path, view: View) -> None:
    address = view(run.parent)
    for page, told in (
        ("/run/on", "did you mean one?"),
        ("/run/one/task/click", "did you mean click-link?"),
        ("/run/one/image/x.png", "not an image reference"),
        ("/compare/runs", "only one run was found"),
        ("/nowhere", "Not Found"),
    ):
        status, text = get(address + page)
        assert status in (404, 422) and told in text
    for odd in ("page=99", "page=x", "sort=nothing", "page=-1", "q=%22", "q=:"):
        assert get(f"{address}/run/one/episodes?{odd}")[0] == 200


def test_what_sites_say_is_shown_as_text(run: Path, view: View) -> None:
    text = get(f"{view(run.parent)}/run/one/episodes?q=%3Cscript%3Ealert(1)%3C/script%3E")[1]
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text


def test_other_hosts_and_other_sites_are_refused(run: Path, view: View) -> None:
    address = view(run.parent)
    assert get(address, Host="evil.example")[0] == 403
    assert get(address, Host="localhost:9")[0] == 200
    request = Request(address, method="POST", headers={"Origin": "http://evil.example"})
    with pytest.raises(HTTPError, match="403"):
        urlopen(request)
    assert "evil.example" not in names_of("127.0.0.1")


def test_pages_may_load_nothing_from_elsewhere(run: Path, view: View) -> None:
    with urlopen(view(run.parent)) as response:
        policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "http" not in policy


def test_a_port_in_use_is_told_or_passed_by() -> None:
    with listen("127.0.0.1", 0, FIRST_PORT) as first, listen("127.0.0.1", 0, FIRST_PORT) as second:
        port = first.getsockname()[1]
        assert second.getsockname()[1] != port
        with pytest.raises(SetupError, match=f"port {port} of 127.0.0.1 is in use"):
            listen("127.0.0.1", port)
    with pytest.raises(SetupError, match="is not a port"):
        listen("127.0.0.1", 70_000)


def test_where_there_is_nothing_to_show_one_sentence_says_so(tmp_path, capsys):
    assert cli.main(["view", str(tmp_path)]) == Status.SETUP
    assert "holds no run" in capsys.readouterr().err
    assert cli.main(["view", str(tmp_path / "none")]) == Status.SETUP
    assert "is not a folder" in capsys.readouterr().err


def test_runs_are_found_some_folders_down_and_one_run_stands_alone(run: Path) -> None:
    deep = run.parent / "more" / "nested"
    deep.parent.mkdir()
    shutil.copytree(run, deep)
    found = Archive(run.parent)
    assert {one.name for one in found.runs()} == {"one", "more~nested"}
    assert found.run("more~nested").title == "more/nested"
    assert [one.name for one in Archive(run).runs()] == ["one"]


def test_the_state_is_told_as_json(run: Path, view: View) -> None:
    state = json.loads(get(f"{view(run.parent)}/run/one/state")[1])
    assert state["kind"] in ("running", "rest") and state["version"]


@pytest.mark.slow
def test_the_command_serves_until_ctrl_c_though_a_page_follows(run: Path) -> None:
    command = [sys.executable, "-m", "recipes.cli", "view", str(run), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as viewer:
        assert viewer.stdout is not None and viewer.stderr is not None
        told = json.loads(viewer.stdout.readline())
        assert told["runs"] == ["one"]
        with urlopen(told["address"] + "run/one/events") as following:
            assert following.readline() == b"event: state\n"
            viewer.send_signal(signal.SIGINT)
            assert viewer.wait(timeout=60) == Status.DONE
        assert json.loads(viewer.stdout.read())["address"] == told["address"]
        assert b"Traceback" not in viewer.stderr.read()
