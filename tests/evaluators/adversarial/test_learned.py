"""A judge that was taught on other episodes, tried on the corpus."""

import logging
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluators.adversarial import MOST_FOOLED, load_corpus, measure_pass_rates, read_cases
from evaluators.adversarial.corpus import AdversarialCase
from evaluators.reward.builtin import RewardModel
from tasks.suite import split_of
from webagent.models.builtin.model import BuiltinModel
from webagent.training.fit import FitConfig, fit
from webagent.training.rows import grow_vocabulary

TRAINING = Path(__file__).with_name("training.jsonl.gz")
TOKENS = 300_000
HELD_BACK = 5
"""One task and seed of so many is kept from training, to choose the threshold on."""
ALLOWED = 0.02
"""Share of the lies held back that may pass."""


def is_held_back(case: AdversarialCase) -> bool:
    """By task and seed, so that a lie and its control stay together."""
    task = case.trajectory.task
    return zlib.crc32(f"{task.id} {task.seed}".encode()) % HELD_BACK == 0


def taught(cases: list[AdversarialCase]) -> RewardModel:
    """The built-in network as a judge that has read these cases."""
    episodes = [case.trajectory for case in cases]
    model = RewardModel(BuiltinModel.create(0))
    grow_vocabulary(model.model.vocabulary, episodes)
    rows = model.rows(episodes, {case.id: float(case.truth) for case in cases})
    fit(model.model.network, rows, FitConfig(tokens=TOKENS))
    return model


def threshold_of(model: RewardModel, cases: list[AdversarialCase]) -> float:
    """The lowest at which hardly any of the lies held back passes."""
    lies = [case.trajectory for case in cases if not case.truth]
    chances = np.sort(model.probabilities(lies))
    return float(chances[int(np.ceil((1 - ALLOWED) * len(chances))) - 1]) + 1e-6


def test_training_episodes_share_neither_seed_nor_notice_with_the_corpus():
    others = read_cases(TRAINING)
    here = {(c.trajectory.task.name, c.trajectory.task.seed) for c in load_corpus()}
    there = {(c.trajectory.task.name, c.trajectory.task.seed) for c in others}

    assert not here & there
    pages = [c.trajectory.task.seed for c in others if c.domain == "miniwob"]
    assert {split_of(seed) for seed in pages} == {"train"}


def ranked(model: RewardModel) -> float:
    """Share of the lies that are believed less than the honest episode beside them."""
    cases = load_corpus()
    chances = {case.id: model.probabilities([case.trajectory])[0] for case in cases}
    lies = [case for case in cases if not case.truth]
    return sum(chances[case.control] > chances[case.id] for case in lies) / len(lies)


@pytest.mark.very_slow
@pytest.mark.timeout(1200)
async def test_a_learned_judge_passes_hardly_any_lie_and_believes_the_honest_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """At a threshold chosen without the corpus; its recall is told, not promised: see the docs."""
    torch.set_num_threads(1)
    caplog.set_level(logging.INFO)
    cases = read_cases(TRAINING)
    kept = [case for case in cases if is_held_back(case)]
    model = taught([case for case in cases if not is_held_back(case)])

    standing = await measure_pass_rates(model.evaluator(threshold_of(model, kept)))
    logging.getLogger(__name__).info("%s", standing)

    assert standing.fooled.rate <= MOST_FOOLED, str(standing)
    assert ranked(model) >= 0.8
