"""The reward model: an evaluator that was learnt, and what it is taught."""

import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from evaluators.reward.builtin import EnsembleMember, RewardModel, measure_surprise
from evaluators.reward.calibration import JudgeCalibration
from tests.fakes.lessons import episode, lesson, trained, untrained
from webagent.action.actions import Click
from webagent.records import Ending, Trajectory
from webagent.training.fit import FitConfig, fit

pytestmark = pytest.mark.slow  # all share what is trained or loaded here


def attempt(dice: random.Random, id: str) -> tuple[Trajectory, float]:
    """A lesson done rightly or wrongly, with its score."""
    (seen, right), is_right = lesson(dice), dice.random() < 0.5
    others = [Click(m) for m in range(1, 9) if Click(m) != right]
    return episode((seen, right if is_right else dice.choice(others)), id=id), float(is_right)


@cache
def learnt() -> RewardModel:
    """One that was taught with a few hundred attempts."""
    dice = random.Random(1)
    tried = [attempt(dice, str(i)) for i in range(400)]
    reward = RewardModel(untrained([t for t, _ in tried]))
    rows = reward.rows([t for t, _ in tried], {t.id: score for t, score in tried})
    config = FitConfig(tokens=110_000, learning_rate=3e-3, batch_tokens=400)
    fit(reward.model.network, rows, config)
    return reward


def test_right_and_wrong_attempts_are_told_apart_on_pages_never_seen() -> None:
    dice = random.Random(2)
    tried = [attempt(dice, str(i)) for i in range(100)]
    chances = learnt().probabilities([t for t, _ in tried])
    told = [
        (chance >= 0.5) == bool(score) for chance, (_, score) in zip(chances, tried, strict=True)
    ]
    assert sum(told) >= 85


def test_an_episode_without_steps_has_no_chance_and_disturbs_no_other() -> None:
    tried, _ = attempt(random.Random(3), "e")
    model = learnt()
    [alone] = model.probabilities([tried])
    empty = replace(tried, steps=())
    assert model.probabilities([empty, tried, empty]) == pytest.approx([0.0, alone, 0.0], abs=1e-5)
    assert model.probabilities([empty]) == [0.0]
    assert model.probabilities([]) == []


def test_failures_made_of_a_success_are_taught_beside_it() -> None:
    dice = random.Random(3)
    (one, right), (other, also) = lesson(dice), lesson(dice)
    long = episode((one, right), (other, also), id="long")
    failed = replace(episode((other, right), id="failed"), ending=Ending.STEP_LIMIT)
    reward = RewardModel(untrained())
    scores = {"long": 1.0, "failed": 0.0}
    alone = reward.rows([long, failed], scores, negatives=0, seed=1)
    rows = reward.rows([long, failed], scores, negatives=3, seed=1)
    good, bad = reward.grammar.verdict(True), reward.grammar.verdict(False)
    assert [row.targets for row in alone].count((bad,)) == 1
    assert [row.targets for row in rows].count((bad,)) == 4
    assert all(row.targets in ((good,), (bad,)) for row in rows)


def test_rows_are_the_same_for_the_same_seed() -> None:
    dice = random.Random(3)
    tried = [attempt(dice, str(i)) for i in range(20)]
    scores = {t.id: score for t, score in tried}
    reward = RewardModel(untrained())
    first, again, other = (
        [(len(r.prefix), r.targets) for r in reward.rows([t for t, _ in tried], scores, seed=seed)]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_only_judged_real_episodes_teach() -> None:
    seen, _ = lesson(random.Random(3))
    dream = episode((seen, Click(1)), id="dream", world="imagined")
    unjudged, empty = episode((seen, Click(1)), id="unjudged"), episode(id="empty")
    scores = {"dream": 1.0, "unjudged": None, "empty": 1.0}
    assert RewardModel(untrained()).rows([dream, unjudged, empty], scores) == []


async def test_as_an_evaluator_it_is_named_by_its_weights_and_says_how_sure_it_is() -> None:
    tried, _ = attempt(random.Random(3), "e")
    judge = learnt().evaluator()
    score = await judge(tried)
    assert judge.id == f"reward_model@{learnt().model.version}"
    assert score.value in (0.0, 1.0) and score.reason.startswith("P(success) = ")
    assert (await learnt().evaluator(threshold=0.0)(tried)).value == 1.0
    assert (await learnt().evaluator(threshold=1.01)(tried)).value == 0.0


async def test_a_failure_of_the_world_is_not_judged() -> None:
    tried, _ = attempt(random.Random(3), "e")
    score = await learnt().evaluator()(replace(tried, ending=Ending.WORLD_FAILED))
    assert score.value is None


async def test_a_calibrated_mean_of_networks_is_saved_whole_and_keeps_to_its_threshold(
    tmp_path: Path,
) -> None:
    tried, _ = attempt(random.Random(3), "e")
    model, other = learnt().model, untrained([tried])
    calibration = JudgeCalibration(slope=2.0, threshold=0.9, abstain_from=0.01)
    both = RewardModel.of([EnsembleMember(model), EnsembleMember(other)], calibration)
    both.save(tmp_path)
    loaded = RewardModel.load(tmp_path)
    [chance] = both.probabilities([tried])
    [one], [two] = (RewardModel(m).probabilities([tried]) for m in (model, other))
    assert chance == pytest.approx(JudgeCalibration(slope=2.0)([(one + two) / 2])[0], abs=1e-5)
    assert loaded.probabilities([tried]) == pytest.approx([chance], abs=1e-5)
    assert loaded.version == both.version not in (model.version, other.version)
    said = await loaded.evaluator()(tried)
    assert said.value == (1.0 if chance >= 0.9 else None if chance >= 0.01 else 0.0)
    assert (await loaded.evaluator(threshold=chance - 0.01)(tried)).value == 1.0


def test_a_member_that_can_act_is_surprised_by_wrong_actions_and_is_saved_with_the_judge(
    tmp_path: Path,
) -> None:
    dice = random.Random(4)
    tried = [attempt(dice, str(i)) for i in range(40)]
    found = measure_surprise(trained(), [t for t, _ in tried])
    right = [row[0] for row, (_, score) in zip(found, tried, strict=True) if score]
    wrong = [row[0] for row, (_, score) in zip(found, tried, strict=True) if not score]
    assert sorted(right)[len(right) // 2] > sorted(wrong)[len(wrong) // 2] + 2
    judge = RewardModel.of(
        [EnsembleMember(learnt().model, trained())],
        JudgeCalibration(surprise=(0.5, 0.25), threshold=0.4),
    )
    judge.save(tmp_path)
    loaded = RewardModel.load(tmp_path)
    chances = judge.probabilities([t for t, _ in tried])
    assert loaded.probabilities([t for t, _ in tried]) == pytest.approx(chances, abs=1e-5)
    assert loaded.version == judge.version
    plain = RewardModel(learnt().model).probabilities([t for t, _ in tried])
    assert all(
        with_doubt <= chance + 1e-5 for with_doubt, chance in zip(chances, plain, strict=True)
    )


def test_a_saved_reward_model_judges_the_same(tmp_path: Path) -> None:
    tried, _ = attempt(random.Random(3), "e")
    learnt().model.save(tmp_path)
    loaded = RewardModel.load(tmp_path)
    assert loaded.probabilities([tried]) == pytest.approx(learnt().probabilities([tried]), abs=1e-5)
