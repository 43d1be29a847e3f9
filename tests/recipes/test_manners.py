"""Small things a person meets: names, addresses, folders that are not there, signals."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loop.console.output import Status
from recipes import cli
from tasks.task import Task
from webagent.agent.actor import check_place
from webagent.agent.agent import check_address
from webagent.errors import UsageError
from webagent.records import Trajectory
from webagent.store import Store

ROOT = Path(__file__).parents[2]
TASKS = """[tasks.hello]
url = "http://127.0.0.1:9/"
goal = "Say hello"
answer = "hello"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in ("OPENAI_BASE_URL", "GROQ_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    Path("tasks.toml").write_text(TASKS)
    return tmp_path


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("127.0.0.1:8123", "http://127.0.0.1:8123"),
        ("localhost/shop", "http://localhost/shop"),
        ("shop.example:8080/a", "http://shop.example:8080/a"),
        ("shop.example/a", "https://shop.example/a"),
    ],
)
def test_an_address_without_a_scheme_is_told_with_the_likely_one(url: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean {meant}"):
        check_address(url)


@pytest.mark.parametrize(
    ("model", "name", "status", "said"),
    [
        *(
            ("ollama/m", name, 2, "is no name of a folder")
            for name in ("../elsewhere", "/tmp/x", "a/b", "..", ".hidden")
        ),
        ("groq/m", "b", 3, "set GROQ_API_KEY"),
    ],
)
def test_a_run_without_a_name_or_a_key_leaves_no_folder(model, name, status, said, folder, capsys):
    line = ["benchmark", "own", "--files", "tasks.toml", "--policy", "endpoint", "--model"]
    assert cli.main([*line, model, "--name", name]) == status
    assert said in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["tasks.toml"]


@pytest.mark.parametrize(
    "place", ["./weights", "/no/such/weights", "runs/r/trained", "a/b/c", "trained/model"]
)
def test_a_folder_that_is_missing_is_not_sought_on_a_hub(place: str) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        check_place(place)
    check_place("Qwen/Qwen3-0.6B")


@pytest.mark.slow
def test_ctrl_c_ends_a_command_that_a_script_started_behind_it() -> None:
    """A shell without job control has such commands ignore SIGINT."""
    code = (
        "import time, sys; from recipes import cli\n"
        "class Wait:\n"
        "    @staticmethod\n"
        "    def load():\n"
        "        def main(words):\n"
        "            print('ready', flush=True)\n"
        "            for _ in range(300): time.sleep(0.1)  # a signal just before one ends it\n"
        "        return main\n"
        "    line, waits = staticmethod(list), True\n"
        "cli.COMMANDS['wait'] = Wait; sys.argv = ['webagent', 'wait']; sys.exit(cli.main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    process.stdout.close()


def test_what_a_run_lacks_is_said_in_a_sentence(folder, capsys):
    begun = Trajectory("e-1", Task("a/b@1", "https://shop.example/", goal="Buy."))
    with Store.open(folder / "runs/r", create=True) as store:
        store.begin(begun)
    assert cli.main(["report", "runs/r"]) != 0
    assert "runs/r holds no summary" in capsys.readouterr().err
    assert cli.main(["show", "runs/r"]) == 0
    assert "under way" in capsys.readouterr().out
    assert cli.main(["report", "runs/r", "--failures"]) == 0
    assert "no episode has a verdict yet" in capsys.readouterr().out


def test_a_recording_that_cannot_begin_leaves_no_folder(folder, monkeypatch, capsys):
    monkeypatch.setenv("WEBAGENT_CHROMIUM", str(folder / "none"))
    assert cli.main(["record", "https://shop.example/", "--goal", "Buy."]) == Status.SETUP
    assert "none" in capsys.readouterr().err
    assert not list(folder.glob("runs/*"))
