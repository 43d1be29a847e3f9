"""An adapter for each skill, and hints that are withdrawn, through the command's entry point."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from loop.policies import NamedPolicy
from perf.fakes import tiny_models
from perf.fakes.run import episode
from recipes import cli
from tasks.suite import seed_of
from tests.loop.training.test_train import a_run
from webagent.agent.actor import language_model
from webagent.agent.asking import Asking
from webagent.errors import SetupError, UsageError
from webagent.models.model import Message, suit_model
from webagent.policy.skills import INDEX, SkillAdapter, SkillIndex, SkillModel
from webagent.records import Provenance, Trajectory

GOALS = {"type": 'Type "red" & press Submit', "tick": "Tick the second box of the list below"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with a tiny model."""
    monkeypatch.chdir(tmp_path)
    tiny_models.causal(Path("base"))
    return tmp_path


def shown(skill: str, index: int) -> Trajectory:
    """A success of an oracle at a task that takes this skill."""
    whole = episode(Provenance(index=index), skill, seed_of("train", index), True)
    task = replace(whole.task, skills=(skill,), start_url="https://shop.test/")
    goal = GOALS.get(skill, skill)
    steps = (
        replace(
            step,
            observation=replace(step.observation, goal=goal, url=task.start_url),
            decision=replace(step.decision, source="demonstration", sampled_ids=()),
        )
        for step in whole.steps
    )
    return replace(whole, task=task, goal=goal, steps=tuple(steps))


def a_run_of(**skills: int) -> None:
    """A run with so many episodes, of two steps each, of each skill."""
    each = [skill for skill, count in skills.items() for _ in range(count)]
    a_run(*((shown(skill, index), 1.0) for index, skill in enumerate(each)))


def train(*flags: str, skills: bool = True) -> int:
    small = ("--lora", "2", "--train.steps", "1", "--train.units-per-step", "2")
    asked = ("--model", "base", "--prompt", "brief", "--actions", "click", "fill")
    more = ("--skills", "skill", "--skill-rows", "2") if skills else ()
    return cli.main(["train", "--runs", "run", "--out", "out", *small, *asked, *more, *flags])


async def test_each_skill_has_an_adapter_and_an_episode_takes_the_one_of_its_goal(
    capsys: pytest.CaptureFixture[str],
):
    a_run_of(type=2, tick=2)
    assert train() == 0
    said = capsys.readouterr().out
    assert "2 adapters, one for each skill" in said and "2 updates" in said
    index = SkillIndex.read(Path("out/model"))
    assert [(one.name, one.goals, one.rows) for one in index.adapters] == [
        (name, (GOALS[name],), 4) for name in ("tick", "type")
    ]
    assert Asking.load(Path("out/model")) == Asking("brief", ("click", "fill"))
    model = language_model("out/model", composition="weighted")
    assert isinstance(model, SkillModel) and model.index.composition == "weighted"
    bare = model.model.version()
    for goal, who in ((GOALS["tick"], "+skill-tick@"), ("Sing", "")):
        found = suit_model(model, goal, "", "https://shop.test/")
        reply = await found.complete((Message("user", "hello"),), max_tokens=1)
        name = reply.model
        assert name.startswith(bare + who) and (who or name == bare)
    await model.close()
    before = (Path("out/model/tick/adapter_model.safetensors")).read_bytes()
    assert train() == 0, "trained already, from its checkpoints"
    assert (Path("out/model/tick/adapter_model.safetensors")).read_bytes() == before


def test_an_adapter_of_another_base_and_a_missing_one_are_told():
    a_run_of(type=2, tick=2)
    assert train() == 0
    kept = Path("out/model/tick/base.json").read_text()
    Path("out/model/tick/base.json").write_text(json.dumps({"fingerprint": "0" * 16}))
    with pytest.raises(SetupError, match="out/model/tick belongs to another base"):
        language_model("out/model")
    Path("out/model/tick/base.json").write_text(kept)
    tiny_models.causal(Path("base"), hidden=32)
    with pytest.raises(SetupError, match="belongs to another base"):
        language_model("out/model")
    Path("out/model/tick").rename("elsewhere")
    with pytest.raises(SetupError, match="names the adapter 'tick'"):
        language_model("out/model")


