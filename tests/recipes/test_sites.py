"""`webagent site` through its real entry point."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from benchmarks.sites import SITES
from benchmarks.sites.control import RunningSite
from benchmarks.sites.process import Port
from loop.console.output import Status
from recipes.cli import main
from recipes.site import _measure_files
from tests.benchmarks.sites.test_toml import HOSTED, LOCAL

pytestmark = pytest.mark.site

KEEPING = LOCAL.replace("notes", "kept").replace("''", "WHAT").replace('entry = ["id"]', "")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Only the diary is known, and everything of it lies in here."""
    monkeypatch.setenv("WEBAGENT_SITES", str(tmp_path))
    for name in list(SITES):
        monkeypatch.delitem(SITES, name)
    monkeypatch.setitem(SITES, "diary@1", "tests.fakes.diary")
    (tmp_path / "more.toml").write_text(HOSTED)
    return tmp_path


@pytest.fixture
def started(folder):
    """A diary that another process has started and serves."""
    code = "import sys; from benchmarks.sites import SITES; from recipes.cli import main; "
    code += "SITES['diary@1'] = 'tests.fakes.diary'; "
    code += "sys.exit(main(['site', 'start', 'diary', '--json']))"
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE)
    facts = json.loads(process.stdout.readline())
    while RunningSite.find("diary@1") is None:
        time.sleep(0.02)
    yield process, facts
    process.kill()
    process.communicate()


def test_what_there_is_is_listed(folder, capsys):
    assert main(["site", "list", "--files", str(folder / "more.toml"), "--json"]) == 0
    diary, shopping = json.loads(capsys.readouterr().out)["sites"]

    assert diary["site"] == "diary@1" and diary["is"] == "built when it is first started"
    assert diary["accounts"]["writer"]["password"] == "rain"
    assert shopping["is"] == "hosted at http://localhost:7770, never reset"


def test_a_check_tells_the_figures_and_that_a_reset_leaves_nothing(folder, capsys):
    assert main(["site", "check", "diary", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)

    assert facts["healthy"] and facts["left_by_reset"] == []
    assert facts["accounts"] == ["other", "writer"]
    assert 0 < facts["reset_seconds"] < 5 and facts["build_seconds"] > 0


@pytest.mark.parametrize(
    ("what", "difference"),
    [
        ("''", ""),
        ("pooled", "is answered with status 500 after a reset and with 200 in a fresh process"),
        ("cached", "/ shows after a reset what was written before it"),
    ],
)
def test_a_check_finds_what_a_server_keeps_over_a_reset(folder, capsys, what, difference):
    file = folder / "kept.toml"
    file.write_text(KEEPING.replace("WHAT", what))
    status = main(["site", "check", "kept", "--files", str(file), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["writes"] == "/ to /entries"
    assert any(difference in each for each in facts["unlike_fresh"]) == bool(difference)
    assert (status == 0) == (not difference)


@pytest.mark.very_slow
@pytest.mark.parametrize("what", ["pooled", "cached"])
def test_a_site_that_is_started_anew_at_every_reset_keeps_nothing(folder, capsys, what):
    file = folder / "kept.toml"
    restarted = KEEPING.replace("database", "restart_on_reset = true\ndatabase")
    file.write_text(restarted.replace("WHAT", what))
    assert main(["site", "check", "kept", "--files", str(file), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["writes"] == "/ to /entries" and facts["unlike_fresh"] == []


def test_a_started_site_is_found_reset_and_stopped(started, capsys):
    process, facts = started
    with urlopen(f"{facts['base']}/entries", timeout=5) as reply:
        assert b"It rained." in reply.read()

    assert main(["site", "list"]) == 0
    assert f"running at {facts['base']}" in capsys.readouterr().out
    assert main(["site", "start", "diary"]) == 3
    assert "is already running" in capsys.readouterr().err
    assert RunningSite.find("diary") == RunningSite.find("diary@1") is not None
    assert main(["site", "reset", "diary"]) == 0
    assert "diary@1 is reset, in " in capsys.readouterr().out
    assert main(["site", "stop", "diary"]) == 0
    assert process.wait(10) == 0
    assert main(["site", "stop", "diary"]) == 3
    assert (
        "diary@1 is not running; start it with webagent site start diary@1"
        in capsys.readouterr().err
    )


def test_an_interrupt_ends_a_started_site_and_its_note(started):
    process, facts = started
    os.kill(process.pid, signal.SIGTERM)

    assert process.wait(10) == 0
    assert RunningSite.find("diary@1") is None
    assert not Path(facts["state"]).exists()


def test_a_note_of_a_killed_process_is_not_believed(started, capsys):
    process, _ = started
    process.kill()
    process.wait(10)

    assert RunningSite.find("diary@1") is None
    assert not RunningSite.path("diary@1").exists()


def test_what_is_wrong_is_said_in_a_sentence(folder, capsys):
    more = str(folder / "more.toml")
    for argv, status, why in (
        (["site", "start"], Status.USAGE, "expected a site: webagent site start NAME"),
        (["site", "begin", "diary"], Status.USAGE, "unknown action 'begin'"),
        (["site", "snapshot", "diary"], Status.USAGE, "snapshot is gone; a site is reset to its"),
        (["site", "start", "dairy"], Status.USAGE, "no site is called 'dairy'; there is diary@1"),
        (["site", "start", "shopping", "--files", more], Status.SETUP, "is started there"),
        (["site", "reset", "shopping", "--files", more], Status.SETUP, "cannot be reset"),
    ):
        assert main(argv) == status
        assert why in capsys.readouterr().err


def test_a_port_in_use_is_named(folder, capsys):
    claimed = Port.claim()
    try:
        assert main(["site", "start", "diary", "--port", str(claimed.number)]) == Status.SETUP
        assert "is in use" in capsys.readouterr().err
    finally:
        claimed.release()


def test_files_that_the_site_removes_meanwhile_are_not_measured(tmp_path, monkeypatch):
    (tmp_path / "site.db").write_text("12345")
    (tmp_path / "site.db-wal").touch()

    def look(path: Path) -> bool:
        if path.suffix == ".db-wal":
            path.unlink()
        return True

    monkeypatch.setattr(Path, "is_file", look)
    assert list(_measure_files(tmp_path)) == [5]
