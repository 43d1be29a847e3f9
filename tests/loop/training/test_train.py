"""Training a language model from run folders, through its real entry point."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recipes import cli
from tasks.suite import seed_of
from tests.fakes import tiny_models
from tests.fakes.run import episode
from tests.fakes.world import FakeWorld, fake_task
from webagent.agent.asking import Asking
from webagent.models.local import LocalModel
from webagent.policy.prompting import Prompting
from webagent.records import Provenance, Score, Trajectory
from webagent.rollout import run_episode
from webagent.store import Store
from webagent.training.language.texts import make_world_lessons

# All share what is trained or loaded here.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("folder")]

SMALL = (
    *("--shape.width", "32", "--shape.layers", "1", "--shape.heads", "2"),
    *("--shape.vocabulary", "300", "--prompt", "brief", "--actions", "click", "fill"),
)
FEW = ("--updates", "2", "--batch", "2", "--learning-rate", "1e-3")


def demonstrated(split: str, index: int, success: bool) -> Trajectory:
    """An episode of an oracle."""
    whole = episode(Provenance(index=index), "enter-text", seed_of(split, index), success)
    steps = (
        replace(step, decision=replace(step.decision, source="demonstration", sampled_ids=()))
        for step in whole.steps
    )
    return replace(whole, steps=tuple(steps))


def a_run(*episodes: tuple[Trajectory, float], name: str = "run") -> Path:
    """A run with these episodes and their success."""
    with Store.open(Path(name), create=True) as store:
        for whole, success in episodes:
            store.add(whole)
            store.score(whole.id, Score("success", success, "seen", "judge@1"))
    return Path(name)


def demonstrations(count: int = 4) -> Path:
    """A run of an oracle."""
    return a_run(*((demonstrated("train", index, True), 1.0) for index in range(count)))


async def sampled(weights: Path, count: int, name: str = "run") -> Path:
    """A run in which a model played one task and seed several times."""
    model = LocalModel.load(str(weights))
    asking = Asking("brief", ("click", "fill"), Prompting(constrained=True, thought_tokens=0))
    policy = asking.policy(model, temperature=1.0, max_tokens=160)
    played = []
    for index in range(count):
        place = Provenance(index=index)
        whole = await run_episode(fake_task(max_steps=2), policy, FakeWorld(), provenance=place)
        played.append((whole, float(index % 2)))
    await model.close()
    return a_run(*played, name=name)


def train(*flags: str) -> int:
    return cli.main(["train", "--runs", "run", "--out", "out", *flags])


async def test_a_model_made_from_nothing_learns_acts_and_goes_on(capsys):
    demonstrations()
    assert train(*SMALL, *FEW) == 0
    said = capsys.readouterr().out
    assert "was created in" in said and "2 updates" in said
    lines = [json.loads(line) for line in Path("out/metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2]
    asked = Asking.load(Path("out/model"))
    assert asked == Asking("brief", ("click", "fill"))
    model = LocalModel.load("out/model")
    policy = replace(asked, prompting=Prompting(constrained=True, thought_tokens=0)).policy(model)
    whole = await run_episode(fake_task(max_steps=2), policy, FakeWorld())
    await model.close()
    assert len(whole.steps) == 2 and not whole.error
    again = Path("out/model/model.safetensors").read_bytes()
    assert train(*SMALL, *FEW) == 0
    assert Path("out/model/model.safetensors").read_bytes() == again


def test_a_new_tokenizer_spells_the_instructions_of_prompts_in_words() -> None:
    from transformers import AutoTokenizer

    demonstrations()
    assert train(*SMALL, *FEW, "--shape.vocabulary", "1000") == 0
    words = AutoTokenizer.from_pretrained("out/model")
    fixed = "Reply with one action:\nclick(mark)  Click an element."
    assert len(words.tokenize(fixed)) <= len(fixed) / 3, "letter by letter it would be as many"


def test_seeds_that_are_measured_on_are_not_learnt_from(capsys):
    a_run((demonstrated("train", 0, True), 1.0), (demonstrated("test", 1, True), 1.0))
    assert train(*SMALL, *FEW) == 0
    said = capsys.readouterr().out
    assert "1 episodes give" in said
    assert "1 episodes on seeds of other splits are not learnt from" in said


@pytest.mark.parametrize("objective", ["dpo", "grpo"])
async def test_every_objective_changes_the_weights_of_a_model_that_sampled(objective, folder):
    weights = tiny_models.causal(folder / "base")
    await sampled(weights, 4)
    more = ("--model", str(weights), "--prompt", "brief", "--actions", "click", "fill")
    assert train(*more, *FEW, "--objective", objective) == 0
    before = (weights / "model.safetensors").read_bytes()
    assert Path("out/model/model.safetensors").read_bytes() != before


def test_an_adapter_is_trained_and_loaded_on_its_base(folder: Path) -> None:
    weights = tiny_models.causal(folder / "base")
    demonstrations()
    lora = ("--lora", "4", "--model", str(weights))
    assert train(*FEW, "--prompt", "brief", "--actions", "click", "fill", *lora) == 0
    assert Path("out/model/adapter_config.json").is_file()
    assert not Path("out/model/model.safetensors").exists()
    assert cli.main(["benchmark", "--policy", "local:out/model", "--preview"]) == 0


@pytest.mark.parametrize("role", ["policy", "world"])
def test_a_page_longer_than_the_context_is_dropped_and_counted(role, capsys):
    whole = demonstrated("train", 9, True)
    first = whole.steps[0]
    long = replace(first.observation, nodes=first.observation.nodes * 500)
    endless = replace(whole, steps=(replace(first, observation=long), *whole.steps[1:]))
    a_run((endless, 1.0), *((demonstrated("train", i, True), 1.0) for i in range(3)))
    assert train(*SMALL, *FEW, "--role", role, "--shape.context", "2000") == 0
    assert "1 too long" in capsys.readouterr().out


def test_a_world_model_spends_its_vocabulary_on_its_own_prompt() -> None:
    demonstrations()
    shape = ("500" if flag == "300" else flag for flag in SMALL)
    assert train(*shape, *FEW, "--role", "world") == 0
    words = LocalModel.load("out/model").weights.tokenizer
    [asked, *_] = make_world_lessons(demonstrated("train", 0, True))
    instructions = asked[1][0].text
    # Letter by letter, as other roles' instructions are read, it would be most of a prompt.
    assert len(words(instructions)["input_ids"]) < len(instructions) / 2


@pytest.mark.parametrize("role", ["world", "reward"])
def test_world_and_reward_models_go_the_same_way_and_each_is_taken_for_what_it_is(role, capsys):
    demonstrations()
    assert train(*SMALL, *FEW, "--role", role) == 0
    assert Path("out/model/model.safetensors").is_file()
    assert not Path("out/model/asking.json").exists()
    judged = cli.main(["judge", "run", "--with", "reward:out/model", "chance:out/model"])
    if role == "reward":
        assert judged == 0
        with Store.open("run") as store:
            said = [s for scores in store.scores().values() for s in scores if s.value is not None]
        assert sum("language_reward[out/model]" in score.evaluator for score in said) == 8
    else:
        assert judged == 2
        assert "trained to be a world" in " ".join(capsys.readouterr().err.split())
    assert cli.main(["benchmark", "--policy", "local:out/model", "--preview"]) == 2
    assert f"trained to be a {role}" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--role", "world", "--objective", "dpo"), "trained with --objective sft"),
        (("--objective", "grpo"), "sampled by a model, that differ"),
        (("--objective", "dpo"), "a success and a failure at one task and seed"),
        (("--model", "nowhere"), "nowhere"),
        (("--prompt", "long"), "invalid choice 'long'"),
        (("--adapter", "a"), "name it with --model"),
        (("--score", "beauty"), "0 of them scored as 'beauty'"),
        (("--learning-rate", "0"), "learning_rate is 0"),
    ],
)
def test_what_cannot_be_trained_is_named(flags, complaint, capsys):
    demonstrations(2)
    assert train(*SMALL, *FEW, *flags) != 0
    assert complaint in " ".join(capsys.readouterr().err.split())


def test_no_runs_and_runs_that_are_not_there_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "--out", "out"]) != 0
    assert "at least one run" in capsys.readouterr().err
    assert train() != 0
    assert "no run folder run" in capsys.readouterr().err
