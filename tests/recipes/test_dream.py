"""`webagent dream` imagines from real pages of a run, marks it so, and says what it is worth."""

import json
from pathlib import Path

import pytest

from loop.console.output import Status
from loop.folder import RunFolder
from loop.measurement.collecting import CollectConfig
from recipes import cli
from recipes.dream import NAME
from tests.fakes.run import episode
from webagent.records import Provenance, Score
from webagent.store import Store

FEW = ("--policy-tokens", "3000")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of sixteen real episodes, each second one a success, one more on a held-out seed."""
    folder = RunFolder.create(tmp_path / "run", CollectConfig(), ["webagent", "collect"])
    with folder.store() as store:
        for index, seed in enumerate([*range(16), 2_000_000]):
            place = Provenance(arm="oracle", phase="collect", index=index)
            whole = episode(place, "click-link", seed, index % 2 == 0)
            store.add(whole)
            value = float(index % 2 == 0)
            store.score(whole.id, Score("success", value, "as it was", "checks_hold@1"))
    return folder.path


@pytest.mark.slow
def test_episodes_are_imagined_from_what_failed_marked_and_exported(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["dream", str(run), "--count", "4", "--horizon", "2", *FEW, "--trusted", "0", "--json"]
    assert cli.main(asked) == Status.DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["learnt_from"], found["episodes"]) == (16, 4)
    assert 4 <= found["steps"] <= 8
    assert Path(found["weights"], "policy").is_dir()
    with Store.open(run) as store:
        dreams = list(store.trajectories(arm=NAME, phase="imagine"))
        starts = {dream.provenance.seeded_from.partition(":")[0] for dream in dreams}
        real = [store.load(start) for start in starts]
    assert all(dream.provenance.imagined for dream in dreams)
    assert all(start and start.task.seed % 2 == 1 for start in real)

    assert cli.main(asked) == Status.DONE
    assert json.loads(capsys.readouterr().out)["episodes"] == 4

    rows = ["export", str(run), "--imagined", "--imagined-share", "0.5", "--json"]
    assert cli.main([*rows, "--out", str(tmp_path / "rows")]) == Status.DONE
    assert json.loads(capsys.readouterr().out)["imagined"] >= 4


@pytest.mark.slow
def test_without_trust_nothing_is_imagined_but_the_models_are_kept(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["dream", str(run), *FEW, "--trusted", "1", "--belief", "1", "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["episodes"] == 0 and Path(found["weights"], "policy").is_dir()
    assert "less than --trusted 1: nothing is imagined" in err


def test_a_run_without_verdicts_and_shares_that_are_none_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder.create(tmp_path / "run", CollectConfig(), ["webagent", "collect"])
    assert cli.main(["dream", str(folder.path)]) == Status.SETUP
    assert "holds no real episode with a verdict" in capsys.readouterr().err
    assert cli.main(["dream", str(folder.path), "--belief", "2"]) == Status.USAGE
