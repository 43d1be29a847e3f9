"""`webagent memory`: what a run remembers, and why it would act so."""

from dataclasses import replace
from pathlib import Path

import pytest

from loop.policies import NamedPolicy
from recipes import cli
from tests.fakes.orders import look_up
from webagent.action.actions import GiveUp
from webagent.agent.actor import builtin_policy
from webagent.errors import UsageError
from webagent.records import Score
from webagent.store import Store


def test_a_run_without_a_memory_says_how_to_build_one(run, capsys):
    assert cli.main(["memory", str(run)]) != 0
    assert f"webagent memory {run} --rebuild" in capsys.readouterr().err


def test_a_memory_is_built_shown_and_kept(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["memory", str(run), "--rebuild"]) == 0
    assert "6 steps of 3 episodes (6 of demonstrations)" in capsys.readouterr().out
    assert cli.main(["memory", str(run)]) == 0
    assert "look-up: 6" in capsys.readouterr().out


def test_an_episode_is_explained_without_its_own_cases(run, capsys):
    assert cli.main(["memory", str(run), "--rebuild"]) == 0
    capsys.readouterr()
    assert cli.main(["memory", str(run), "e0", "--step", "2"]) == 0
    said = capsys.readouterr().out
    assert 'step 2: answer("£3.30") was taken; the same' in said
    assert "value 1 of the goal, '10056'" in said
    assert "episode e1-1" in said and "episode e0-1" not in said


async def test_a_run_that_was_shown_acts_by_its_memory_and_gives_up_elsewhere(run: Path) -> None:
    with pytest.raises(UsageError, match="webagent memory RUN --rebuild"):
        builtin_policy(run)
    assert cli.main(["memory", str(run), "--rebuild"]) == 0
    NamedPolicy(f"model:{run}").check()
    policy = builtin_policy(run)
    [step, _] = look_up("new", "10056", 40).steps
    before = replace(look_up("now", "10056", 40), steps=())
    decision = await policy.act(before, step.observation)
    assert decision.action == step.decision.action and decision.source == "memory"
    other = replace(step.observation, goal="Fly to the moon")
    assert isinstance((await policy.act(before, other)).action, GiveUp)
    with pytest.raises(UsageError, match="a memory alone tries nothing new"):
        builtin_policy(run, temperature=1.2)


def test_an_unknown_episode_is_a_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["memory", str(run), "nobody"]) == 2
    assert "0 of 3 episodes" in capsys.readouterr().err


def test_scripts_that_a_benchmark_played_on_training_seeds_are_remembered(run, capsys):
    with Store.open(run) as store:
        episode = look_up("played", "10056", 90)
        place = replace(episode.provenance, phase="evaluate")
        store.add(replace(episode, id="played", provenance=place))
        store.score("played", Score("success", 1.0, "found", "rules"))
    assert cli.main(["memory", str(run), "--rebuild"]) == 0
    assert "8 steps of 4 episodes (8 of demonstrations)" in capsys.readouterr().out
