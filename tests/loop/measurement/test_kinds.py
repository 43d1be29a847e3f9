"""A sample of each kind of benchmark goes through loader, runner and scorer, on a recording."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.catalogue import BENCHMARKS, Benchmark
from benchmarks.oracles import ORACLES, View
from loop.summary import read_summary
from recipes import cli
from tests.loop.measurement import published, shop
from tests.loop.measurement.shop import SHOP
from webagent.action import Action
from webagent.action.actions import Answer, Click, GiveUp, Goto
from webagent.store import Store

DONE = json.dumps(
    {"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None, "error_details": None}
)
pytestmark = pytest.mark.browser


def plan(*steps: Action | str) -> Callable[[View], Action]:
    """Does these one after the other: an action, a path to open, or `click NAME`."""

    def choose(view: View) -> Action:
        step = steps[len(view.done)]
        if not isinstance(step, str):
            return step
        if step.startswith("click "):
            return Click(view.find("link", "button", name=step.removeprefix("click ")).mark)
        return Goto(f"{SHOP}{step}")

    return choose


BUY = ("/cart", "/lamps", "click Buy")
RIGHT = {
    "1": plan("click Lamps", Answer("12.50")),
    "2": plan("click Lamps", Answer("")),
    "3": plan(*BUY, Answer("")),
    "shopping-4": plan(Answer("")),
    "shopping-5": plan(Answer("")),
    "10001": plan(Answer("lamps: 17")),
    "21": plan("click Buy", Answer(DONE)),
    "40": plan("/search?q=lamp", "click Brass lamp", Answer("")),
    "aa11": plan("click Lamps", Answer("The lamps are open.")),
    "Shop--0": plan("click Lamps", Answer("The brass lamp.")),
    "level1-0": plan(Answer("17")),
}
WRONG = {
    "1": plan(Answer("21.50")),
    "2": plan(Answer("")),
    "3": plan("/lamps", Answer("")),
    "10001": plan(Answer("lamps: 16")),
    "21": plan(Answer(DONE)),
    "40": plan("/search?q=lamp", Answer("")),
    "aa11": plan(GiveUp("no")),
    "Shop--0": plan(GiveUp("no")),
    "level1-0": plan(Answer("16")),
}


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The shop as a HAR, recorded once."""
    return shop.record(tmp_path_factory.mktemp("shop")).read_text()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recording: str) -> Path:
    """A recording of the shop, a login, and a benchmark of all kinds at once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(BENCHMARKS, "samples", Benchmark("all kinds", 11, published.__name__))
    (tmp_path / "addresses.toml").write_text(f'shopping = "{SHOP}"\n')
    (tmp_path / "logins").mkdir()
    (tmp_path / "logins" / "shopping.json").write_text(json.dumps({"cookies": [], "origins": []}))
    (tmp_path / "shop.har").write_text(recording)
    return tmp_path


ASKED = (
    *("samples", "--addresses", "addresses.toml", "--logins", "logins"),
    *("--har", "shop.har", "--judge", "cascade(rules, judge:webvoyager)", "--judge-model", "j"),
    "--no-baselines",
)


def scored(folder: Path, monkeypatch: pytest.MonkeyPatch, scripts: object) -> dict[str, float]:
    """What a run with these scripts is given, by task."""
    assert isinstance(scripts, dict)
    for name, script in scripts.items():
        monkeypatch.setitem(ORACLES, name, script)
    assert cli.main(["benchmark", *ASKED, "--name", "run", "--tasks", *scripts]) == 0
    (arm,) = read_summary(folder / "runs" / "run")["arms"]
    return {name: rate["success"] for name, rate in arm["by_task"].items()}


def test_every_kind_is_loaded_played_and_scored(folder, monkeypatch, chat_server, behave):
    chat_server.will(behave.reply("The page shows the lamp that was asked for. SUCCESS"))
    assert scored(folder, monkeypatch, RIGHT) == dict.fromkeys(RIGHT, 1.0) | {"shopping-5": 0.0}
    assert len(chat_server.requests) == 2, "only where rules have nothing to say"
    with Store.open(folder / "runs" / "run") as store:
        by_name = {each.task.name: each for each in store.trajectories(phase="evaluate")}
        reasons = {s.reason for scores in store.scores().values() for s in scores}
    assert by_name["21"].task.login == "shopping"
    assert by_name["2"].last is not None and by_name["2"].last.url == f"{SHOP}/lamps"
    assert any("the lamp that was asked for" in reason for reason in reasons)


def test_what_is_not_done_is_not_scored_as_done(folder, monkeypatch, chat_server, behave):
    chat_server.will(behave.reply("SUCCESS"))
    assert scored(folder, monkeypatch, WRONG) == dict.fromkeys(WRONG, 0.0)
    assert chat_server.requests == [], "whoever gave no answer has failed without a question"


def test_without_a_judge_what_has_no_checks_is_unscored_and_never_zero(folder, monkeypatch, capsys):
    for name in ("aa11", "level1-0"):
        monkeypatch.setitem(ORACLES, name, RIGHT[name])
    asked = ("--har", "shop.har", "--addresses", "addresses.toml")
    names = ("--tasks", "aa11", "level1-0", "--no-baselines", "--name", "run")
    assert cli.main(["benchmark", "samples", *asked, *names]) == 0
    summary = read_summary(folder / "runs" / "run")
    (arm,) = summary["arms"]
    assert {name: rate["success"] for name, rate in arm["by_task"].items()} == {"level1-0": 1.0}
    assert summary["failures"]["unscored"] == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "1 unscored: the task has no check for 'success'; a judge must decide" in told
    assert cli.main(["benchmark", "samples", *asked, "--tasks", "aa11", "--no-baselines"]) == 1
    assert "name a judge with --judge" in capsys.readouterr().out


def test_a_model_that_looks_is_shown_the_goals_picture_and_none_is_played_without_it(
    folder, chat_server, behave
):
    chat_server.will(behave.reply('Thought: there it is\nAction: answer("")'))
    asked = ("--har", "shop.har", "--addresses", "addresses.toml")
    looks = ("--policy", "endpoint", "--model", "m", "--images", "--no-baselines")
    played = ("benchmark", "samples", *asked, *looks, "--tasks", "shopping-4")
    assert cli.main([*played, "--name", "run"]) == 0
    parts = chat_server.requests[0]["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "image_url"]
    assert f"attached first: 1. {SHOP}/lamp.png." in parts[0]["text"]
    with Store.open(folder / "runs" / "run") as store:
        (whole,) = store.trajectories()
        shown = [store.images.get(name) for name in whole.steps[0].decision.images]
    assert shown[0] == shop.noise(1)
    assert whole.task.images == (f"{SHOP}/lamp.png",)

    text = (folder / "shop.har").read_text().replace("/lamp.png", "/lost.png")
    (folder / "shop.har").write_text(text)
    assert cli.main([*played, "--name", "lost"]) == 1
    assert len(chat_server.requests) == 1
    failures = read_summary(folder / "runs" / "lost")["failures"]
    assert (failures["world failed"], failures["masked"]) == (3, 1)
