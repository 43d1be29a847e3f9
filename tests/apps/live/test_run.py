"""`webagent run` from the command line: what is shown, what is kept, and the exit status."""

import json
from base64 import b64decode
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from PIL import Image

from loop.console.output import Status
from recipes import cli
from tests.apps.live.conftest import act, lines_of
from tests.fakes.chat_server import Behave
from webagent.records import Ending
from webagent.store import Store

pytestmark = pytest.mark.browser
Run = Callable[..., int]


def test_a_task_is_shown_step_by_step_and_kept_like_any_run(run, chat_server, folder, capsys):
    chat_server.will(act('fill(1, "Ada")', "her name first"), act("click(2)"), act('answer("hi")'))
    assert run() == 0
    said = capsys.readouterr().out
    assert "her name first" in said and "fill(1, \"Ada\")  # textbox 'Name'" in said
    assert "click(2)  # button 'Send'" in said
    assert "answered: hi" in said
    last = said.splitlines()[-1]
    assert "answered in 3 steps" in last
    assert "tokens, cost not known (the price of 'big-1' is not known)" in last
    assert "kept in runs/r" in last and "webagent" in last
    with Store.open(folder / "runs" / "r") as store:
        (kept,) = store.trajectories(phase="run")
    assert kept.last is not None and kept.last.title == "Hello Ada"
    assert kept.ending is Ending.ANSWERED and kept.goal == "Greet Ada"


@pytest.mark.slow
def test_a_run_is_judged_and_exported_like_any_other(run, chat_server, folder, capsys):
    chat_server.will(act('answer("420")'))
    assert run("--no-screenshots") == 0
    assert cli.main(["export", "runs/r", "--to", "datasets", "--out", "rows"]) == 0
    assert list((folder / "rows").rglob("*.parquet"))
    chat_server.will(Behave.reply("Evidence: 420 is there\nVerdict: success"))
    asked = ("--with", "judge:webvoyager", "--policy", "endpoint", "--model", "m")
    assert cli.main(["judge", "runs/r", *asked]) == 0, capsys.readouterr().err


def test_programs_get_a_json_object_a_line(run, chat_server, folder, capsys):
    (folder / "prices.toml").write_text(
        'currency = "EUR"\n[models."big-*"]\ninput = 1.0\noutput = 2.0\n'
    )
    (folder / "form.json").write_text('{"type": "object", "required": ["price"]}')
    answer = json.dumps(json.dumps({"price": 420}))
    chat_server.will(act("click(3)"), act('answer("dear")'), act(f"answer({answer})"))
    assert run("--json", "--schema", "form.json", "--trace", "--max-cost", "1") == 0
    shown = capsys.readouterr()
    begun, clicked, done, answered, end = lines_of(shown.out)
    assert (begun["event"], begun["title"]) == ("start", "Shop")
    by_whom = [clicked[key] for key in ("action", "on", "by")]
    assert by_whom == ["click(3)", "link 'The list'", "agent"]
    assert "downloaded list.csv (8 bytes)" in done["outcome"]
    assert answered["usage"]["requests"] == 2
    assert (end["outcome"], end["value"]) == ("answered", {"price": 420})
    assert end["cost"] > 0 and end["currency"] == "EUR" and end["tokens"] > 0
    (file,), (trace,) = end["downloads"], end["trace"]
    assert Path(file).read_text() == "blue,420" and Path(trace).suffix == ".zip"
    assert json.loads((folder / "runs/r/result.json").read_text())["value"] == {"price": 420}
    assert "run folder" in shown.err


def test_an_end_without_an_answer_has_its_status_and_says_what_would_help(
    run, chat_server, folder, capsys
):
    chat_server.will(act("scroll(0, 0, 10)"))
    assert run("--max-steps", "2") == Status.FAILED
    said = capsys.readouterr().out
    assert "step limit: all of its 2 steps were taken" in said and "--max-steps" in said
    assert run("--name", "second", "--max-tokens-total", "10") == Status.STOPPED
    assert "stopped: " in (said := capsys.readouterr().out) and "tokens of 10 are spent" in said
    with Store.open(folder / "runs" / "second") as store:
        assert [one.ending for one in store.trajectories("finished")] == [Ending.STOPPED]
    chat_server.will(act('give_up("no kayak here")'))
    assert run("--name", "third") == Status.FAILED
    assert "gave up: no kayak here" in capsys.readouterr().out
    (folder / "form.json").write_text('{"type": "integer"}')
    for reply, more, said in (
        (Behave.reply("I like kayaks."), (), "no usable action from big-1"),
        (act('answer("dear")'), ("--schema", "form.json"), "the answer 'dear' is not JSON"),
    ):
        chat_server.will(reply)
        assert run("--name", f"{len(said)}", *more) == Status.FAILED
        assert f"policy unreadable: {said}" in capsys.readouterr().out


def test_what_fails_outside_the_agent_has_another_status(run, chat_server, capsys):
    assert run(url="http://127.0.0.1:9/") == Status.SETUP
    assert "world failed: " in (said := capsys.readouterr().out) and "127.0.0.1:9" in said
    chat_server.will(Behave.status(404))
    assert run("--name", "second") == Status.SETUP
    assert "model failed: model big-1" in capsys.readouterr().out


