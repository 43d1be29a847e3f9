"""`webagent memory`: what a run remembers, and why it would act so."""

from pathlib import Path

import pytest

from recipes import cli
from tests.fakes.orders import ORDERS, look_up
from webagent.records import Score
from webagent.store import Store


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with three demonstrations that its judge passed."""
    with Store.open(tmp_path / "run", create=True) as store:
        for i, order in enumerate(ORDERS):
            episode = look_up(f"e{i}", order, 10 * i + 1)
            store.add(episode)
            store.score(episode.id, Score("success", 1.0, "found", "rules"))
    return tmp_path / "run"


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


def test_an_unknown_episode_is_a_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["memory", str(run), "nobody"]) == 2
    assert "0 episodes" in capsys.readouterr().err
