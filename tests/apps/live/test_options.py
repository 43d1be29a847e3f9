"""What `webagent run` can be given besides: a lasting session, functions, a memory of sites."""

from collections.abc import Callable
from typing import Any

import pytest

from loop.console.output import Status
from recipes import cli
from tests.apps.live.conftest import act, kept
from tests.fakes.chat_server import ChatHandler, completion, counted
from tests.webagent.browser.sessions.test_profile import pages_at, running_chromium
from webagent.policy.knowledge import site_of
from webagent.records import Score
from webagent.store import Store

__all__ = ["running_chromium"]

Run = Callable[..., int]
COUNTING = """<title>Counter</title><p id=n></p><script>
localStorage.n = 1 + Number(localStorage.n || 0);
document.getElementById('n').textContent = 'visit ' + localStorage.n</script>"""


@pytest.mark.browser
def test_a_named_profile_goes_on_with_what_the_run_before_left_in_the_browser(
    run, shop, chat_server, folder, monkeypatch
):
    monkeypatch.setenv("WEBAGENT_LOGINS", str(folder / "logins"))
    shop.pages["/count"] = COUNTING
    chat_server.will(act('answer("seen")'))
    for number in (1, 2):
        asked = ("--profile", "me", "--name", f"r{number}", "--no-screenshots")
        assert run(*asked, url=f"{shop.address}/count") == 0
        with Store.open(folder / "runs" / f"r{number}") as store:
            (kept,) = store.trajectories(phase="run")
        page = kept.steps[0].observation
        assert f"visit {number}" in [node.name for node in page.nodes]
    assert list((folder / "logins").glob("me.login"))


@pytest.mark.browser
def test_a_model_is_shown_functions_and_what_is_known_of_the_site(run, shop, chat_server, folder):
    (folder / "own.py").write_text(
        "from webagent import custom_action\n\n@custom_action\ndef price_in_erp(sku: str) -> str:\n"
        '    """Return the price in our own system."""\n    return "421"\n'
    )
    (folder / "known").mkdir()
    file = folder / "known" / f"{site_of(shop.address)}.md"
    file.write_text("- Prices are in the footer.\n")
    chat_server.will(act('price_in_erp("blue")'), act("print_page()"), act('answer("421")'))
    assert run("--actions", "own.py:price_in_erp", "print_page", "--site-memory", "known") == 0
    told = str(chat_server.requests[0])
    assert "price_in_erp(sku)  Return the price in our own system." in told
    assert "Prices are in the footer." in told
    assert "price_in_erp: 421" in str(chat_server.requests[1])
    assert list((folder / "runs" / "r" / "downloads").rglob("*.pdf"))
    with Store.open(folder / "runs" / "r") as store:
        (episode,) = store.ids()
        store.score(episode, Score("success", 1.0, "good", "mine@1"))
    chat_server.will(act('answer("421")'))
    learn = ["memory", "runs/r", "--site-memory", "known", "--entries", "examples"]
    assert cli.main([*learn, "--judge", "mine"]) == 0
    assert "- Prices are in the footer.\n" in file.read_text()
    assert run("--site-memory", "known", "--name", "second", task="Greet Bob") == 0
    assert "price_in_erp" in str(chat_server.requests[-1]), "what went well is shown as an example"


@pytest.mark.browser
def test_a_world_model_is_asked_what_each_candidate_leads_to(run, chat_server, folder, capsys):
    def torn(handler: ChatHandler, body: dict[str, Any]) -> None:
        if "What changes:" in str(body["messages"][-1]["content"]):
            handler.send(completion(["no change"], prompt_tokens=counted(body)))
            return
        replies = [f"Action: {action}" for action in ("click(2)", "click(3)") * 2]
        handler.send(completion(replies[: body.get("n", 1)], prompt_tokens=counted(body)))

    chat_server.will(torn)
    asked = ("--world", "endpoint:w", "--max-steps", "1")
    assert run(*asked, "--no-screenshots") == Status.FAILED
    said = capsys.readouterr().out
    assert "look-ahead: asked in 1 of 1 steps, changed 0, 2 steps imagined" in said
    assert {request["model"] for request in chat_server.requests} == {"big-1", "w"}
    candidates = kept(folder).steps[0].decision.candidates
    assert all("ends 1.00" in candidate.expected for candidate in candidates), "the last step"
    assert run("--world", "map", "--name", "second") == Status.USAGE
    assert "--world-run RUN" in capsys.readouterr().err


@pytest.mark.browser
def test_a_browser_that_runs_already_is_used_and_left_open(
    run, chat_server, running_chromium, capsys
):
    chat_server.will(act('answer("seen")'))
    assert run("--cdp", running_chromium) == 0
    assert pages_at(running_chromium) == ["about:blank"]
    assert run("--cdp", "http://127.0.0.1:9", "--name", "second") == Status.SETUP
    assert "--remote-debugging-port" in capsys.readouterr().err


def test_what_does_not_go_together_is_said_before_anything_is_done(asked, folder, capsys):
    (folder / "g.toml").write_text('other_sites = "deny"\n')
    (folder / "own.py").write_text("def f(): ...\n")
    wrong = {
        "--profile a --login b": "give one of them",
        "--cdp http://127.0.0.1:9222 --guard g.toml": "a guard needs a browser of its own",
        "--proxy nowhere": "'nowhere' is not a proxy; expected one such as",
        "--actions own.py:f": "decorate it with @custom_action",
        "--actions read_fil": "did you mean read_file",
        "--site-memory nothere": "nothere",
        "--policy model:x --site-memory .": "is not prompted",
    }
    for flags, reason in wrong.items():
        assert cli.main([*asked, *flags.split()]) in (Status.USAGE, Status.SETUP)
        assert reason in capsys.readouterr().err
    assert not (folder / "runs").exists()
