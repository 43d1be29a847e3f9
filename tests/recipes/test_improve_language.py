"""The loop with a language model of its own weights, through its real entry point."""

import json
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from recipes import cli
from tests.fakes import tiny_models
from tests.fakes.roles import play_roles
from tests.recipes.test_improve import finished, kill_at_random, played
from webagent.agent.asking import Asking
from webagent.models.fresh import ModelShape, create_model
from webagent.store import Store

pytestmark = pytest.mark.browser
TINY = shlex.split(
    """--tasks click-test click-test-2 --prompt brief direct
--max-tokens 128 --rounds 1 --steps 40 --base-tokens 1500
--round-tokens 1500 --learning-rate 1e-3 --batch 2 --evaluate 1
--demonstrations 1 --workers 1 --concurrency 2"""
)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A language model that knows nothing yet; held to valid actions it sometimes succeeds."""
    shape = ModelShape(vocabulary=300, width=32, layers=1, heads=2)
    create_model(tmp_path / "base", ["Action: click(1)", "button link textbox"], shape)
    return tmp_path / "base"


def improve(base: Path, name: str, *more: str) -> list[str]:
    """The words of a small run beside the model's folder."""
    policy = ["--policy", f"local:{base}", "--runs", str(base.parent), "--name", name]
    return ["improve", *policy, *TINY, *more]


def weights(run: Path, arm: str, number: int) -> Path:
    """Where the policy of an arm lies after a round."""
    return run / "weights" / f"{arm}-0" / str(number) / "policy"


@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_a_language_model_is_trained_on_what_a_named_judge_believes(base, jobs_here):
    run, reward = base.parent / "run", base.parent / "reward"
    tiny_models.causal(reward, seed=1)  # passes some episodes and not others
    roles = ["--judge", f"reward:{reward}", "--arms", "none", "control", "self"]
    assert cli.main(improve(base, "run", *roles)) == 0
    summary = json.loads((run / "summary.json").read_text())
    rows = {arm["name"]: arm["rounds"][-1] for arm in summary["arms"]}
    assert rows["self"]["real_steps"] > 0 and rows["control"]["real_steps"] == 0
    spent = [rows[arm]["costs"]["train_tokens"] for arm in ("self", "control")]
    assert all(1500 <= tokens < 8000 for tokens in spent), (
        f"as many, but for the last update: {spent}"
    )
    collected = [t for t in finished(run).values() if t.provenance.phase == "collect"]
    assert collected and all(step.decision.sampled_ids for t in collected for step in t.steps)
    trained = [weights(run, "none", 0), weights(run, "control", 1), weights(run, "self", 1)]
    assert len({(each / "model.safetensors").read_bytes() for each in trained}) == 3
    (row,) = summary["beliefs"]
    assert (row["arm"], row["round"], row["episodes"]) == ("self", 1, len(collected))
    assert row["decided"] == row["compared"] == len(collected)
    asked = Asking.load(trained[-1])
    assert asked is not None and asked.prompting.constrained and asked.prompt == "brief"
    again = ["--tasks", "click-test", "--seeds", "1", "--max-tokens", "128", "--no-baselines"]
    place = ["--policy", f"local:{trained[-1]}", "--runs", str(base.parent)]
    assert cli.main(["benchmark", *again, *place]) == 0
    assert not (run / "training" / "self-0" / "1").exists(), "checkpoints are gone"


@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_a_reward_model_is_trained_in_the_loop_and_judges_what_has_no_checks(base: Path) -> None:
    """Checks decide real episodes; imagined ones, which none can see, are judged by the reward
    model of the round before, so by nobody in the first round. One as small as this passes all or
    none of the real ones: from twelve of these on nothing would be imagined, so there are fewer."""
    small = ["--tasks", "click-test", "enter-text", "--steps", "14"]  # the latter fails
    small += ["--judge", "reward", "--rounds", "2", "--dreams", "3", "--horizon", "2"]
    assert cli.main(improve(base, "run", *small, "--arms", "none", "imagined")) == 0
    run = base.parent / "run"
    for number in (1, 2):
        place = run / "weights" / "imagined-0" / str(number) / "reward"
        assert (place / "model.safetensors").is_file()
    with Store.open(run) as store:
        verdicts = {
            (phase, number): {
                each.reason.partition(" =")[0]
                for found in store.scores(arm="imagined", phase=phase, round=number).values()
                for each in found
                if each.evaluator == "own_reward@1"
            }
            for phase in ("collect", "imagine")
            for number in (1, 2)
        }
        last = store.scores(arm="imagined", phase="imagine", round=2)
    assert verdicts["collect", 1] and "P(success)" not in verdicts["collect", 1]
    assert verdicts["imagine", 1] == {"no checks, and no reward model that could judge it"}
    assert verdicts["imagine", 2] == {"P(success)"}
    assert all(each.reason.endswith("after round 1") for [each] in last.values())


