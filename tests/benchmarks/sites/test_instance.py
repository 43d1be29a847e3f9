"""Sites that run here: started, reset by copy while they run, and never left behind."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from benchmarks.sites import Instance, Serving, SiteError, instance, state
from benchmarks.sites.instance import first_state
from benchmarks.sites.site import Account
from benchmarks.sites.state import digest, ensure_built
from tests.fakes.diary import Diary

pytestmark = pytest.mark.site

FIRST = '[["ann", "It rained."], ["bob", "It shone."]]'
ROOT = Path(__file__).parents[3]


def is_gone(pid: int) -> bool:
    """Whether the process has ended, or is only waiting for its parent to notice."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


PREAMBLE = "from benchmarks.sites import Instance; from tests.fakes.diary import Diary; "


def start_python(code, **options):
    """Run code that starts diaries in a process of its own."""
    options = {"stdout": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, "-c", PREAMBLE + code], cwd=ROOT, **options)


def wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.02)


def test_a_reset_undoes_what_was_written_while_the_site_runs(diary, write, entries):
    pid = diary.pid
    write(diary, "Fog.")
    (diary.state / "pictures" / "0.bin").write_bytes(b"scrawl")
    (diary.state / "pictures" / "1.bin").unlink()
    (diary.state / "folder").mkdir()
    (diary.state / "folder" / "file").write_text("new")
    assert "Fog." in entries(diary)

    seconds = diary.reset()

    assert entries(diary) == FIRST
    names = sorted(path.name for path in (diary.state / "pictures").iterdir())
    assert names == ["0.bin", "1.bin", "2.bin"]
    assert (diary.state / "pictures" / "0.bin").read_bytes() == b"x" * 100
    assert not (diary.state / "folder").exists()
    assert diary.pid == pid
    assert 0 < seconds < 5


def test_only_what_was_written_to_is_copied_again(diary):
    picture = diary.state / "pictures" / "2.bin"
    before = picture.stat().st_ino
    (diary.state / "pictures" / "0.bin").write_bytes(b"y" * 100)

    diary.reset()

    assert picture.stat().st_ino == before
    assert (diary.state / "pictures" / "0.bin").read_bytes() == b"x" * 100


def test_a_file_is_put_back_even_where_its_times_and_size_were_kept(diary):
    picture = diary.state / "pictures" / "0.bin"
    times = picture.stat()
    picture.write_bytes(b"y" * 100)
    os.utime(picture, ns=(times.st_atime_ns, times.st_mtime_ns))

    diary.reset()

    assert picture.read_bytes() == b"x" * 100


def test_an_open_journal_of_the_old_state_does_not_reach_the_new_one(diary, entries):
    connection = sqlite3.connect(diary.database)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("INSERT INTO entry (author, text) VALUES ('eve', 'Hail.')")
    connection.commit()
    assert (diary.state / "diary.db-wal").stat().st_size > 0

    diary.reset()

    assert entries(diary) == FIRST
    assert sorted(path.name for path in diary.state.iterdir() if path.is_file()) == [
        "builds",
        "diary.db",
    ]
    connection.close()
    assert entries(diary) == FIRST


def test_what_an_instance_writes_reaches_neither_the_saved_state_nor_another(diary, write, entries):
    with Instance.start(Diary()) as other:
        write(diary, "Fog.")
        with (diary.state / "pictures" / "0.bin").open("r+b") as file:
            file.write(b"scrawl")

        assert entries(other) == FIRST
        assert other.port != diary.port
    saved = diary.build.state / "pictures" / "0.bin"
    assert saved.read_bytes() == b"x" * 100


def test_a_request_that_does_not_end_is_cut_off_by_a_new_server(diary, entries, monkeypatch):
    monkeypatch.setattr(instance, "_QUIET_SECONDS", 0.1)
    pid = diary.pid
    with socket.create_connection(("127.0.0.1", diary.port)):
        diary.reset()

    assert diary.pid != pid and is_gone(pid)
    assert entries(diary) == FIRST


def test_a_site_that_has_died_says_how(diary):
    assert diary.is_healthy()
    os.kill(diary.pid, signal.SIGKILL)
    wait_for(lambda: not diary.is_healthy())

    with pytest.raises(SiteError, match=r"diary@1 has died: the server ended with signal 9"):
        diary.reset()


def test_stopping_ends_the_server_and_deletes_its_state_and_twice_is_once(diary):
    pid = diary.pid
    diary.stop()
    diary.stop()

    assert is_gone(pid)
    assert not diary.folder.exists()
    with pytest.raises(SiteError, match="has been stopped"):
        diary.reset()


@dataclass(frozen=True, slots=True)
class Nowhere(Diary):
    """Served by a program that is not there."""

    def serve(self, state, port):
        return Serving(("/nowhere/server",))


@pytest.mark.parametrize(
    ("site", "message"),
    [
        (
            Diary(argument="broken", accounts={}),
            r"diary@1 did not start: .* status 4; it wrote:\nthe diary is out of ink",
        ),
        (
            Diary(argument="ill", accounts={}),
            r"not answer at http://127.0.0.1:\d+/health with a status below 400 within 0.5 s",
        ),
        (Nowhere(accounts={}), "/nowhere/server: not found"),
        (Diary(accounts={"writer": Account("ann", "hail", "")}), "accept the password of ann"),
    ],
    ids=["broken", "ill", "no program", "wrong password"],
)
def test_a_site_that_does_not_start_is_named_with_the_reason(site, message, monkeypatch):
    if site.argument == "ill":
        monkeypatch.setattr(instance, "START_SECONDS", 0.5)
    with pytest.raises(SiteError, match=message):
        Instance.start(site)


