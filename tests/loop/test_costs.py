"""What a run costs is told, and a cap ends it in order: nothing is lost, and it can go on."""

import asyncio
import json
from functools import partial
from io import StringIO
from pathlib import Path

import pytest

from loop.console.output import Status
from loop.console.progress import count_episodes
from loop.console.screen import PlainConsole
from loop.costs import Caps, open_ledger, run_within_caps
from loop.costs import format_spending as in_words
from loop.measurement.measurement import CostRecorder
from loop.summary import read_summary
from loop.summary.context import summarize_spending
from loop.summary.format import format_spending_rows
from loop.summary.schema import SpentRow
from recipes import cli
from tests.fakes.chat_server import Behave, ChatServer
from tests.fakes.policy import oracle
from tests.fakes.run import episode
from tests.fakes.world import FakeWorld, fake_plan
from webagent.action import format_action
from webagent.models.model import Capabilities, Completion, Reply
from webagent.models.spending import Ledger, MeteredModel, Price, Prices, Spent
from webagent.policy.language import LanguagePolicy
from webagent.records import Decision, Observation, Provenance, Trajectory
from webagent.rollout import collect, plan_episodes
from webagent.store import Store

PRICES = Prices({"tiny": Price(input=1.0, output=2.0, currency="USD", source="a test")})


class Player:
    """A policy whose model knows what to do next, and takes 10 tokens in and 5 out for it."""

    def __init__(self, ledger: Ledger) -> None:
        self.asked = 0
        self.name, self.capabilities = "tiny", Capabilities()
        self._next = ""
        self._policy = LanguagePolicy(MeteredModel(self, ledger))
        self._lock = asyncio.Lock()

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        async with self._lock:
            self._next = format_action(oracle(trajectory, observation))
            return await self._policy.act(trajectory, observation)

    async def propose(self, trajectory, observation, n):
        return [await self.act(trajectory, observation)]

    async def complete(self, prompt: object, **how: object) -> Completion:
        self.asked += 1
        await asyncio.sleep(0)
        usage = {"input_tokens": 10, "output_tokens": 5, "requests": 1}
        return Completion((Reply(f"Action: {self._next}"),), "served", usage, seconds=0.25)

    async def close(self) -> None:
        """Nothing is held."""


async def session(store: Store, caps: Caps) -> Player:
    """Play six episodes of three steps as far as the caps allow."""
    ledger = open_ledger(store, caps, PRICES)
    player = Player(ledger)
    plan = plan_episodes(fake_plan(6), Provenance(arm="tiny", phase="evaluate"))

    async def world() -> FakeWorld:
        return FakeWorld()

    async def work() -> None:
        with CostRecorder(store, "tiny") as clock:
            await collect(plan, player, world, concurrency=3, recorder=clock)

    await run_within_caps(work(), ledger, store, None)
    return player


def told(store: Store) -> SpentRow:
    """What the run has spent."""
    row = summarize_spending(store)
    assert row is not None
    return row


async def test_a_cap_on_money_ends_the_run(store: Store) -> None:
    player = await session(store, Caps(max_cost=100e-6))
    money = player.asked * 20e-6
    assert 100e-6 <= money < (100 + 3 * 20) * 1e-6
    assert told(store)["run"]["money"] == pytest.approx(money)
    assert "in money is spent" in told(store)["stopped"]


async def test_a_run_without_a_cap_comes_to_its_end_and_tells_its_cost(store: Store) -> None:
    await session(store, Caps())
    row = told(store)
    assert (row["steps"], row["episodes"], row["stopped"]) == (18, 6, "")
    assert row["run"]["money"] == pytest.approx(18 * 20e-6)
    assert row["per_step"] and row["per_episode"]
    assert row["per_step"]["money"] == pytest.approx(20e-6)
    assert (row["per_episode"]["input_tokens"], row["per_episode"]["output_tokens"]) == (30, 15)
    assert row["per_episode"]["seconds"] > 0
    assert row["currency"] == "USD"
    assert (row["asked"][0]["price"], row["asked"][0]["price_source"]) == ("known", "a test")
    assert row["asked"][0]["seconds"] == 18 * 0.25


async def test_small_sums_are_told_from_nothing_and_unknown_ones_are_never_told_as_nothing(store):
    await session(store, Caps())
    row = told(store)
    assert [cells[-1] for cells in format_spending_rows(row)] == [
        "0.000020 USD",
        "0.000060 USD",
        "0.00036 USD",
    ]
    open_ledger(store, Caps(), Prices())
    assert [cells[-1] for cells in format_spending_rows(told(store))] == ["unknown"] * 3
    open_ledger(store, Caps(), Prices({"tiny": Price(own=True)}))
    assert [cells[-1] for cells in format_spending_rows(told(store))] == ["–"] * 3


async def test_an_error_in_the_work_is_not_swallowed(store: Store) -> None:
    async def broken() -> None:
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        await run_within_caps(broken(), open_ledger(store, Caps(), PRICES), store, None)