@pytest.mark.very_slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("objective", ["dpo", "grpo"])
def test_every_objective_goes_round(base, objective, chat_server):
    """By the verdicts of a judge that is named, on groups that begin in the same state."""
    chat_server.will(play_roles())
    judged = ["--judge", "judge:agentrewardbench", "--judge-model", "judge"]
    more = ["--objective", objective, "--samples", "3"]
    more += ["--steps", "60", "--arms", "none", "self"]
    assert cli.main(improve(base, "run", *judged, *more)) == 0
    run = base.parent / "run"
    assert (weights(run, "self", 1) / "model.safetensors").is_file(), "something was learnt"
    (row,) = json.loads((run / "summary.json").read_text())["learning"]
    assert row["judge"].startswith("agentrewardbench")
    decided = row["collected"] - row["unjudged"]  # it abstains where nothing was done
    assert 0 < row["succeeded"] < decided, "the judge's verdicts differ"
    groups: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for one in finished(run).values():
        if one.provenance.phase == "collect" and one.steps:
            groups[one.task.id, one.task.seed].append(repr(one.steps[0].observation.nodes))
    assert all(len(set(pages)) == 1 for pages in groups.values())
    assert max(map(len, groups.values())) > 1


@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_an_adapter_goes_on_from_round_to_round(base: Path) -> None:
    more = ["--lora", "2", "--rounds", "2", "--arms", "none", "self"]
    assert cli.main(improve(base, "run", *more)) == 0
    places = [weights(base.parent / "run", *each) for each in (("none", 0), ("self", 2))]
    assert all((place / "adapter_config.json").is_file() for place in places)
    assert not any((place / "model.safetensors").exists() for place in places)


@pytest.mark.very_slow
@pytest.mark.timeout(2700)
def test_ten_kills_at_random_moments_come_to_the_same_episodes_and_weights(base: Path) -> None:
    """While it starts, demonstrates, trains, plays and measures, three rounds long."""
    more = ["--arms", "none", "control", "self", "--rounds", "3", "--checkpoint-every", "1"]
    program = [sys.executable, "-m", "recipes.cli"]
    assert cli.main(improve(base, "calm", *more)) == 0
    run, calm = base.parent / "killed", base.parent / "calm"
    killed = kill_at_random([*program, *improve(base, "killed", *more)], run, 14.0)
    subprocess.run([*program, "improve", "--resume", str(run)], check=True, stdout=subprocess.PIPE)
    assert killed > 0
    assert played(finished(run)) == played(finished(calm))
    saved = sorted(each.relative_to(calm) for each in calm.glob("weights/*/*/policy/*.safetensors"))
    assert len(saved) == 7, "the first, and three of either arm"
    for name in saved:
        assert (run / name).read_bytes() == (calm / name).read_bytes(), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--objective", "grpo"], "compares episodes of one task with each other"),
        (["--policy", "oracle"], "unknown policy to improve 'oracle'"),
        (["--samples", "0"], "--samples 0 --evaluate-every 1: at least 1"),
    ],
)
def test_what_cannot_be_improved_is_named(base, more, complaint, capsys):
    assert cli.main(improve(base, "run", *more)) == 2
    assert complaint in " ".join(capsys.readouterr().err.split())
    assert not (base.parent / "run").exists()


def test_weights_of_another_role_are_refused_by_name(base, capsys):
    (base / "role.json").write_text('{"role": "world"}')
    assert cli.main(improve(base, "run")) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "trained to be a world; expected a policy model's folder" in said
    assert cli.main(["judge", str(base.parent), "--with", f"reward:{base}"]) != 0