def test_a_port_in_use_is_named_with_what_to_do(diary):
    with pytest.raises(SiteError, match=rf"port {diary.port} of 127.0.0.1 is in use.*sport"):
        Instance.start(Diary(), port=diary.port)
    with socket.socket() as foreign:
        foreign.bind(("127.0.0.1", 0))
        foreign.listen()
        number = foreign.getsockname()[1]
        with pytest.raises(SiteError, match=f"port {number} of 127.0.0.1 is in use"):
            Instance.start(Diary(), port=number)


def test_a_port_that_was_given_back_can_be_asked_for():
    with Instance.start(Diary()) as running:
        port = running.port
    with Instance.start(Diary(), port=port) as again:
        assert again.port == port


def test_instances_start_side_by_side_each_with_a_port_of_its_own():
    with ThreadPoolExecutor(8) as threads:
        running = list(threads.map(lambda _: Instance.start(Diary()), range(8)))
    try:
        assert len({each.port for each in running}) == 8
        assert all(each.is_healthy() for each in running)
    finally:
        for each in running:
            each.stop()


def test_several_processes_that_want_a_build_make_it_once(tmp_path):
    code = "running = Instance.start(Diary()); print(running.build.seconds > 0); running.stop()"
    environment = {**os.environ, "WEBAGENT_SITES": str(tmp_path)}
    processes = [start_python(code, env=environment) for _ in range(3)]
    said = [process.communicate(timeout=60)[0].decode().strip() for process in processes]

    assert sorted(said) == ["False", "False", "True"]
    [folder] = [path for path in (tmp_path / "diary@1").iterdir() if path.is_dir()]
    assert len((folder / "states" / "first" / "builds").read_text().splitlines()) == 1


def test_a_build_that_fails_leaves_nothing_behind_and_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.setenv("WEBAGENT_SITES", str(tmp_path))
    tries = []

    def make(site, folder, state):
        tries.append(folder)
        if len(tries) == 1:
            (folder / "half").write_text("half")
            raise SiteError("no luck")
        first_state(site, folder, state)

    with pytest.raises(SiteError, match="no luck"):
        ensure_built(Diary(), make)
    assert [path for path in (tmp_path / "diary@1").iterdir() if path.is_dir()] == []
    assert ensure_built(Diary(), make).state.is_dir()


def test_another_builder_makes_another_build():
    assert digest(Diary(files=3)) == digest(Diary(files=3))
    assert digest(Diary(files=3)) != digest(Diary(files=4))
    assert digest(Diary()) != digest(Diary(accounts={}))


def test_logins_that_have_run_out_are_made_again(tmp_path, monkeypatch):
    @dataclass(frozen=True, slots=True)
    class Brief(Diary):
        def log_in(self, base, account):
            [cookie] = Diary.log_in(self, base, account)
            return [{**cookie, "expires": time.time() + 3600}]

    monkeypatch.setenv("WEBAGENT_SITES", str(tmp_path))
    first, second = ensure_built(Brief(), first_state), ensure_built(Brief(), first_state)
    assert first.seconds > 0 and second.seconds > 0
    lasting = ensure_built(Diary(), first_state), ensure_built(Diary(), first_state)
    assert lasting[1].seconds == 0


def test_a_site_goes_when_the_process_that_started_it_is_killed(sites_folder):
    parent = start_python(
        "import time; running = Instance.start(Diary());"
        "print(running.pid, running.folder, flush=True); time.sleep(60)"
    )
    pid, folder = parent.stdout.readline().decode().split()
    helpers = [each.pid for each in psutil.Process(parent.pid).children(recursive=True)]
    assert int(pid) in helpers and len(helpers) >= 2
    parent.kill()
    parent.communicate()

    wait_for(lambda: all(is_gone(each) for each in helpers))
    wait_for(lambda: not Path(folder).exists())


def test_a_reaper_that_was_killed_is_replaced_and_knows_all_that_runs():
    parent = start_python(
        "import psutil, sys; first = Instance.start(Diary()); ours = psutil.Process();"
        "[each.kill() for each in ours.children() if 'reaper.py' in ' '.join(each.cmdline())];"
        "second = Instance.start(Diary()); print(first.pid, second.pid, flush=True);"
        "sys.stdin.read()",
        stdin=subprocess.PIPE,
    )
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2 and not any(map(is_gone, pids))
    parent.kill()
    parent.communicate()

    wait_for(lambda: all(map(is_gone, pids)))


def test_a_login_that_is_lost_is_made_again_with_its_state(tmp_path, monkeypatch):
    monkeypatch.setenv("WEBAGENT_SITES", str(tmp_path))
    build = ensure_built(Diary(), first_state)
    (build.state / "logins" / "writer.json").unlink()

    assert ensure_built(Diary(), first_state).seconds > 0
    assert build.login("writer")["cookies"]


def test_a_disk_that_takes_no_more_is_named(diary, monkeypatch):
    def full(*paths, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(state.shutil, "copy2", full)
    diary.database.write_bytes(b"x")
    with pytest.raises(SiteError, match=r"cannot be put in place in .*No space left on device"):
        diary.reset()


def test_a_process_that_ends_without_stopping_its_sites_leaves_none_and_says_nothing():
    code = "running = Instance.start(Diary()); print(running.pid, running.folder)"
    process = start_python(code, stderr=subprocess.PIPE, text=True)
    written, errors = process.communicate()
    pid, folder = written.split()

    assert is_gone(int(pid)) and not Path(folder).exists()
    assert (process.returncode, errors) == (0, "")
