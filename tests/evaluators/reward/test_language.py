"""A language model as reward model: its question about an outcome, and training on it."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from evaluators.reward.language import LanguageReward, ask_outcome, outcome_row
from tests.fakes import tiny_models
from tests.fakes.lessons import episode, node, page
from webagent.action.actions import Answer, Click
from webagent.errors import SetupError
from webagent.models.canned import CannedModel
from webagent.models.model import Capabilities, Message
from webagent.models.prompt import Prompt
from webagent.records import Decision, Ending, Trajectory
from webagent.training.language.rows import Encoded

GOAL = "Save it."
SLOTS = ("goal", "turns", "ending", "answer", "page")
SHORT = Prompt(
    "short", {"system": "yes or no", "outcome": " ".join(f"{{{{{slot}}}}}" for slot in SLOTS)}, "0"
)


def tried(good: bool, id: str = "e") -> Trajectory:
    """A click, after which the page says whether it worked."""
    before = page(GOAL, node(1, "button", "Save"))
    after = page(GOAL, node(1, "button", "Save"), node(2, "text", "Saved" if good else "Error"))
    ended = episode((before, Click(1)), last=after, id=id)
    return replace(ended, ending=Ending.STEP_LIMIT, goal=GOAL)


@pytest.mark.slow
async def test_a_small_language_model_learns_from_rows_to_tell_success_by_the_page(tmp_path):
    from webagent.models.local.loading import load_weights
    from webagent.models.local.model import LocalModel
    from webagent.models.local.source import ModelSource
    from webagent.training.language.config import TrainConfig
    from webagent.training.language.objectives import Supervised
    from webagent.training.language.trainer import Trainer
    from webagent.training.language.units import TrainingUnit

    weights = load_weights(ModelSource(str(tiny_models.causal(tmp_path / "causal"))))

    def write(messages: Sequence[Message], reply: str) -> Encoded:
        ids = weights.tokenizer(reply, add_special_tokens=False)["input_ids"]
        prompt = weights.reader.read(messages).tokens.ids
        return Encoded(prompt, (*ids, weights.tokenizer.eos_token_id))

    dice = random.Random(0)
    labels = [i % 2 == 0 for i in range(16)]
    rows = [outcome_row(tried(x), x, write, SHORT) for x in labels]
    trainer = Trainer(weights.module, Supervised(), TrainConfig(learning_rate=5e-3, tree=False))
    for _ in range(30):
        trainer.update([TrainingUnit((dice.choice(rows),)) for _ in range(4)])
    weights.module.train(False)
    model = LocalModel(weights)
    judge = LanguageReward(model, SHORT)
    right = 0
    for i, good in enumerate(labels):
        right += ((await judge.evaluator()(tried(good, f"new{i}"))).value == 1.0) == good
    await model.close()
    assert right >= 0.9 * len(labels)


async def test_the_probability_is_that_of_yes_where_only_yes_or_no_may_be_said(tmp_path):
    from webagent.models.local.model import LocalModel

    model = LocalModel.load(str(tiny_models.causal(tmp_path / "m")))
    judge = LanguageReward(model)
    chance = await judge.probability(tried(True))
    score = await judge.evaluator(threshold=chance - 1e-6)(tried(True))
    await model.close()
    assert 0 < chance < 1
    assert score.value == 1.0 and score.reason == f"P(success) = {chance:.3f}"
    assert "causal" not in score.evaluator and judge.prompt.hash in score.evaluator


def test_the_outcome_is_asked_with_task_actions_ending_answer_and_page_and_without_thoughts():
    said = Decision(Answer("It says <b>yes</b>"), thought="I did everything perfectly")
    ended = tried(True)
    ended = replace(ended, steps=(*ended.steps, replace(ended.steps[0], decision=said)))
    _, user = ask_outcome(replace(ended, ending=Ending.ANSWERED))
    for part in (GOAL, "1. click(1)", "answered", "It says <b>yes</b>", '"Save"', "Saved"):
        assert part in user.text
    assert "perfectly" not in user.text


def test_a_page_that_ended_the_episode_is_judged_by_the_one_before() -> None:
    ended = replace(tried(True), last=replace(page(GOAL), over=True))
    assert '"Save"' in ask_outcome(ended)[1].text


def test_a_model_that_cannot_serve_is_refused() -> None:
    with pytest.raises(SetupError, match="constraints and token_ids"):
        LanguageReward(CannedModel(["yes"]))


async def test_an_empty_episode_and_a_failing_model_are_abstained_on() -> None:
    able = Capabilities(token_ids=True, constraints=True)
    judge = LanguageReward(CannedModel(["maybe"], capabilities=able)).evaluator()
    assert (await judge(replace(tried(True), steps=()))).value is None
    said = await judge(tried(True))
    assert said.value is None and "maybe" in said.reason
