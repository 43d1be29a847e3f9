"""Policies by name: the switches of prompting reach the model, and mistakes are found early."""

import json
from pathlib import Path

import pytest

from loop.flat import compose
from loop.folder import RunFolder
from loop.learners.choice import check_learner
from loop.measurement.settings import BenchmarkConfig, arm_of, contestant
from loop.policies import NamedPolicy
from loop.settings import ImproveConfig
from recipes import cli
from tasks.suite import seed_of
from tests.fakes.run import episode
from tests.fakes.world import FakeWorld, fake_task
from webagent.agent.asking import Asking
from webagent.errors import SetupError, UsageError
from webagent.policy.knowledge import SiteMemory, add_example, new_file
from webagent.policy.prompting import Prompting
from webagent.records import Provenance
from webagent.rollout import run_episode
from webagent.store import Store

pytestmark = pytest.mark.usefixtures("folder")

ASKED = ("--policy", "endpoint", "--model", "m", "--tasks", "click-test-2", "--seeds", "1")


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--policy", "oracle", "--prompt", "pages"), "--policy oracle is not prompted"),
        ((*ASKED, "--prompt", "screenshots"), "m looks at no images"),
        ((*ASKED, "--prompt", "constrained"), "does not hold its replies to a constraint"),
        ((*ASKED, "--site-memory", "nowhere"), "nowhere is not a folder"),
        ((*ASKED, "--site-memory", "."), ". holds no entry on any site; write some first"),
    ],
)
def test_a_switch_that_cannot_be_served_is_named_before_anything_is_played(
    folder, capsys, flags, complaint
):
    assert cli.main(["benchmark", *flags]) != 0
    assert complaint in " ".join(capsys.readouterr().err.split())
    assert not (folder / "runs").exists()


def test_a_broken_file_of_a_site_and_one_of_another_site_are_named(folder, capsys):
    (folder / "shop.md").write_text("\n- r1: x (used often)")
    assert cli.main(["benchmark", *ASKED, "--site-memory", "."]) != 0
    assert "shop.md, line 2: 'used often' is not a fact of an entry" in capsys.readouterr().err
    (folder / "shop.md").write_text("- Search first.")
    assert cli.main(["benchmark", *ASKED, "--site-memory", "."]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "the site memory knows shop, and the tasks are on click-test-2; a file is named" in said


def test_switches_come_from_a_file_too_and_are_kept_with_the_run(folder, capsys):
    (folder / "webagent.toml").write_text("[benchmark]\nprompt = ['loops', 'pages']\n")
    assert cli.main(["benchmark", *ASKED, "--preview"]) == 0
    assert "m +pages=2 +loops" in capsys.readouterr().out
    config = compose(BenchmarkConfig, prompt=("pages", "loops"))
    RunFolder.create(folder / "r", config, ["webagent", "benchmark"])
    assert RunFolder.open(folder / "r").config(BenchmarkConfig) == config


def test_every_switch_has_its_own_name_in_tables() -> None:
    assert NamedPolicy("endpoint", "m").label() == "m"
    assert NamedPolicy("model:runs/x").label() == "model"
    assert NamedPolicy("local:runs/x/small").label("student") == "small +student"
    config = compose(BenchmarkConfig, model="m", policy="endpoint", site_memory=Path("h"))
    assert arm_of(config) == "m +site memory"


def test_a_model_that_looks_may_be_shown_several_screenshots() -> None:
    asking = Asking(prompting=Prompting(screenshots=3))
    NamedPolicy("endpoint", "m", asking=asking, images=True).check()


async def test_an_episode_is_played_with_everything_switched_on(folder, chat_server, behave):
    chat_server.will(behave.reply("Thought: look\nAction: click(8)"))
    switches = Prompting(form="conversation", loops=True, pages=2)
    shown = episode(Provenance(), "enter-text", seed_of("train", 1), True)
    known = SiteMemory({"any": add_example(new_file("any"), shown)})

    asked = NamedPolicy("endpoint", "m", asking=Asking(prompting=switches), knowledge=(known,))
    async with asked.ready(None) as policy:
        played = await run_episode(fake_task(seed_of("test", 0)), policy, FakeWorld())

    assert [step.decision.usage["requests"] for step in played.steps] == [1]
    assert played.last is not None and played.last.over
    assert "Tasks like yours" in json.dumps(chat_server.requests[0]["messages"])


@pytest.mark.browser
def test_a_benchmark_measures_a_switch(folder, chat_server, behave):
    chat_server.will(behave.reply("Thought: nothing\nAction: scroll(0, 0, 0)"))

    assert cli.main(["benchmark", *ASKED, "--name", "b", "--prompt", "loops"]) == 0

    with Store.open(folder / "runs" / "b") as store:
        (whole,) = store.trajectories(phase="evaluate")
    assert whole.provenance.arm == "m +loops"
    assert whole.steps[-1].decision.source == "loop"
    assert len(whole.steps) == 7


def test_a_server_is_declared_in_a_file(folder: Path) -> None:
    (folder / "served.toml").write_text('[endpoint]\nmodel = "big"\nserver = "vllm"\n')
    config = compose(BenchmarkConfig, endpoint=folder / "served.toml", policy="endpoint")
    assert arm_of(config) == "big"
    (folder / "served.toml").write_text('[endpoint]\nmodel = "big"\nserver = "vlm"\n')
    with pytest.raises(SetupError, match="vllm"):
        arm_of(config)


def test_actions_of_a_run_are_those_of_its_model_and_refused_for_the_built_in_policy() -> None:
    chosen = {"policy": "endpoint", "model": "m", "actions": ("click", "fill")}
    config = compose(ImproveConfig, **chosen)
    check_learner(config)
    assert contestant(config.played).asking.actions == ("click", "fill")
    with pytest.raises(UsageError, match="did you mean click"):
        check_learner(compose(ImproveConfig, **chosen | {"actions": ("clik",)}))
    with pytest.raises(UsageError, match="--actions is for language models"):
        check_learner(compose(ImproveConfig, actions=("click",)))
