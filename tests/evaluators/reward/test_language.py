"""A language model as reward model: its question about an outcome, and training on it."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.reward.language import LanguageReward, RewardQuestions, outcome_row
from tests.fakes import tiny_models
from tests.fakes.lessons import episode, node, page
from tests.fakes.pictures import picture
from webagent.action.actions import Answer, Click
from webagent.errors import SetupError
from webagent.models.canned import CannedModel
from webagent.models.model import Capabilities, Message
from webagent.models.prompt import Prompt
from webagent.records import Decision, Ending, Trajectory
from webagent.training.language.rows import Encoded

GOAL = "Save it."
SLOTS = ("goal", "turns", "ending", "answer", "page", "frames")
SHORT = Prompt(
    "short", {"system": "yes or no", "outcome": " ".join(f"{{{{{slot}}}}}" for slot in SLOTS)}, "0"
)


PICTURES = {name: picture(size=(56, 56), colour=name) for name in ("white", "black")}


def tried(good: bool, id: str = "e", *, seen: bool = False) -> Trajectory:
    """A click, after which the page, or only its screenshot, says whether it worked."""
    shots = ("white", "black" if good else "white") if seen else ("", "")
    word = "" if seen else "Saved" if good else "Error"
    before = page(GOAL, node(1, "button", "Save"), screenshot=shots[0])
    after = page(GOAL, node(1, "button", "Save"), node(2, "text", word), screenshot=shots[1])
    ended = episode((before, Click(1)), last=after, id=id)
    return replace(ended, ending=Ending.STEP_LIMIT, goal=GOAL)


async def told_apart(folder: Path, questions: RewardQuestions, *, seen: bool, steps: int) -> float:
    """Share of new episodes on which a model trained on these questions is right."""
    from webagent.models.local.loading import load_weights
    from webagent.models.local.model import LocalModel
    from webagent.models.local.source import ModelSource
    from webagent.training.language.config import TrainConfig
    from webagent.training.language.likelihood import ForwardOptions
    from webagent.training.language.objectives import Supervised
    from webagent.training.language.trainer import Trainer
    from webagent.training.language.units import TrainingUnit

    weights = load_weights(ModelSource(str(folder)))
    kept: dict[str, bytes] = {}

    def keep(image: bytes) -> str:
        kept[str(hash(image))] = image
        return str(hash(image))

    def write(messages: Sequence[Message], reply: str) -> Encoded:
        ids = weights.tokenizer(reply, add_special_tokens=False)["input_ids"]
        prompt = weights.reader.read(messages).tokens.ids
        return Encoded(prompt, (*ids, weights.tokenizer.eos_token_id))

    dice = random.Random(0)
    labels = [i % 2 == 0 for i in range(16)]
    rows = [outcome_row(questions, tried(x, seen=seen), x, write, keep) for x in labels]
    how = ForwardOptions(pictures=lambda found: weights.reader.pixels([kept[f] for f in found]))
    trainer = Trainer(
        weights.module, Supervised(), TrainConfig(learning_rate=5e-3, tree=False), reading=how
    )
    for _ in range(steps):
        trainer.update([TrainingUnit((dice.choice(rows),)) for _ in range(4)])
    weights.module.train(False)
    weights.weights_changed()
    model = LocalModel(weights)
    judge = LanguageReward(model, questions)
    right = 0
    for i, good in enumerate(labels):
        right += ((await judge.evaluator()(tried(good, f"new{i}", seen=seen))).value == 1.0) == good
    await model.close()
    return right / len(labels)


@pytest.mark.slow
async def test_a_small_language_model_learns_from_rows_to_tell_success_by_the_page(tmp_path):
    folder = tiny_models.causal(tmp_path / "causal")
    assert await told_apart(folder, RewardQuestions(SHORT), seen=False, steps=30) >= 0.9


@pytest.mark.slow
async def test_a_small_vision_model_learns_from_rows_to_tell_success_by_the_screenshot(tmp_path):
    folder = tiny_models.llava(tmp_path / "llava")
    questions = RewardQuestions(SHORT, PICTURES.__getitem__)
    assert await told_apart(folder, questions, seen=True, steps=40) >= 0.9


async def test_the_probability_is_that_of_yes_where_only_yes_or_no_may_be_said(tmp_path):
    from webagent.models.local.model import LocalModel

    model = LocalModel.load(str(tiny_models.causal(tmp_path / "m")))
    judge = LanguageReward(model)
    chance = await judge.probability(tried(True))
    score = await judge.evaluator(threshold=chance - 1e-6)(tried(True))
    await model.close()
    assert 0 < chance < 1
    assert score.value == 1.0 and score.reason == f"P(success) = {chance:.3f}"
    assert "causal" not in score.evaluator and judge.questions.prompt.hash in score.evaluator


def test_the_outcome_is_asked_with_task_actions_ending_answer_and_page_and_without_thoughts():
    said = Decision(Answer("It says <b>yes</b>"), thought="I did everything perfectly")
    ended = tried(True)
    ended = replace(ended, steps=(*ended.steps, replace(ended.steps[0], decision=said)))
    _, user = RewardQuestions.load().outcome(replace(ended, ending=Ending.ANSWERED))
    for part in (GOAL, "1. click(1)", "answered", "It says <b>yes</b>", '"Save"', "Saved"):
        assert part in user.text
    assert "perfectly" not in user.text and "There are no pictures." in user.text


def test_screenshots_are_attached_with_captions() -> None:
    questions = RewardQuestions.load(PICTURES.__getitem__)
    _, user = questions.outcome(tried(True, seen=True))
    assert len(user.images) == 2 and "Picture 2: page 2, the one after the last action" in user.text


def test_a_page_that_ended_the_episode_is_judged_by_the_one_before() -> None:
    ended = replace(tried(True), last=replace(page(GOAL), over=True))
    assert '"Save"' in RewardQuestions.load().outcome(ended)[1].text


def test_models_that_cannot_serve_are_refused() -> None:
    with pytest.raises(SetupError, match="constraints and token_ids"):
        LanguageReward(CannedModel(["yes"]))
    blind = CannedModel(["yes"], capabilities=Capabilities(token_ids=True, constraints=True))
    with pytest.raises(SetupError, match="does not look at images"):
        LanguageReward(blind, RewardQuestions.load(PICTURES.__getitem__))


async def test_an_empty_episode_and_a_failing_model_are_abstained_on() -> None:
    able = Capabilities(token_ids=True, constraints=True)
    judge = LanguageReward(CannedModel(["maybe"], capabilities=able)).evaluator()
    assert (await judge(replace(tried(True), steps=()))).value is None
    said = await judge(tried(True))
    assert said.value is None and "maybe" in said.reason
