"""Contracts of a guard's file, through the command."""

from pathlib import Path

import pytest

from loop.console.output import Status
from recipes import cli
from tests.fakes.chat_server import Behave, ChatServer
from webagent.records import Ending, Trajectory
from webagent.store import Store

SHOP = """<title>Shop</title><button onclick="document.body.append('Total: 10')">Count</button>
<button onclick="document.body.append(' Sold out')">Buy</button>"""
CONTRACT = """{more}
[[contracts]]
actions = ["click"]
when = {{ properties = {{ name = {{ const = "Buy" }} }} }}
before = {{ properties = {{ text = {{ pattern = "Total" }} }} }}
after = {{ properties = {{ text = {{ pattern = "Thank you" }} }} }}
reason = "buying needs a total, and ends in thanks"
"""


@pytest.fixture
def play(folder: Path, chat_server: ChatServer):
    """Play these actions under a guard whose file begins so; return the episode."""
    (folder / "shop.html").write_text(SHOP)

    def run(more: str, *actions: str) -> Trajectory:
        (folder / "guard.toml").write_text(CONTRACT.format(more=more))
        chat_server.will(*(Behave.reply(f"Thought: so.\nAction: {each}") for each in actions))
        words = ["run", "Buy it", "--url", (folder / "shop.html").as_uri(), "--model", "m"]
        cli.main([*words, "--guard", "guard.toml", "--name", "r", "--no-screenshots"])
        with Store.open(folder / "runs" / "r") as store:
            (episode,) = store.trajectories()
        return episode

    return run


@pytest.mark.browser
def test_what_must_hold_before_and_after_is_enforced_told_and_kept(play) -> None:
    episode = play("", "click(2)", "click(1)", "click(2)", 'answer("")')

    outcomes = [step.observation.outcome for step in episode.steps[1:]]
    assert outcomes[0] == "refused: buying needs a total, and ends in thanks"
    assert outcomes[1] == ""
    assert outcomes[2] == "broke a contract: buying needs a total, and ends in thanks"
    assert episode.ending is Ending.ANSWERED
    kept = episode.evidence["guard"]
    assert isinstance(kept, dict) and kept["refused"] == 2
    rows = kept["refusals"]
    assert isinstance(rows, list)
    assert [(row["rule"], row["where"], row["step"]) for row in rows if isinstance(row, dict)] == [
        ("contracts: click", "action", 1),
        ("contracts: click", "action", 3),
    ]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("more", "steps"), [("max_refusals = 1", 3), ("max_refusals = 0", 1), ('on_refusal = "end"', 1)]
)
def test_violations_beyond_the_bound_end_the_run(play, more: str, steps: int) -> None:
    episode = play(more, "click(2)", "click(1)", "click(2)", 'answer("")')

    assert episode.ending is Ending.GUARD_REFUSED and len(episode.steps) == steps
    assert "max_refusals" not in more or f"max_refusals is {more[-1]}" in episode.error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[[contracts]]\nactions = ['click']",
            "[contracts]: 0: a contract needs `before` or `after`",
        ),
        ("[[contracts]]\nbefore = {type = 3}", "contracts.0.before is not a JSON Schema"),
        ("[[contracts]]\nafte = {}\nbefore = {}", "did you mean after"),
        ("max_refusals = -1", "max_refusals is -1; expected 0 or more"),
    ],
)
def test_a_contract_that_cannot_be_is_named(text, said, tmp_path, capsys):
    (tmp_path / "g.toml").write_text(text)
    assert cli.main(["benchmark", "--guard", str(tmp_path / "g.toml"), "--preview"]) != Status.DONE
    assert said in " ".join(capsys.readouterr().err.split())
