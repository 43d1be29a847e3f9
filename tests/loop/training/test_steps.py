"""Training goes by judgements of steps where it is asked to."""

from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.steps import JudgedStep, StepJudgement, store_judgements
from loop.console.output import Status
from loop.training.lessons import build_units, load_experience
from loop.training.settings import TrainSettings, WeightSettings
from recipes import cli
from tasks.suite import seed_of
from tests.fakes import tiny_models
from tests.fakes.run import episode
from webagent.records import Provenance, Score, Trajectory
from webagent.store import Store
from webagent.training.language.rows import Encoded

RIGHT, WASTE = JudgedStep("correct", 0.5), JudgedStep("neutral", 0.0, is_redundant=True)
WRONG = JudgedStep("incorrect", -0.5, is_error=True)


def sampled(index: int, success: bool) -> Trajectory:
    """An episode of two steps that a model sampled, on the one task and seed there is."""
    whole = episode(Provenance(index=index), "enter-text", seed_of("train", 0), success)
    steps = (
        replace(
            step,
            decision=replace(
                step.decision,
                source="policy",
                prompt_ids=(5, 6),
                sampled_ids=(7 + number, 9),
                log_probs=(-0.5, -0.5),
            ),
        )
        for number, step in enumerate(whole.steps)
    )
    return replace(whole, steps=tuple(steps))


def a_run(folder: Path, *judged: tuple[bool, tuple[JudgedStep, ...]]) -> Path:
    """A run of episodes with their success and what is thought of their steps."""
    run = folder / "run"
    with Store.open(run, create=True) as store:
        for index, (success, steps) in enumerate(judged):
            whole = sampled(index, success)
            store.add(whole)
            store.score(whole.id, Score("success", float(success), "seen", "judge@1"))
            if steps:
                store_judgements(store, [StepJudgement(whole.id, "witness[m]@1", steps)])
    return run


def taught(run: Path, objective: str, steps: str) -> dict[tuple[str, int], float]:
    """The steps that are learnt, by episode and index, with the mean advantage of each."""
    how = WeightSettings(objective)  # type: ignore[arg-type]
    settings = TrainSettings(runs=(run,), weights=how, steps=steps)
    lived = load_experience((run,), "success", steps)
    units = build_units(settings, lived.episodes, lived.scores, _write, _encode, lived.judged)
    found = {}
    for unit in units:
        for row in unit.rows:
            for (start, stop), step in zip(row.spans, row.steps, strict=True):
                if any(row.weights[start:stop]):
                    given = row.advantages[start:stop] or (0.0,)
                    found[row.episode, step] = sum(given) / len(given)
    return found


def _write(messages: object, reply: str) -> Encoded:
    raise AssertionError("nothing is written for a policy")


def _encode(trajectory: Trajectory, index: int) -> Encoded:
    return Encoded((1, 2), (3, 4))


def test_steps_that_were_judged_redundant_or_wrong_are_not_imitated(tmp_path: Path) -> None:
    run = a_run(tmp_path, (True, (WASTE, RIGHT)), (True, (RIGHT, WRONG)), (True, ()))
    plain, judged = taught(run, "sft", ""), taught(run, "sft", "witness")
    assert len(plain) == 6
    ids = sorted({name for name, _ in plain}, key=[name for name, _ in plain].index)
    assert set(plain) - set(judged) == {(ids[0], 0), (ids[1], 1)}


def test_progress_tells_the_steps_of_one_episode_apart(tmp_path: Path) -> None:
    run = a_run(tmp_path, (True, (RIGHT, WASTE)), (False, (RIGHT, WRONG)))
    plain, judged = taught(run, "grpo", ""), taught(run, "grpo", "witness")
    good, bad = dict.fromkeys(name for name, _ in plain)
    assert plain[good, 0] == plain[good, 1] > 0 > plain[bad, 0] == plain[bad, 1]
    assert judged[good, 0] > judged[good, 1] == pytest.approx(0.0, abs=1e-9)
    assert judged[bad, 1] < judged[bad, 0] < 0


def test_a_judgement_of_another_number_of_steps_does_not_count(tmp_path: Path) -> None:
    run = a_run(tmp_path, (True, (RIGHT,)), (False, (RIGHT, WRONG)))
    assert len(taught(run, "grpo", "witness")) == 4


async def test_the_rules_serve_without_anything_kept(tmp_path: Path) -> None:
    weights = tiny_models.causal(tmp_path / "base")
    run = a_run(tmp_path, (True, ()), (False, ()))
    for objective in ("sft", "grpo"):
        out = tmp_path / objective
        flags = ("--runs", str(run), "--out", str(out), "--model", str(weights))
        few = ("--updates", "1", "--batch", "1")
        assert cli.main(["train", *flags, *few, "--objective", objective, "--steps", "rules"]) == 0
        assert (out / "model" / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("flags", "status", "complaint"),
    [
        (("--steps", "witness"), Status.SETUP, "hold no judgement of steps by 'witness'"),
        (("--steps", "rules", "--objective", "dpo"), Status.USAGE, "--steps is for a policy"),
        (("--steps", "rules", "--role", "world"), Status.USAGE, "--steps is for a policy"),
    ],
)
def test_judgements_that_are_not_there_or_of_no_use_are_named(
    tmp_path: Path,
    flags: tuple[str, ...],
    status: Status,
    complaint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = a_run(tmp_path, (True, ()))
    line = ("train", "--runs", str(run), "--out", str(tmp_path / "o"), *flags)
    assert cli.main(line) == status
    assert complaint in " ".join(capsys.readouterr().err.split())