def test_a_model_that_sees_is_shown_the_page_as_it_looks(run, chat_server, folder):
    chat_server.will(act("click(2)"), act('answer("")'))
    assert run("--images") == 0
    with Store.open(folder / "runs" / "r") as store:
        (kept,) = store.trajectories(phase="run")
        shown = [store.images.get(step.observation.screenshot) for step in kept.steps]
    for request, picture in zip(chat_server.requests, shown, strict=True):
        parts = [part for each in request["messages"] for part in each["content"]]
        pictures = [part for part in parts if isinstance(part, dict) and "image_url" in part]
        sent = b64decode(pictures[-1]["image_url"]["url"].partition(",")[2])
        with Image.open(BytesIO(sent)) as image:
            assert image.size == kept.task.viewport
        assert sent == picture


def test_an_agent_begins_signed_in_as_a_person_was(run, shop, chat_server, folder, monkeypatch):
    shop.pages["/sign-in"] = "<script>document.cookie = 'who=ada; max-age=3600'</script>"
    shop.pages["/"] = "<script>document.write(`<h1>${document.cookie || 'Sign in'}</h1>`)</script>"
    monkeypatch.setenv("WEBAGENT_LOGINS", str(folder / "logins"))
    monkeypatch.setattr("sys.stdin", StringIO("\n"))
    assert cli.main(["login", f"{shop.address}/sign-in", "--site", "shop", "--headless"]) == 0
    chat_server.will(act('answer("")'))
    assert run() == run("--name", "second", "--login", "shop") == 0
    seen = []
    for name in ("r", "second"):
        with Store.open(folder / "runs" / name) as store:
            (kept,) = store.trajectories(phase="run")
        seen.append([node.name for node in kept.steps[0].observation.nodes])
    assert seen == [["Sign in"], ["who=ada"]]


def test_a_page_cannot_steer_the_terminal(run, shop, chat_server, capsys):
    shop.pages["/"] = "<title>[red]x\x1b[2J</title><button>\x1b]0;owned\x07 [bold]Go</button>"
    chat_server.will(act("click(1)", "see \x1b[31m this"), act('answer("a\x1b[2Jb")'))
    assert run() == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\x07" not in said
    assert "[bold]Go" in said


def test_without_a_terminal_what_needs_a_yes_is_refused(run, chat_server, folder, capsys):
    (folder / "guard.toml").write_text(
        '[[actions]]\nverdict = "ask"\nactions = ["click"]\nreason = "sending is mine"\n'
    )
    chat_server.will(act("click(2)"), act('answer("")'))
    assert run("--guard", "guard.toml") == 0
    said = capsys.readouterr().out
    assert "no terminal to ask at" in said
    assert "refused: nobody approved of it (sending is mine" in said


def test_mistakes_are_said_before_anything_is_started(run, folder, capsys, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    (folder / "broken.json").write_text('{"type": ')
    (folder / "wrong.json").write_text('{"type": "numbr"}')
    (folder / "guard.toml").write_text("other_site = 'deny'")
    wrong = {
        ("--max-cost", "1"): "--max-cost 1 cannot be kept: the price of 'big-1' is not known",
        ("--max-steps", "0"): "must be at least 1",
        ("--site", "shop"): "--profiles and --site go together",
        ("--guard", "guard.toml"): "did you mean other_sites",
    }
    missing = {
        ("--headed",): "--headed needs a display",
        ("--schema", "broken.json"): "--schema broken.json is not JSON",
        ("--schema", "none.json"): "cannot be read",
        ("--schema", "wrong.json"): "JSON Schema is wrong at type",
        ("--login", "nobody"): "nobody",
    }
    for status, found in ((Status.USAGE, wrong), (Status.SETUP, missing)):
        for arguments, said in found.items():
            assert run(*arguments) == status, arguments
            assert said in capsys.readouterr().err
    assert run(url="shop.example") == Status.USAGE
    assert "--url 'shop.example' is no address" in capsys.readouterr().err
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert run() == Status.SETUP
    assert "no key for the model 'big-1'" in capsys.readouterr().err
    assert cli.main(["run"]) == Status.USAGE
    assert "expected a task" in capsys.readouterr().err
    assert cli.main(["run", "x", "--url", "about:blank"]) == Status.USAGE
    assert "no policy: give --model" in capsys.readouterr().err
    assert not list(folder.glob("runs/*"))


def test_what_is_asked_again_is_shown_and_a_failure_names_the_command_that_asks_the_model(
    run, chat_server, folder, capsys
):
    later, refused = {"Retry-After": "0.1"}, "Incorrect API key provided"
    chat_server.will(Behave.status(429, headers=later), Behave.status(401, message=refused))
    assert run("--model", "maker/big 2") == Status.SETUP
    said = capsys.readouterr().out
    assert "status 429: as the test wished; asked again in" in said and "2 of 6" in said
    assert f"the key was refused (status 401: {refused}); check OPENAI_API_KEY" in said
    assert "webagent doctor --model 'maker/big 2' asks the model one question" in said


def test_a_policy_of_ones_own_is_called_by_its_class(run: Run, folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from webagent.action import Answer\n"
        "from webagent.records import Decision\n\n"
        "class Quitter:\n"
        "    async def act(self, trajectory, observation):\n"
        "        return Decision(Answer('no'))\n\n"
        "    async def propose(self, trajectory, observation, n):\n"
        "        return [await self.act(trajectory, observation)]\n",
        encoding="utf-8",
    )
    assert run("--policy", "python:mine.py:Quitter") == Status.DONE
    with Store.open(folder / "runs" / "r") as store:
        (kept,) = store.trajectories(phase="run")
    assert kept.provenance.arm == "Quitter"