def test_the_meter_tells_what_was_spent_so_far() -> None:
    entries = {("policy", "tiny"): Spent("policy", "tiny", 12, input_tokens=132, output_tokens=84)}
    ledger = Ledger(prices=PRICES, entries=entries)
    text = StringIO()
    with count_episodes(
        1, PlainConsole(file=text, width=200), partial(in_words, ledger)
    ) as counter:
        counter.count(episode(Provenance(), "click-link", 0, True), 1.0, is_new=True)
    assert "216 tokens, 0.0003 USD" in text.getvalue()
    assert in_words(Ledger()) == ""
    assert in_words(Ledger(entries=entries)) == "216 tokens"


@pytest.fixture
def server(chat_server: ChatServer, folder: Path) -> ChatServer:
    """A server whose model only waits, the endpoint of the benchmark; runs are made here."""
    chat_server.will(Behave.reply("Thought: no.\nAction: wait(100)"))
    return chat_server


ASKED = (
    *("--tasks", "click-test-2", "--seeds", "3", "--no-baselines"),
    *("--policy", "endpoint", "--model", "served-1"),
)


@pytest.mark.very_slow
@pytest.mark.browser
def test_a_benchmark_stops_at_its_cap_says_so_and_goes_on(server, capsys):
    Path("prices.toml").write_text(
        'currency = "USD"\n[models."served-*"]\ninput = 100\noutput = 100\nsource = "a test"\n'
    )
    run = Path("runs") / "c"
    asked = (*ASKED, "--concurrency", "1", "--name", "c", "--max-tokens-total", "10000")
    assert cli.main(["benchmark", *asked]) == 4
    out = " ".join(capsys.readouterr().out.split())
    assert "tokens of 10,000 are spent" in out
    assert "With a higher cap, go on with: webagent benchmark --resume runs/c" in out
    assert "served-1 as policy" in out and "USD prices (a test)" in out
    row = read_summary(run)["spent"]
    (asked_of,) = row["asked"]
    tokens = asked_of["input_tokens"] + asked_of["output_tokens"]
    assert 10_000 <= tokens < 10_000 + 2 * tokens / asked_of["requests"]
    assert row["run"]["money"] == pytest.approx(tokens * 100 / 1e6)
    assert row["steps"] == asked_of["requests"] == len(server.requests) > 10
    again = ("--resume", str(run), "--max-tokens-total", "1000000", "--json")
    assert cli.main(["benchmark", *again]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["arms"][0]["rounds"][0]["episodes"] == 3
    assert summary["spent"]["stopped"] == ""
    assert summary["spent"]["asked"][0]["requests"] == len(server.requests)
    read = summary["spent"]["per_step"]["input_tokens"]
    assert ("a step", f"{read:,.0f}", "7") in [
        row[:3] for row in format_spending_rows(summary["spent"])
    ]


@pytest.mark.browser
def test_an_unknown_price_is_shown_as_unknown(server, capsys):
    assert cli.main(["benchmark", *ASKED, "--seeds", "1", "--name", "u"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "price unknown" in out
    assert read_summary(Path("runs/u"))["spent"]["run"]["money"] is None
    assert out.count("unknown") >= 4


@pytest.mark.browser
def test_time_that_is_up_ends_a_benchmark_of_any_policy(folder, capsys):
    asked = ("--tasks", "all", "--name", "t", "--max-minutes", "0.0001")
    assert cli.main(["benchmark", *asked]) == 4
    out = capsys.readouterr().out
    assert "its time is up" in out
    assert "no episode came to its end before that" in out
    summary = read_summary(folder / "runs" / "t")
    assert summary["spent"]["run"]["money"] is None
    assert summary["spent"]["asked"] == []


@pytest.mark.parametrize(
    ("file", "asked", "answer"),
    [
        ("", (*ASKED, "--max-cost", "5"), "the price of 'served-1' is not known, there is no"),
        (
            'currency = "USD"\n[models.other]\ninput = 1\noutput = 1\n',
            (*ASKED, "--max-cost", "5"),
            'prices.toml has none; add [models."served-1"] with input and output',
        ),
        (
            '[models."served*"]\nown = true\n',
            (*ASKED, "--max-cost", "5"),
            "runs on own weights, which cost no money",
        ),
        ("", ("--max-cost", "5"), "--max-cost 5 is for --policy endpoint"),
        ("", (*ASKED, "--max-tokens-total", "0"), "--max-tokens-total 0 leaves nothing"),
        ("", ("--max-minutes", "-1"), "--max-minutes -1 leaves nothing to spend"),
        ("input =", ASKED, "prices.toml is not TOML"),
    ],
)
def test_a_cap_that_cannot_be_kept_is_refused_before_anything_is_spent(
    folder, capsys, file, asked, answer
):
    if file:
        (folder / "prices.toml").write_text(file)
    status = Status.SETUP if answer.endswith("TOML") else Status.USAGE
    assert cli.main(["benchmark", *asked]) == status
    assert answer in " ".join(capsys.readouterr().err.split())
    assert not (folder / "runs").exists()