def test_skills_of_few_rows_share_an_adapter_or_are_left_out(capsys: pytest.CaptureFixture[str]):
    a_run_of(type=2, tick=1, sing=1, hum=1)
    assert train("--skill-rows", "3") == 0
    assert "hum, sing, tick have fewer than 3 units each and share 'others'" in (
        capsys.readouterr().out
    )
    names = [one.name for one in SkillIndex.read(Path("out/model")).adapters]
    assert names == ["others", "type"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--lora", "0"), "--skills trains adapters; give their rank"),
        (("--model", ""), "name it with --model"),
        (("--role", "world"), "--skills goes with --role policy"),
        ((), "--skills skill needs two adapters at least, and the runs give type; leave"),
    ],
)
def test_what_makes_no_skills_is_refused_before_training(flags, said, capsys):
    a_run_of(type=2)
    assert train(*flags) != 0
    assert said in " ".join(capsys.readouterr().err.split())
    assert not Path("out/model").exists()


def test_skills_are_not_laid_over_other_weights_nor_the_other_way_round(capsys):
    a_run_of(type=2, tick=2)
    assert train() == 0
    assert train(skills=False) != 0
    assert "out holds skills" in capsys.readouterr().err
    Path("out/model", INDEX).rename("out/model/config.json")
    assert train() != 0
    assert "out/model holds other weights" in capsys.readouterr().err


def remember() -> None:
    """What is known of the site of the tasks."""
    Path("memory").mkdir()
    Path("memory/shop.test.md").write_text("# What is known of shop.test\n\n- Boxes come first.\n")


def test_hints_that_demonstrations_are_shown_with_are_withdrawn(capsys):
    a_run_of(type=2)
    remember()
    flags = ("--site-memory", "memory", "--train.withdraw-hints", "1", "--train.steps", "4")
    flags = (*flags, "--train.epochs", "4")
    assert train(*flags, skills=False) == 0
    assert "4 of them hold hints" in capsys.readouterr().out
    lines = [json.loads(each) for each in Path("out/metrics.jsonl").read_text().splitlines()]
    assert (lines[0]["without_hints"], lines[-1]["without_hints"]) == (0.0, 1.0)
    assert lines[-1]["tokens"] < lines[0]["tokens"], "the prompts are shorter by the hints"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "no step's prompt holds hints"),
        (("--objective", "kto"), "is for a policy that is trained with --objective sft"),
        (("--world-modelling",), "does not go with --world-modelling"),
    ],
)
def test_hints_that_cannot_be_withdrawn_are_told(flags, said, capsys):
    a_run_of(type=2)
    assert train("--train.withdraw-hints", "0.5", *flags, skills=False) != 0
    assert said in " ".join(capsys.readouterr().err.split())


def skilled(folder: Path) -> Path:
    """A folder of skills without weights, as far as settings are checked."""
    one = SkillAdapter("a", "a", ("Sing",), (), 1, 1)
    (folder / "a").mkdir(parents=True)
    (folder / "a/adapter_config.json").write_text("{}")
    SkillIndex("base", "skill", (one,)).save(folder)
    return folder


def test_a_composition_is_for_skills_and_a_server_is_not():
    NamedPolicy(f"local:{skilled(Path('skills'))}", composition="weighted").check()
    with pytest.raises(UsageError, match="local:base is none"):
        NamedPolicy("local:base", composition="weighted").check()
    with pytest.raises(UsageError, match="skills holds skills; leave it out"):
        NamedPolicy("local:skills", server="http://localhost:1").check()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--policy", "local:skills"), "is a folder of skills"),
        (("--train.withdraw-hints", "1"), "takes away what --site-memory shows"),
        (
            ("--train.withdraw-hints", "1", "--site-memory", "memory", "--objective", "kto"),
            "goes with sft, not kto",
        ),
    ],
)
def test_what_rounds_cannot_do_with_skills_and_hints_is_told(flags, said, capsys):
    skilled(Path("skills"))
    remember()
    assert cli.main(["improve", "--policy", "local:base", "--tasks", "click-test", *flags]) != 0
    assert said in " ".join(capsys.readouterr().err.split())
