"""How well a policy points is told through the real entry point."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recipes import cli
from tests.evaluators.test_grounding import ELSEWHERE, SHOP, episode
from webagent.action import Action
from webagent.action import actions as act
from webagent.records import Observation, Provenance, Score
from webagent.store import Store


def stored(
    folder: Path,
    *actions: Action,
    phase: str = "evaluate",
    value: float = 1,
    page: Observation = SHOP,
) -> Path:
    """A run with an episode of each action."""
    with Store.open(folder, create=not folder.exists()) as store:
        for index, action in enumerate(actions):
            made = replace(
                episode(action, page),
                id=f"{phase}{index}",
                provenance=Provenance(index=index, phase=phase),
            )
            store.add(made)
            store.score(made.id, Score("success", value, "", "checks_hold@2"))
    return folder


def test_hits_and_scores_are_told_by_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = stored(tmp_path / "script", act.Click(2))
    run = stored(
        tmp_path / "run", act.MouseClick(110, 60), act.MouseClick(50, 60), act.Click(2), act.Wait(1)
    )
    assert cli.main(["report", str(run), "--pointing", str(script)]) == 0
    assert "2 (66.7 %)" in capsys.readouterr().out
    assert cli.main(["report", str(run), "--pointing", str(script), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["overall"] == {**told["tasks"][0], "task": "all"}
    assert (told["overall"]["steps"], told["overall"]["pointed"], told["episodes"]) == (4, 3, 4)
    assert (told["overall"]["by_coordinates"], told["overall"]["hits"]) == (2, 2)
    assert told["overall"]["score"] == pytest.approx(2.5 / 3)


def test_a_run_is_held_against_its_own_demonstrations(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", act.Click(2), phase="demonstrate")
    stored(run, act.MouseClick(110, 60), act.Click(3))
    assert cli.main(["report", str(run), "--pointing", str(run)]) == 0


def test_without_a_common_page_the_command_fails_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = stored(tmp_path / "script", act.Click(2))
    run = stored(tmp_path / "run", act.Click(2), page=ELSEWHERE)
    assert cli.main(["report", str(run), "--pointing", str(script)]) == 1
    assert "no episode saw a page" in capsys.readouterr().out


def test_a_reference_that_failed_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = stored(tmp_path / "script", act.Click(2), value=0)
    run = stored(tmp_path / "run", act.Click(2))
    assert cli.main(["report", str(run), "--pointing", str(script)]) == 2
    assert "holds no successful episode" in capsys.readouterr().err
    assert cli.main(["report", str(run), "--pointing", str(run)]) == 2
    assert "holds no demonstration" in capsys.readouterr().err
