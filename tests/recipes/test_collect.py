"""`webagent collect` keeps what a policy does, up to its caps, and goes on where it stopped."""

import json
from pathlib import Path

import pytest

from apps.view.contents import Archive
from loop.console.output import Status
from recipes import cli
from webagent.models.builtin.model import BuiltinModel
from webagent.store import Store

pytestmark = pytest.mark.usefixtures("folder")

ASKED = ["collect", "miniwob", "--tasks", "click-test", "--name", "c", "--json"]
PAGE = "<title>Shop</title><h1>Shop</h1><p>Open from 9 to 5.</p>"
OWN = '[tasks.hours]\nurl = "{url}"\ngoal = "When is it open?"\nmax_steps = 1\nanswer = "9 to 5"\n'


@pytest.mark.browser
def test_episodes_are_kept_up_to_the_count_and_more_when_it_is_resumed_with_a_higher_one(
    folder, capsys
):
    assert cli.main([*ASKED, "--count", "1"]) == Status.DONE
    assert Archive(folder / "runs").run("c").is_over(), "the viewer would call it interrupted"
    found = json.loads(capsys.readouterr().out)
    assert (found["episodes"], found["planned"], found["succeeded"]) == (1, 1, 1)

    assert cli.main(["collect", "--resume", "runs/c", "--count", "2", "--json"]) == Status.DONE
    assert json.loads(capsys.readouterr().out)["episodes"] == 2
    with Store.open(folder / "runs" / "c") as store:
        entries = store.entries()
    assert {entry.phase for entry in entries} == {"collect"}
    assert [entry.seed for entry in entries] == [0, 1]


@pytest.mark.browser
def test_weights_of_the_program_stray_and_a_cap_on_steps_ends_it(folder, capsys):
    BuiltinModel.create(0).save(folder / "weights")
    cli.main([*ASKED, "--policy", "model:weights", "--random-share", "1", "--steps", "10"])
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["steps"] <= 10 and found["episodes"] < found["planned"]


@pytest.mark.browser
@pytest.mark.very_slow
def test_two_processes_share_the_work(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*ASKED, "--seeds", "2", "--workers", "2"]) == Status.DONE
    assert json.loads(capsys.readouterr().out)["episodes"] == 2


@pytest.mark.browser
def test_tasks_of_a_file_of_ones_own_are_played_and_their_answers_checked(
    folder, monkeypatch, capsys
):
    (folder / "shop.html").write_text(PAGE)
    (folder / "tasks.toml").write_text(OWN.format(url=(folder / "shop.html").as_uri()))
    BuiltinModel.create(0).save(folder / "weights")
    asked = ["collect", "own", "--files", "tasks.toml", "--count", "1", "--name", "o", "--json"]
    assert cli.main([*asked, "--policy", "model:weights"]) == Status.DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["episodes"], found["unscored"], found["succeeded"]) == (1, 0, 0)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--split", "test"], "--split test is for evaluation"),
        (["--count", "0"], "--count 0 must be 1 or more"),
        (["--workers", "0"], "--workers 0: must be at least 1"),
        (["--tasks", "clik-test"], "did you mean click-test"),
    ],
)
def test_what_cannot_be_collected_is_a_wrong_command_line(flags, said, folder, capsys):
    assert cli.main([*ASKED, *flags]) == Status.USAGE
    assert said in json.loads(capsys.readouterr().out)["error"]
    assert list(folder.iterdir()) == []
