"""`webagent propose`, through its real entry point: a model behind an endpoint, a site of pages."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.rules import checks_hold
from loop.proposers.material import visit_pages
from loop.proposers.records import read_records
from loop.proposers.requests import SiteScope
from recipes import cli
from tasks.task import Task
from tests.fakes import tiny_models
from tests.fakes.site import Site
from tests.loop.proposers.test_asking import reply
from webagent.action.actions import Click
from webagent.browser import Browser
from webagent.records import (
    Decision,
    Ending,
    Node,
    Observation,
    Provenance,
    Score,
    Step,
    Trajectory,
)
from webagent.store import Store

SHOP = "https://shop.example.com/"


def verdict(*judged: bool) -> str:
    """A readable second look: which are valid."""
    entries = [
        {"task": n, "valid": valid, "safe": True, "reason": "so it is"}
        for n, valid in enumerate(judged, 1)
    ]
    return json.dumps({"verdicts": entries})


def asked(tmp_path: Path, *more: str) -> list[str]:
    """The command line of a run that asks the chat server and visits nothing."""
    usual = ["--pages", "0", "--name", "p", "--runs", str(tmp_path), "--model", "m"]
    return ["propose", "--site", SHOP, "--count", "5", *usual, *more]


@pytest.fixture
def serves(chat_server, behave):
    """Lets the chat server give these replies in order."""

    def will(*replies: str) -> None:
        chat_server.will(*(behave.reply(text) for text in replies))

    return will


def test_proposals_are_made_sifted_counted_and_kept(tmp_path, serves, capsys):
    goals = ("What is the price of Dune?", "Buy a lamp.", "Explore the shop.", "Who wrote Emma?")
    serves(reply(*goals), verdict(True, False))
    assert cli.main(asked(tmp_path)) == 0
    told = capsys.readouterr().out
    assert "2/4 50 % [15, 85]" in told and "1 x safety: a payment" in told and "tokens" in told
    lines = read_records(tmp_path / "p" / "proposals.jsonl")
    refused = [[each.filter for each in line.proposal.refusals] for line in lines]
    assert refused == [["feasibility"], ["safety"], ["validity"], ["validity"]]
    assert all(line.model and line.prompt and line.request for line in lines)
    [row] = json.loads((tmp_path / "p" / "summary.json").read_text())["sources"]
    assert (row["made"], row["untried"], row["taken"]) == (4, 1, 0)


def test_a_run_that_is_resumed_asks_nothing_again(tmp_path, serves, chat_server, capsys):
    serves(reply("What is the price of Dune?"), verdict(True))
    assert cli.main(asked(tmp_path)) == 0
    before, count = (tmp_path / "p" / "proposals.jsonl").read_text(), len(chat_server.requests)
    capsys.readouterr()
    assert cli.main(["propose", "--resume", str(tmp_path / "p"), "--json"]) == 0
    assert len(chat_server.requests) == count
    assert (tmp_path / "p" / "proposals.jsonl").read_text() == before
    assert json.loads(capsys.readouterr().out)["sources"][0]["made"] == 1


def test_it_stops_at_its_cap_and_goes_on_from_there(tmp_path, serves, capsys):
    serves(reply("What is the price of Dune?"), verdict(True))
    assert cli.main(asked(tmp_path, "--max-tokens-total", "1")) == 4
    assert "stopped before its end" in capsys.readouterr().err
    assert read_records(tmp_path / "p" / "proposals.jsonl") == []
    more = ["--resume", str(tmp_path / "p"), "--max-tokens-total", "100000"]
    assert cli.main(["propose", *more]) == 0
    assert len(read_records(tmp_path / "p" / "proposals.jsonl")) == 1


def test_replies_that_cannot_be_read_are_counted(tmp_path, serves, capsys):
    serves("I would rather not.", "No.")
    assert cli.main(asked(tmp_path)) == 1
    assert "not read: pages: expected one JSON object" in capsys.readouterr().out
    assert (
        json.loads((tmp_path / "p" / "summary.json").read_text())["sources"][0]["unreadable"] == 1
    )


def episode(number: int, name: str) -> Trajectory:
    """An episode on the shop."""
    task = Task(f"shop/{name}@1", f"{SHOP}books", "What is the price of Emma?", seed=number)
    page = Observation(task.goal, f"{SHOP}books", "Books", (Node(3, "link", "Emma"),))
    steps = (Step(page, Decision(Click(3))),)
    place = Provenance(index=number, phase="collect")
    return Trajectory(
        f"e-{name}-{number}", task, task.goal, steps, page, Ending.ANSWERED, provenance=place
    )


def a_run(folder: Path) -> Path:
    """A task that succeeds half of the time and one that never does."""
    with Store.open(folder / "run", create=True) as store:
        for number in range(4):
            for name, success in (("price", number % 2 == 0), ("lost", False)):
                whole = episode(number % 2, name)
                whole = replace(whole, id=f"{whole.id}-{number}")
                store.add(whole)
                store.score(whole.id, Score("success", float(success), "seen", checks_hold().id))
    return folder / "run"


def test_what_was_failed_is_a_source(tmp_path: Path, serves, chat_server) -> None:
    run = a_run(tmp_path)
    task = {"goal": "Who wrote Emma?", "why": "w", "steps": 2, "from": 1}
    tasks = [{**task, "direction": way} for way in ("easier", "harder", "sideways")]
    serves(json.dumps({"tasks": tasks}), *["no", "no"] * 3)
    more = ["--run", str(run), "--source", "failures", "--no-second-look"]
    assert cli.main(asked(tmp_path, *more)) == 0
    shown = str(chat_server.requests[0]["messages"][1]["content"])
    assert "solved 0 of" in shown and "direction: easier" in shown
    lines = read_records(tmp_path / "p" / "proposals.jsonl")
    assert lines and {line.proposal.source for line in lines} == {"failures"}
    assert all(line.proposal.task.parent.startswith("shop/") for line in lines)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--source", "failures"], "name --run"),
        (["--source", "dreams"], "unknown source 'dreams'"),
        (["--way", "screens"], "--way is gone; leave it out"),
        (["--count", "0"], "1 or more"),
        (["--max-cost", "5"], "price of 'm' is not known"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_spent(tmp_path, more, problem, capsys):
    assert cli.main(asked(tmp_path, *more)) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "p").exists()


def test_a_preview_asks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(asked(tmp_path, "--preview", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["preview"]["proposals at most"] == 5
    assert not (tmp_path / "p").exists()


@pytest.mark.slow
def test_a_model_with_random_weights_in_this_process_is_asked_and_its_noise_counted(
    tmp_path, capsys
):
    weights = tiny_models.causal(tmp_path / "tiny")
    usual = ["--pages", "0", "--name", "p", "--runs", str(tmp_path), "--max-tokens", "24"]
    local = ["--policy", f"local:{weights}", "--count", "3"]
    assert cli.main(["propose", "--site", SHOP, *usual, *local]) == 1
    summary = json.loads((tmp_path / "p" / "summary.json").read_text())
    assert (summary["sources"][0]["made"], summary["sources"][0]["unreadable"]) == (0, 1)
    assert "tokens" in summary["spent"]


@pytest.fixture
async def pages() -> AsyncIterator[Site]:
    """A little site with links, one of which leads away and one of which logs out."""
    site = Site()
    links = '<a href="/book/1">one</a><a href="/book/2">two</a><a href="/help#top">help</a>'
    away = (
        '<a href="http://elsewhere.test/">away</a><a href="/logout">out</a><a href="/x.zip">zip</a>'
    )
    site.page("/", f"<title>Home</title><h1>Books</h1>{links}{away}")
    for number in (1, 2):
        site.page(f"/book/{number}", f"<title>Book {number}</title>text")
    site.page("/help", "<title>Help</title><h1>Searching</h1>")
    await site.open()
    yield site
    await site.close()


@pytest.mark.browser
async def test_pages_are_visited_along_links_within_the_site(browser: Browser, pages: Site) -> None:
    scope = SiteScope("Books", f"{pages.address}/")
    start = Task("proposed/visit@1", scope.address, clock="real", settle_ms=300)
    seen = await visit_pages(browser.world, start, scope, 3)
    paths = [page.url.removeprefix(pages.address) for page in seen]
    assert paths[0] == "/" and "/help" in paths
    assert len({path for path in paths if path.startswith("/book/")}) == 1
    assert "Books" in seen[0].text
    more = await visit_pages(browser.world, start, scope, 20)
    assert len(more) == 4
    assert not {"/logout", "/x.zip"} & {request.path for request in pages.requests}
